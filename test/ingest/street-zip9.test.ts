import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Zip9Range, Zip9Table } from '../../src/ingest/street/zip9.js';
import type { DateInt } from '../../src/tax/date.js';

/** What is written of a ZIP, by the slow rule: at every cut each range is asked. */
function slowly(zip: number, ranges: readonly Zip9Range[]): string {
  const within = (range: Zip9Range): readonly [number, number] => [
    zip === range.zipLow ? range.plus4Low : 0, zip === range.zipHigh ? range.plus4High : 9999,
  ];
  const own = ranges.filter(({ zipLow, zipHigh }) => zipLow <= zip && zip <= zipHigh);
  const cuts = [...new Set(own.flatMap((range) => [within(range)[0], within(range)[1] + 1]))]
    .sort((a, b) => a - b);
  const words: number[] = [];
  cuts.slice(0, -1).forEach((low, index) => {
    const holding = own.filter((range) => within(range)[0] <= low && low <= within(range)[1]);
    const latest = Math.max(...holding.map(({ begin }) => begin));
    const areas = [...new Set(holding.filter(({ begin }) => begin === latest)
      .map(({ area }) => area))].sort((a, b) => a - b);
    if (areas.length > 0) {
      words.push(low, cuts[index + 1]! - 1, areas.length);
      for (const area of areas) words.push(area, 0);
    }
  });
  return Buffer.from(Uint16Array.from(words).buffer).toString('hex');
}

test('a sweep over ZIP+4 ranges writes what asking every range at every cut would', () => {
  const plus4 = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 9999 }));
  const range = fc.record({
    state: fc.constant('QA'), zipLow: fc.integer({ min: 91010, max: 91013 }),
    zipHigh: fc.integer({ min: 91010, max: 91014 }), plus4Low: plus4, plus4High: plus4,
    area: fc.integer({ min: 0, max: 4 }),
    begin: fc.constantFrom(20200101 as DateInt, 20240101 as DateInt, 20240102 as DateInt),
  });
  fc.assert(fc.property(fc.array(range, { minLength: 1, maxLength: 60 }), (ranges) => {
    const table = new Zip9Table();
    for (const one of ranges) assert.ok(table.add(one));
    for (const [key, bytes] of table.entries()) {
      assert.equal(Buffer.from(bytes).toString('hex'), slowly(Number(key.slice(4)), ranges), key);
    }
  }), { numRuns: 200 });
});

test('ends that are no ZIPs or add-ons are not taken, and states lie apart', () => {
  const range = (more: Partial<Zip9Range>): Zip9Range => ({
    state: 'QA', zipLow: 91010, zipHigh: 91010, plus4Low: 1, plus4High: 2, area: 3,
    begin: 20240101 as DateInt, ...more,
  });
  const table = new Zip9Table();
  for (const more of [{ zipLow: Number.NaN }, { zipLow: 910_101_234 }, { plus4High: 10_000 }]) {
    assert.equal(table.add(range(more)), false);
  }
  for (const state of ['QB', 'QA']) assert.ok(table.add(range({ state })));
  assert.deepEqual([...table.entries()].map(([key]) => key), ['9|QA91010', '9|QB91010']);
  assert.deepEqual([...table.entries(91011)], []);
  assert.equal([...table.entries(91010, 91010)].length, 2);
});
