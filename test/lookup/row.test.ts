/** However many districts an area has, the parts of a row add up to its totals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AreaRecord, ComponentRecord } from '../../src/dataset/records.js';
import { DATE_OPEN } from '../../src/tax/date.js';
import { LEVELS } from '../../src/tax/jurisdiction.js';
import { parseRate, sumRates, type Rate } from '../../src/tax/rate.js';
import { openWire } from '../../src/api/lookup/context.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { memoryDataset } from '../support/memory-dataset.js';
import { FROM } from '../support/memory-areas.js';
import { ask } from './ask.js';

type Row = Readonly<Record<string, string | number>>;

/** Rates are read back from the text, since sums of doubles would not be exact. */
function rowsOf(text: string): Row[] {
  const exact = text.replace(/(Tax|taxSales|taxUse)":([0-9.]+)/g, '$1":"$2"');
  const body: unknown = JSON.parse(exact);
  if (typeof body !== 'object' || body === null || !('results' in body)) assert.fail(text);
  return body.results as Row[];
}

function rate(row: Row, name: string): Rate {
  const parsed = parseRate(String(row[name]));
  if (parsed === null) assert.fail(`${name} is no decimal: ${row[name]}`);
  return parsed;
}

const figure = fc.integer({ min: 0, max: 120_000_000 }).map((value) => value as Rate);
const component = fc.record({
  level: fc.constantFrom(...LEVELS),
  sales: figure,
  use: figure,
  jurCode: fc.option(fc.string({ maxLength: 8 })),
});

test('parts add up in every version that has parts', () => {
  fc.assert(
    fc.property(fc.array(component, { maxLength: 14 }), (made) => {
      const components: ComponentRecord[] = made.map(({ level, sales, use, jurCode }, id) => ({
        id,
        level,
        jurName: 'X',
        jurCode,
        kind: null,
        periods: [{ from: FROM, to: DATE_OPEN, sales, use, source: 0, asOf: FROM }],
      }));
      const template = memoryDataset().area(3);
      const ids = LEVELS.flatMap((level) =>
        components.filter((each) => each.level === level).map(({ id }) => id),
      );
      const areas: AreaRecord[] = [0, 1, 2, 3].map((id) => ({ ...template, id, components: ids }));
      const dataset = memoryDataset({ areas, components });
      for (const version of API_VERSIONS) {
        const { text } = ask(version, 'postalcode=97002', { dataset, context: openWire() });
        for (const row of rowsOf(text)) {
          assert.ok(Object.values(row).every((value) => value !== null));
          checkRow(row, version, sumRates(made.map(({ sales }) => sales)));
        }
      }
    }),
    { numRuns: 100 },
  );
});

function checkRow(row: Row, version: number, sales: Rate): void {
  const fields = { 10: 8, 20: 18, 30: 18, 40: 34, 50: 34, 60: 34 }[version];
  assert.equal(Object.keys(row).length, fields);
  assert.equal(rate(row, 'taxSales'), sales);
  if (version === 10) return;
  for (const [kind, total] of [
    ['Sales', 'taxSales'],
    ['Use', 'taxUse'],
  ] as const) {
    const parts = ['state', 'county', 'city', 'district'].map((level) =>
      rate(row, `${level}${kind}Tax`),
    );
    assert.equal(sumRates(parts), rate(row, total));
    if (version < 40) continue;
    const districts = [1, 2, 3, 4, 5].map((number) => rate(row, `district${number}${kind}Tax`));
    assert.equal(sumRates(districts), rate(row, `district${kind}Tax`));
  }
}
