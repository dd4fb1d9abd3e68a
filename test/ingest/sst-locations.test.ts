/**
 * A boundary file that names locations, as Washington's, with the state's own list of what they
 * levy, beside lists that have rates by county and city: from the published layouts
 * (published/README.md) to answers.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readManifest } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import type { BoundaryRecordSource } from '../../src/ingest/source/address-source.js';
import { byLookup, type Told } from '../support/three-ways.js';
import { recipeOver } from './recipe-over-files.js';
import { byLookupAndRow } from '../support/ways-agree.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-sst-locations-'));
const RATES = `Name,Code,State,Local,RTA,Rate,Effective Date,Expiration Date
GORSE/BIRCH,301,.05,.01,.005,.065,20250101,20251231
BIRCH COUNTY,0302,.05,.0075,0,.0575,20250101,20251231
BIRCH COUNTY NON-RTA,4003,.05,.0075,.001,.0585,20250101,20251231
`;
const told: string[] = [];
let name = '';
let dataset: Dataset;

function build(sst: readonly BoundaryRecordSource[]): Promise<string> {
  const { recipe, rates } = readRecipe('fixture');
  const stated = [
    {
      reader: 'wa-quarter',
      path: 'rates.csv',
      source: 'invented',
      state: 'QA',
      options: { areas: true },
    },
  ];
  return buildIn(
    FOLDER,
    { recipe: { ...recipe, sst }, rates: { ...rates, stated } },
    { report: (line) => told.push(line) },
  );
}

const RECORDS = {
  file: 'QAB.csv',
  layout: 'sst-locations',
  state: 'QA',
  source: 'invented',
  tolerance: '60',
};

before(async () => {
  copyFileSync(join(PUBLISHED, 'sst-locations.csv'), join(FOLDER, 'QAB.csv'));
  writeFileSync(join(FOLDER, 'rates.csv'), RATES);
  name = await build([RECORDS]);
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(street: string, zip = '91012', city = 'Gorse', month = ''): Told {
  return byLookupAndRow(dataset, { street, city, state: 'QA', zip }, month);
}

const [STATE, BIRCH] = [50_000_000, 7_500_000];

test('a range and a ZIP+4 have all that their location levies, once', () => {
  const city = ask('7 Quill Ln');
  assert.deepEqual([city.precision, city.levels], ['range', [STATE, 0, 0, 15_000_000]]);
  const county = ask('107 Quill Ln');
  assert.deepEqual([county.precision, county.levels], ['range', [STATE, 0, 0, 8_500_000]]);
  const sent = ask('1 Nowhere Rd', '91012-0042');
  assert.deepEqual([sent.precision, sent.levels], ['zip9', [STATE, 0, 0, 15_000_000]]);
});

test('a location that is taxed as lists have its land is that land', () => {
  const same = ask('807 Quill Ln');
  assert.deepEqual([same.precision, same.levels], ['range', [STATE, BIRCH, 0, 0]]);
});

test('a location that the list has not, none, and several lead nowhere', () => {
  for (const number of ['207', '307', '407', '607', '707']) {
    assert.notEqual(ask(`${number} Quill Ln`).precision, 'range', number);
  }
  assert.notEqual(ask('1 Nowhere Rd', '91012-0142').precision, 'zip9');
  const line =
    told.find((each) => /^QAB.*of its records/.test(each)) ?? assert.fail(told.join('\n'));
  assert.match(line, /2 with a district that the state's rate file has not/);
  assert.match(line, /2 without one location that all of the record lies in/);
  assert.match(line, /1 of another state/);
});

test("where the state's own tax does not apply nothing is answered", () => {
  assert.match(ask('507 Quill Ln').refusal, /own tax does not apply here/);
});

test('before the first day of the list nothing is known of a location', () => {
  assert.notEqual(ask('7 Quill Ln', '91012', 'Gorse', '202406').code, 100);
});

test('what the file has elsewhere than the boundaries is counted', () => {
  const { coverage } = readManifest(join(releasesDir(FOLDER), name));
  const file = coverage.find(({ state }) => state === 'QA')?.stateFile;
  assert.deepEqual([file?.ranges, file?.zip9, file?.zip5], [4, 1, 1]);
  assert.deepEqual([file?.zips, file?.zipsElsewhere], [2, 2]);
});

test('locations by address serve a state whose lists have cities, by the same list', async () => {
  const rows = readFileSync(join(PUBLISHED, 'wa-addresses.csv'), 'utf8')
    .replaceAll('94010', '91012')
    .replaceAll(',QD,', ',QA,');
  writeFileSync(join(FOLDER, 'addresses.csv'), rows);
  const own = openDataset(
    join(
      releasesDir(FOLDER),
      await build([
        {
          file: 'addresses.csv',
          layout: 'wa-addresses',
          state: 'QA',
          source: 'x',
          tolerance: '60',
        },
      ]),
    ),
  );
  const found = byLookup(own, '11 Heron Way, Gorse, QA 91012', '');
  own.close();
  assert.deepEqual([found.precision, found.levels], ['range', [STATE, 0, 0, 15_000_000]]);
});

test('another file is refused', async () => {
  writeFileSync(join(FOLDER, 'other.csv'), 'ADDR_LOW,ADDR_HIGH,CODE\n1,9,0301\n');
  await assert.rejects(build([{ ...RECORDS, file: 'other.csv' }]), /this is no boundary file/);
});

for (const recipe of ['default', 'reference']) {
  test(`${recipe}: the state's own address files stand before its boundary file`, () => {
    const layouts = (...keys: readonly string[]): readonly (string | undefined)[] =>
      recipeOver(recipe, 'zip', ...keys)
        .recipe.sst.filter(({ state }) => state === 'WA')
        .map(({ layout }) => layout);
    assert.deepEqual(layouts('wa-rates', 'sst-boundaries/WA'), ['sst-locations']);
    assert.deepEqual(layouts('wa-rates', 'sst-boundaries/WA', 'wa-addresses', 'wa-zip4'), [
      'wa-addresses',
      'wa-zip4',
    ]);
    // Without the list of what locations levy none of them says anything.
    assert.deepEqual(layouts('sst-boundaries/WA', 'wa-addresses'), []);
    const { lists, rates } = recipeOver(recipe, 'zip', 'wa-rates');
    assert.deepEqual(
      lists.map((list) => [list.name, list.stated]),
      [['wa-rates', undefined]],
    );
    assert.deepEqual(
      rates.stated?.map(({ options }) => options),
      [{ areas: true }],
    );
  });
}
