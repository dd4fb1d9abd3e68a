/** Rows painted over one another, against a day-by-day oracle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayAfter } from '../../src/ingest/rates/list.js';
import { fill, paint, segmentOn } from '../../src/ingest/rates/timeline.js';
import { DATE_MIN, DATE_OPEN, dateOf, dayBefore, type DateInt } from '../../src/tax/date.js';
import type { RateRow } from '../../src/ingest/model.js';
import type { ListMark } from '../../src/ingest/rates/facts.js';
import type { Rate } from '../../src/tax/rate.js';

function day(index: number): DateInt {
  return dateOf(2020 + Math.floor(index / 12), (index % 12) + 1, 1) ?? DATE_OPEN;
}

const ROW = fc.tuple(fc.nat(40), fc.nat(20), fc.integer({ min: 1, max: 9 })).map(
  ([from, months, rate]): RateRow => ({
    state: 'XX',
    level: 'county',
    county: '99001',
    place: '',
    name: '',
    code: '',
    basis: 'own',
    sales: rate as Rate,
    use: rate as Rate,
    from: day(from),
    to: months === 20 ? DATE_OPEN : dayBefore(day(from + months + 1)),
    source: 0,
    asOf: day(0),
  }),
);

const MARK: ListMark = {
  state: 'XX',
  level: 'county',
  mark: 'complete',
  unlisted: 'nothing',
  since: day(0),
  history: 'full',
  until: DATE_OPEN,
  source: 0,
  fill: 'a list',
  gap: '',
};

test('on every day the last row in force holds, and a filled timeline leaves no day out', () => {
  fc.assert(
    fc.property(fc.array(ROW, { maxLength: 6 }), (rows) => {
      const painted = paint(rows);
      painted.forEach((segment, index) => {
        assert.ok(segment.from <= segment.to);
        const next = painted[index + 1];
        if (next) assert.ok(next.from > segment.to);
      });
      const timeline = fill(painted, MARK, { state: 'Xland', jurisdiction: 'Alpha County' });
      assert.deepEqual([timeline[0]?.from, timeline.at(-1)?.to], [DATE_MIN, DATE_OPEN]);
      timeline.slice(1).forEach((segment, index) => {
        assert.equal(segment.from, dayAfter(timeline[index]?.to ?? DATE_MIN));
      });
      for (let index = 0; index < 66; index += 1) {
        const on = day(index);
        const held = rows.filter(({ from, to }) => from <= on && to >= on).at(-1)?.sales ?? 0;
        assert.equal(segmentOn(timeline, on).sales, held);
      }
    }),
  );
});

test('the day after a month, a leap day and a year', () => {
  const pairs = [
    [20240228, 20240229],
    [20240229, 20240301],
    [20231231, 20240101],
    [99991231, 99991231],
  ];
  for (const [before, after] of pairs) assert.equal(dayAfter(before as DateInt), after);
});
