/**
 * Addresses with local codes of seven digits, as Texas', and the list of rates that has these codes
 * without bounds: from the published layouts (published/README.md) to answers.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { readCounties } from '../../src/ingest/rates/facts.js';
import { createGazetteer } from '../../src/ingest/rates/gazetteer.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { FallenRows } from '../../src/ingest/source/fallen.js';
import { readTexasAddresses } from '../../src/ingest/source/location-codes.js';
import { countiesByCode } from '../../src/ingest/source/rates/texas-areas.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import type { BoundaryRecord } from '../../src/ingest/source/sst-boundary.js';
import { zipOf } from '../support/made-files.js';
import type { Told } from '../support/three-ways.js';
import { byLookupAndRow } from '../support/ways-agree.js';

const PUBLISHED = readFileSync(
  join(import.meta.dirname, '../../../test/ingest/published/tx-addresses.csv'),
  'utf8',
);
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-texas-addresses-'));
const NONE = '\tn/a\tn/a\tn/a';
const BIRCH_CO = 'Birch Co\t4002000\t0.005';
const MTA = '\tBirch MTA\t3002022\t0.005';
const RATES = `1\t20261\t202601\t2026 - 1st\t0.05\t0\t6\t
Gorse\t2002011\t0.015\t${BIRCH_CO}${NONE}${NONE}
Gorse/Birch MTA\t2002011\t0.015\t${BIRCH_CO}${MTA}${NONE}
Birch Co\tn/a\tn/a\t${BIRCH_CO}${MTA}\tBirch Co ESD 1\t5002033\t0.0025
Birch Co MUD\t5002099\t0.01\t${BIRCH_CO}${NONE}${NONE}
Elmton\t2001022\t0.0125\tAsh Co\t4001000\t0.01${NONE}${NONE}
Gorse/Birch Co ESD 1\t6002044\t0.015\t${BIRCH_CO}${NONE}${NONE}
`;
const told: string[] = [];
let dataset: Dataset;

function build(file: string): Promise<string> {
  const { recipe, rates } = readRecipe('fixture');
  const list = { reader: 'tx-quarter', path: 'taxrates.txt', source: 'invented', state: 'QA' };
  const sst = [{ file, layout: 'tx-addresses', state: 'QA', source: 'invented', tolerance: '60' }];
  return buildIn(
    FOLDER,
    {
      recipe: { ...recipe, sst },
      rates: { ...rates, lists: [...rates.lists, list], caps: { QA: '2.5' } },
    },
    { report: (line) => told.push(line) },
  );
}

before(async () => {
  writeFileSync(join(FOLDER, 'taxrates.txt'), RATES);
  mkdirSync(join(FOLDER, 'tx'));
  const counties = { '003': PUBLISHED, '001': PUBLISHED.replaceAll('QUILL', 'HERON') };
  for (const [county, data] of Object.entries(counties)) {
    writeFileSync(
      join(FOLDER, `tx/TX-County-FIPS-${county}-2026Q2.zip`),
      zipOf([{ name: `TX-County-FIPS-${county}.csv`, data }]),
    );
  }
  dataset = openDataset(join(releasesDir(FOLDER), await build('tx/*.zip')));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(street: string, month = ''): Told {
  return byLookupAndRow(dataset, { street, city: 'Gorse', state: 'QA', zip: '91012' }, month);
}

const [STATE, BIRCH, GORSE, TRANSIT, ESD] = [
  50_000_000, 5_000_000, 15_000_000, 5_000_000, 2_500_000,
];

test('county, city and districts are those of the codes, whatever column they stand in', () => {
  for (const street of ['Quill', 'Heron']) {
    const city = ask(`7 ${street} Ln`);
    assert.deepEqual([city.precision, city.levels], ['range', [STATE, BIRCH, GORSE, 0]], street);
  }
  assert.deepEqual(ask('107 Quill Ln').levels, [STATE, BIRCH, GORSE, TRANSIT]);
  assert.deepEqual(ask('206 Quill Ln').levels, [STATE, BIRCH, 0, 0]);
  assert.deepEqual(ask('307 Quill Ln').levels, [STATE, BIRCH, 0, TRANSIT + ESD]);
});

test('a range holds on its side of the street, from the quarter of its file on', () => {
  assert.notEqual(ask('8 Quill Ln').precision, 'range');
  assert.equal(ask('7 Quill Ln', '202604').precision, 'range');
  assert.notEqual(ask('7 Quill Ln', '202603').precision, 'range');
});

test('codes without a rate or above the cap, a unique authority, no county, two cities: nowhere', () => {
  for (const number of ['407', '507', '607', '707', '1007']) {
    assert.notEqual(ask(`${number} Quill Ln`).precision, 'range', number);
  }
  const line =
    told.find((each) => /^tx.TX-County-FIPS-003.*of its records/.test(each)) ??
    assert.fail(told.join('\n'));
  assert.match(line, /of its records: 2 with a code that no list of rates has/);
  assert.match(line, /1 with several counties or cities/);
  assert.match(line, /1 with codes that together levy more than the law allows/);
  assert.match(line, /1 without a county, which nothing else tells/);
});

async function readAll(path: string): Promise<FallenRows> {
  const fallen = new FallenRows(path, 100);
  const records: BoundaryRecord[] = [];
  for await (const record of readTexasAddresses(path, fallen)) records.push(record);
  assert.deepEqual(
    records.map(({ low }) => low),
    ['1', '101', '200', '301', '401', '501', '601', '701', '1001'],
  );
  return fallen;
}

function laid(name: string, text: string): string {
  const path = join(FOLDER, name);
  writeFileSync(path, text);
  return path;
}

test('rows that cannot be read are counted by reason', async () => {
  const { reasons } = await readAll(laid('TX-County-FIPS-003-2026Q2.csv', PUBLISHED));
  assert.deepEqual(reasons, [
    ['with a local code that is none', 1],
    ['with a ZIP that is none', 1],
  ]);
});

test('a file without its quarter, and one laid out otherwise, is refused', async () => {
  await assert.rejects(readAll(laid('TX-County-FIPS-003.csv', PUBLISHED)), /name has no quarter/);
  const changed = (from: string, to: string): string =>
    laid('changed-2026Q2.csv', PUBLISHED.replace(from, to));
  await assert.rejects(readAll(changed('Street', 'Road')), /has no column "Street"/);
  await assert.rejects(
    readAll(changed('Special Purpose District 4 TAID 4', 'Spare')),
    /lacks columns of local codes/,
  );
  await assert.rejects(
    readAll(changed('Even-Odd,Pre Dir', 'Even-Odd,Hospital TAID,Pre Dir')),
    /has a column "Hospital TAID"/,
  );
});

test('local codes number the counties of Texas by the letters of their names', () => {
  const counties = readCounties(
    readFileSync(join(datasetsDir(), 'facts/county_names.tsv'), 'utf8'),
  );
  const gazetteer = createGazetteer([], counties, [], []);
  const countyOf = countiesByCode({ gazetteer, state: 'TX' });
  const named = (code: string): string => gazetteer.countyFact(countyOf(code))?.fullName ?? '';
  assert.deepEqual(['4001008', '4154004', '4160006', '4163003', '4254003', '4255001'].map(named), [
    'Anderson County',
    'Madison County',
    'McCulloch County',
    'Medina County',
    'Zavala County',
    '',
  ]);
});
