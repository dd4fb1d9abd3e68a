/**
 * A boundary file with a rate file beside it, of a state whose other lists have other codes: what
 * is stated of addresses and ZIP+4s is worth what that file says, all else what the lists say.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readManifest } from '../../src/dataset/manifest.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import type { HeldList } from '../../src/ingest/rates/held.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import type { DateInt } from '../../src/tax/date.js';
import { askQuery } from '../support/ask-dataset.js';
import { boundaryRow, type Columns } from '../support/boundary-rows.js';
import { byLookup, byRow, lineOf, type Told, type Written } from '../support/three-ways.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-stated-rates-'));
const told: string[] = [];
let name = '';
let dataset: Dataset;

/** In the columns of a rate file: state, type, code, four rates, first and last day. */
const rateFile = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(
      ([type, code, rate, first, last = '99991231']) =>
        `91,${type},${code},${rate},${rate},0,0,${first},${last}`,
    )
    .join('\n');

const RATES = rateFile([
  ['45', '91', '0.06', '20200101'],
  ['00', '001', '0.01', '20200101'],
  ['00', '003', '0.0075', '20200101'],
  ['01', '00100', '0.0125', '20200101'],
  ['01', '00300', '0.004', '20200101'],
  ['63', 'T1', '0.003', '20240101'],
  ['63', 'T9', '0.002', '20150101', '20191231'],
  ['69', 'GL1', '0.0275', '20240101'],
]);

const HELD: Columns = { 2: '20200101', 3: '99991231', 23: '91', 24: '91', 25: '003' };
const GORSE: Columns = { ...HELD, 26: '00300', 27: 'C1', 16: '91012' };
const street = (number: string, way: string, more: Columns): Columns => ({
  1: 'A',
  4: number,
  5: number,
  6: 'B',
  8: way,
  9: 'LN',
  ...more,
});

const RECORDS = [
  street('1', 'QUILL', GORSE),
  street('3', 'QUILL', { ...GORSE, 30: 'ST', 31: 'T1', 32: '63' }),
  street('5', 'QUILL', { ...GORSE, 30: 'ST', 31: 'T9', 32: '63', 33: 'ST', 34: 'T1', 35: '63' }),
  street('7', 'QUILL', { ...GORSE, 30: 'ST', 31: 'T7', 32: '63' }),
  street('9', 'QUILL', { ...HELD, 16: '91012' }),
  street('13', 'QUILL', { ...GORSE, 30: 'ST', 31: 'GL1', 32: '69' }),
  street('11', 'QUILL', { ...GORSE, 24: '', 30: 'ST', 31: 'T7', 32: '49' }),
  // As the boundaries have it.
  { 1: 'A', ...HELD, 4: '21', 5: '99', 6: 'O', 8: 'BORDER', 9: 'AVE', 16: '91011', 25: '001' },
  {
    1: '4',
    ...HELD,
    18: '91020',
    19: '1000',
    20: '91020',
    21: '1999',
    30: 'ST',
    31: 'T1',
    32: '63',
  },
]
  .map((columns) => boundaryRow(columns))
  .join('\n');

/** A later rate file, without Elmton and with a code of two types, below a layer. */
const LATER = rateFile([
  ['45', '91', '0.06', '20200101'],
  ['00', '001', '0.01', '20220101'],
  ['00', '003', '0.0075', '20220101'],
  ['01', '00300', '0.004', '20220101'],
  ['63', 'T2', '0.003', '20220101'],
  ['79', 'T2', '0.0115', '20220101'],
]);

const LATER_RECORDS = [
  street('1', 'QUILL', GORSE),
  street('3', 'QUILL', { ...GORSE, 30: 'ST', 31: 'T2', 32: '63' }),
  street('1', 'FENNEL', { ...HELD, 25: '001', 26: '00100', 27: 'C1', 16: '91011' }),
]
  .map((columns) => boundaryRow(columns))
  .join('\n');

const LAYER = `state,level,name,county,rate,from,until,code,boundary,zips,source,as_of,tic,taxable
QA,district,Birch Roads,Birch County,0.5,2026-01-01,,,,,Roads,2026-10-01,,
`;
let later: Dataset;

async function build(
  quarter: string,
  file: string,
  records: string,
  own: readonly string[] = [],
  held: readonly HeldList[] = [],
): Promise<string> {
  writeFileSync(join(FOLDER, `QAR${quarter}.csv`), file);
  writeFileSync(join(FOLDER, `QAB${quarter}.csv`), records);
  const { recipe, rates } = readRecipe('fixture');
  const sst = [{ file: `QAB${quarter}.csv`, state: 'QA', source: 'invented' }];
  const source = held[0]?.name ?? 'invented';
  const stated = [
    {
      reader: 'sst',
      path: `QAR${quarter}.csv`,
      source,
      state: 'QA',
      options: { stateDiffers: ['69'] },
    },
  ];
  return buildIn(
    FOLDER,
    { recipe: { ...recipe, sst }, rates: { ...rates, stated }, lists: held },
    { report: (line) => told.push(line), own: own },
  );
}

before(async () => {
  const layer = join(FOLDER, 'roads.csv');
  writeFileSync(layer, LAYER);
  name = await build('2026Q1', RATES, RECORDS);
  dataset = openDataset(join(releasesDir(FOLDER), name));
  later = openDataset(
    join(releasesDir(FOLDER), await build('2026Q2', LATER, LATER_RECORDS, [layer])),
  );
});

