import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { areasOfAddOn, areasOfZip } from '../../src/dataset/stated-areas.js';
import { type BoundaryRecord, readSstBoundary } from '../../src/ingest/source/sst-boundary.js';
import { StatedZips, type ZipRange } from '../../src/ingest/street/stated-zips.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { boundaryRow } from '../support/boundary-rows.js';

const date = (text: number): DateInt => text as DateInt;

function range(more: Partial<ZipRange>): ZipRange {
  return {
    kind: 'zip9',
    state: 'QA',
    zipLow: 91010,
    zipHigh: 91010,
    plus4Low: 1,
    plus4High: 2,
    area: 3,
    begin: date(20240101),
    end: DATE_OPEN,
    ...more,
  };
}

/** Whether a record speaks of an add-on of a ZIP. */
function holds({ zipLow, zipHigh, plus4Low, plus4High }: ZipRange, zip: number, addOn: number) {
  const low = zip === zipLow ? plus4Low : 0;
  const high = zip === zipHigh ? plus4High : 9999;
  return zipLow <= zip && zip <= zipHigh && low <= addOn && addOn <= high;
}

/** Areas of the records that began last of those in force, ascending. */
function latestOf(records: readonly ZipRange[], day: DateInt): readonly number[] {
  const held = records.filter(({ begin, end }) => begin <= day && end >= day);
  const begin = Math.max(...held.map((one) => one.begin));
  return [...new Set(held.filter((one) => one.begin === begin).map(({ area }) => area))].sort(
    (a, b) => a - b,
  );
}

const ADD_ON = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 9999 }));
const RECORD = fc
  .record({
    kind: fc.constantFrom('zip9' as const, 'zip9' as const, 'zip5' as const),
    state: fc.constant('QA'),
    zipLow: fc.integer({ min: 91010, max: 91012 }),
    zipHigh: fc.integer({ min: 91010, max: 91013 }),
    plus4Low: ADD_ON,
    plus4High: ADD_ON,
    area: fc.integer({ min: 0, max: 4 }),
    begin: fc.constantFrom(date(20200101), date(20240101), date(20240102)),
    end: fc.constantFrom(date(20231231), date(20240101), date(20250630), DATE_OPEN),
  })
  .filter(({ begin, end }) => begin <= end);
const DAYS = [20191231, 20200101, 20231231, 20240101, 20240102, 20250701].map(date);

