/**
 * A boundary file that is believed of its counties and cities alone, as Tennessee's and Nevada's:
 * from the published layout (published/README.md) to answers.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import type { Told } from '../support/three-ways.js';
import { byLookupAndRow } from '../support/ways-agree.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-sst-places-'));
const told: string[] = [];
let dataset: Dataset;

before(async () => {
  copyFileSync(join(PUBLISHED, 'sst-places.csv'), join(FOLDER, 'QAB.csv'));
  const { recipe, rates } = readRecipe('fixture');
  const sst = [
    {
      file: 'QAB.csv',
      layout: 'sst-places',
      state: 'QA',
      source: 'invented',
      tolerance: '60',
    },
  ];
  const name = await buildIn(
    FOLDER,
    { recipe: { ...recipe, sst }, rates },
    { report: (line) => told.push(line) },
  );
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(street: string, zip: string, city = 'Gorse'): Told {
  return byLookupAndRow(dataset, { street, city, state: 'QA', zip });
}

const [STATE, BIRCH, GORSE] = [50_000_000, 7_500_000, 3_750_000];

test('county and city of a range and a ZIP+4 are worth what the lists say', () => {
  const city = ask('7 Quill Ln', '91012');
  assert.deepEqual([city.precision, city.levels], ['range', [STATE, BIRCH, GORSE, 0]]);
  const county = ask('107 Quill Ln', '91012');
  assert.deepEqual([county.precision, county.levels], ['range', [STATE, BIRCH, 0, 0]]);
  const sent = ask('1 Nowhere Rd', '91012-0042');
  assert.deepEqual([sent.precision, sent.levels], ['zip9', [STATE, BIRCH, GORSE, 0]]);
  assert.equal(ask('1 Nowhere Rd', '91020', 'Birchwood').precision, 'postal');
});

test("a district, a code of no place and the state's tax left out lead nowhere", () => {
  for (const number of ['207', '307', '407']) {
    assert.notEqual(ask(`${number} Quill Ln`, '91012').precision, 'range', number);
  }
  assert.notEqual(ask('1 Nowhere Rd', '91012-0142').precision, 'zip9');
  const line = told.find((each) => each.startsWith('QAB')) ?? assert.fail(told.join('\n'));
  assert.match(line, /3 with more than a county and a city, whose rates alone are known/);
  assert.match(line, /1 with a place that is not known/);
});