after(() => {
  dataset.close();
  later.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(place: Written, month = '', of = dataset): Told {
  const address = lineOf(place);
  const lookup = byLookup(of, address, month);
  assert.deepEqual(
    byRow(of, { address, ...(month === '' ? {} : { historical: month }) }),
    lookup,
    address,
  );
  return lookup;
}

function at(line: string, city: string, zip: string): Written {
  return { street: line, city, state: 'QA', zip };
}

const [STATE, BIRCH, GORSE_STATED, GORSE_LISTED, T1] = [
  50_000_000, 7_500_000, 4_000_000, 3_750_000, 3_000_000,
];

test('an address has what its county, city and districts levy by the rate file', () => {
  const plain = ask(at('1 Quill Ln', 'Gorse', '91012'));
  assert.deepEqual([plain.precision, plain.levels], ['range', [STATE, BIRCH, GORSE_STATED, 0]]);
  const district = ask(at('3 Quill Ln', 'Gorse', '91012'));
  assert.deepEqual(district.levels, [STATE, BIRCH, GORSE_STATED, T1]);
  // The state's own rate is that of its history, and the district began in 2024.
  const before = ask(at('3 Quill Ln', 'Gorse', '91012'), '202312');
  assert.deepEqual(before.levels, [STATE, BIRCH, GORSE_STATED, 0]);
});

test('a district whose rate has ended adds nothing', () => {
  assert.deepEqual(ask(at('5 Quill Ln', 'Gorse', '91012')).levels, [
    STATE,
    BIRCH,
    GORSE_STATED,
    T1,
  ]);
});

test('a code that the rate file has not leads nowhere, and is told', () => {
  assert.notEqual(ask(at('7 Quill Ln', 'Gorse', '91012')).precision, 'range');
  assert.ok(
    told.some((line) => line.includes("1 with a district that the state's rate file has not")),
    told.join('\n'),
  );
});

test('a code that the rate file has with two types leads nowhere', () => {
  assert.equal(ask(at('1 Quill Ln', 'Gorse', '91012'), '', later).precision, 'range');
  assert.notEqual(ask(at('3 Quill Ln', 'Gorse', '91012'), '', later).precision, 'range');
});

test('a city that levies a tax by the lists and that the rate file lacks leads nowhere', () => {
  assert.notEqual(ask(at('1 Fennel Rd', 'Elmton', '91011'), '', later).precision, 'range');
});

test('a build does not fail where most codes of a file have no rates, and it says so', () => {
  assert.ok(
    told.some((line) => /^QAB2026Q2.*1 with a district.*1 with a jur/.test(line)),
    told.join('\n'),
  );
});

test('before the first day of the rate file nothing is known', () => {
  const { refusal } = ask(at('1 Quill Ln', 'Gorse', '91012'), '202106', later);
  assert.match(refusal, /held from 2022-01-01/);
});

test('a district that a layer lays over a county without a code holds at stated addresses', () => {
  assert.deepEqual(ask(at('1 Quill Ln', 'Gorse', '91012'), '', later).levels, [
    STATE,
    BIRCH,
    GORSE_STATED,
    5_000_000,
  ]);
});

test('where lists levied otherwise before, the rates of the file hold then too', () => {
  const place = at('9 Quill Ln', 'Gorse', '91012');
  assert.deepEqual(ask(place).levels, [STATE, BIRCH, 0, 0]);
  assert.deepEqual(ask(place, '202406').levels, [STATE, BIRCH, 0, 0]);
});

test("where the state's own tax does not apply nothing is answered, whatever the district", () => {
  assert.match(ask(at('11 Quill Ln', 'Gorse', '91012')).refusal, /own tax does not apply here/);
});

test("where the state's own rate is another nothing is answered while that holds", () => {
  const place = at('13 Quill Ln', 'Gorse', '91012');
  assert.match(ask(place).refusal, /in the district gl1 the state's own rate is another/);
  assert.deepEqual(ask(place, '202306').levels, [STATE, BIRCH, GORSE_STATED, 0]);
});

test('an answer by a rate file that was published for an earlier time says so', async () => {
  const name = await build(
    '2026Q3',
    RATES,
    RECORDS,
    [],
    [
      {
        name: 'sst-rates/QA',
        publisher: 'nobody',
        licence: 'Apache-2.0',
        rhythm: 'quarterly',
        asOf: 20260701 as DateInt,
        until: 20260930 as DateInt,
        state: 'QA',
        levels: ['county', 'city'],
        stated: true,
      },
    ],
  );
  const ended = openDataset(join(releasesDir(FOLDER), name));
  const isStale = (query: string): boolean => {
    const { code, stale } = askQuery(ended, query);
    assert.equal(code, 100, query);
    return stale;
  };
  const address = `address=${encodeURIComponent('1 Quill Ln, Gorse, QA 91012')}`;
  assert.equal(isStale(address), true);
  assert.equal(isStale(`${address}&historical=202609`), false);
  assert.equal(isStale('lat=10.33&lng=-29.47'), false);
  ended.close();
});

test('a ZIP+4 has the rates of its record', () => {
  const found = ask(at('1 Nowhere Rd', 'Birchwood', '91020-1500'));
  assert.deepEqual([found.precision, found.levels], ['zip9', [STATE, BIRCH, 0, T1]]);
});

test('points go by the lists', () => {
  const { code, total } = askQuery(dataset, 'lat=10.33&lng=-29.47');
  assert.equal(code, 100);
  assert.equal(Math.round(total * 1e9), STATE + BIRCH + GORSE_LISTED);
});

test('where file and lists levy as much a door is not elsewhere', () => {
  const { coverage } = readManifest(join(releasesDir(FOLDER), name));
  const file = coverage.find(({ state }) => state === 'QA')?.stateFile;
  assert.ok(file !== undefined && file !== null && file.doors > 0, JSON.stringify(file));
  assert.equal(file.doorsElsewhere, 0, JSON.stringify(file));
});