test('what is stated of a ZIP+4 and a ZIP on a day is what asking every record would tell', () => {
  fc.assert(
    fc.property(
      fc.array(RECORD, { minLength: 1, maxLength: 40 }),
      fc.array(ADD_ON, { minLength: 5 }),
      (records, asked) => {
        const table = new StatedZips();
        for (const one of records) assert.ok(table.add(one));
        const bytes = new Map(table.entries());
        for (const zip of [91009, 91010, 91011, 91012, 91013]) {
          const addOns = bytes.get(`4|QA${zip}`);
          const whole = bytes.get(`5|QA${zip}`);
          for (const day of DAYS) {
            for (const addOn of asked) {
              const own = records.filter((one) => one.kind === 'zip9' && holds(one, zip, addOn));
              assert.deepEqual(
                addOns === undefined ? [] : areasOfAddOn(addOns, addOn, day),
                latestOf(own, day),
                `${zip}-${addOn} on ${day}`,
              );
            }
            const stated = records.filter(
              ({ kind, zipLow, zipHigh }) => kind === 'zip5' && zipLow <= zip && zip <= zipHigh,
            );
            const found = whole === undefined ? null : areasOfZip(whole, day);
            assert.deepEqual(found?.own ?? [], latestOf(stated, day));
            const all = new Set(
              Array.from({ length: 10_000 }, (_, addOn) => addOn)
                .filter((addOn) => addOn < 25 || asked.includes(addOn))
                .flatMap((addOn) =>
                  latestOf(
                    records.filter((one) => one.kind === 'zip9' && holds(one, zip, addOn)),
                    day,
                  ),
                ),
            );
            for (const area of [...all, ...latestOf(stated, day)]) {
              assert.ok(found?.all.includes(area));
            }
            for (const area of found?.all ?? []) {
              assert.ok(
                records.some(
                  (one) =>
                    one.area === area &&
                    one.zipLow <= zip &&
                    zip <= one.zipHigh &&
                    one.begin <= day &&
                    one.end >= day,
                ),
              );
            }
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('ends that are no ZIPs or add-ons are not taken, and states lie apart', () => {
  const table = new StatedZips();
  for (const more of [{ zipLow: Number.NaN }, { zipLow: 910_101_234 }, { plus4High: 10_000 }]) {
    assert.equal(table.add(range(more)), false);
  }
  for (const state of ['QB', 'QA']) assert.ok(table.add(range({ state })));
  assert.deepEqual(
    [...table.entries()].map(([key]) => key),
    ['4|QA91010', '5|QA91010', '4|QB91010', '5|QB91010'],
  );
  assert.deepEqual([...table.entries(91011)], []);
  assert.equal([...table.entries(91010, 91010)].length, 4);
});

test('add-ons beside each other with the same areas are one, reversed ends are none', () => {
  const table = new StatedZips();
  for (let addOn = 1; addOn <= 9000; addOn += 1) {
    table.add(range({ plus4Low: addOn, plus4High: addOn, area: addOn > 4000 ? 7 : 3 }));
  }
  table.add(range({ plus4Low: 9500, plus4High: 9400 }));
  const bytes = new Map(table.entries()).get('4|QA91010')!;
  assert.equal(bytes.length, 2 + 2 * 8 + 2 * (2 + 10 + 4));
  const day = date(20250101);
  assert.deepEqual(
    [0, 1, 4000, 4001, 9000, 9001, 9450].map((addOn) => areasOfAddOn(bytes, addOn, day)),
    [[], [3], [3], [7], [7], [], []],
  );
});

test('what is stated of streets counts to what is stated in their ZIP', () => {
  const table = new StatedZips();
  table.add(range({ kind: 'zip5', area: 3 }));
  table.street('QA', 91010, { begin: date(20240101), end: date(20241231), area: 4 });
  table.street('QA', 91011, { begin: date(20240101), end: DATE_OPEN, area: 4 });
  const bytes = new Map(table.entries());
  assert.deepEqual(areasOfZip(bytes.get('5|QA91010')!, date(20240601)), { own: [3], all: [3, 4] });
  assert.deepEqual(areasOfZip(bytes.get('5|QA91010')!, date(20250601)), { own: [3], all: [3] });
  assert.deepEqual(areasOfZip(bytes.get('5|QA91011')!, date(20250601)), { own: [], all: [4] });
});

/** The records of a file by their kinds, and what its ZIPs are stated to be on a day. */
async function statedIn(
  path: string,
  state: string,
): Promise<{
  readonly kinds: Readonly<Record<BoundaryRecord['kind'], number>>;
  readonly own: (zip: number, day: number) => readonly string[];
}> {
  const table = new StatedZips();
  const areas: string[] = [];
  const kinds = { address: 0, zip9: 0, zip5: 0 };
  for await (const record of readSstBoundary(path)) {
    kinds[record.kind] += 1;
    if (record.kind === 'address') continue;
    const named = `${record.county} ${record.place} ${record.districts[0]?.code ?? ''}`;
    const area = areas.includes(named) ? areas.indexOf(named) : areas.push(named) - 1;
    assert.ok(table.add({ ...record, kind: record.kind, state, area }));
  }
  const bytes = new Map(table.entries());
  const own = (zip: number, day: number): readonly string[] =>
    areasOfZip(bytes.get(`5|${state}${zip}`)!, date(day)).own.map((area) => areas[area]!);
  return { kinds, own };
}

test('a file of the standard layout: ZIP+4s and ZIPs on the days that it states them for', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-stated-zips-'));
  const path = join(dir, 'QAB2026Q2.csv');
  const days = { 2: '20171001', 3: '20190331', 23: '91', 24: '91', 25: '001' };
  const city = { 26: '00100', 27: 'C1', 30: 'ST', 31: 'ELM-TRANSIT', 32: '63' };
  const rows = [
    { 1: 'z', ...days, ...city, 18: '91010', 20: '91012' },
    { 1: 'Z', ...days, 2: '20180101', 25: '003', 18: '91012', 20: '91012' },
    { 1: '4', ...days, 25: '003', 18: '91010', 19: '1', 20: '91010', 21: '99' },
    { 1: 'A', ...days, 4: '1', 5: '9', 6: 'B', 8: 'QUILL', 9: 'LN', 16: '91010' },
  ];
  writeFileSync(path, rows.map((columns) => boundaryRow(columns)).join('\r\n'));
  const { kinds, own } = await statedIn(path, 'QA');
  rmSync(dir, { recursive: true });
  assert.deepEqual(kinds, { address: 1, zip9: 1, zip5: 2 });
  assert.deepEqual(own(91011, 20180115), ['001 00100 ELM-TRANSIT']);
  assert.deepEqual(own(91011, 20170930), []);
  assert.deepEqual(own(91011, 20190401), [], 'it has ended');
  assert.deepEqual(own(91012, 20171231), ['001 00100 ELM-TRANSIT']);
  assert.deepEqual(own(91012, 20180101), ['003  '], 'the later beginning holds');
});

const SAMPLE = join(
  import.meta.dirname,
  '../../../../shared/data/sst-files/MNB2026Q2FEB18-sample.csv',
);

test('a piece of a real file: ZIP+4s and ZIPs on the days that it states them for', {
  skip: existsSync(SAMPLE) ? false : `${SAMPLE} is not there`,
}, async () => {
  const { kinds, own } = await statedIn(SAMPLE, 'MN');
  assert.deepEqual(kinds, { address: 0, zip9: 66, zip5: 34 });
  // Rows of it: 55401 to 55405, Hennepin County (053), Minneapolis (43000), district 80004.
  assert.deepEqual(own(55403, 20180115), ['053 43000 80004']);
  assert.deepEqual(own(55403, 20170930), []);
  assert.deepEqual(own(55403, 20190401), [], 'it has ended');
});
