/** Districts that a recipe draws, in what is told of whole ZIPs. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { byLookup, byZip } from '../support/three-ways.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-zip-districts-'));
let dataset: Dataset;

before(async () => {
  const { recipe, rates } = readRecipe('fixture');
  // Doors would show the districts by themselves.
  const name = await buildIn(FOLDER, { recipe: { ...recipe, points: [], ranges: [] }, rates });
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

test('a ZIP has the rates of the districts that its land may lie in, and those without', () => {
  const found = byZip(dataset, '91010', 'QA');
  assert.ok('rows' in found);
  const rows = found.rows.map(({ levels }) => levels.join(' '));
  for (const levels of [
    '50000000 10000000 12500000 0',
    '50000000 10000000 12500000 5000000',
    '50000000 10000000 0 0',
    '50000000 10000000 0 5000000',
  ]) {
    assert.ok(rows.includes(levels), `${levels} in\n${rows.join('\n')}`);
  }
});

test('an address by its ZIP is not answered without the district that may hold there', () => {
  const { precision, refusal } = byLookup(dataset, '1 Nowhere Rd, Elmton, QA 91010', '');
  assert.equal(precision, 'none');
  assert.match(refusal, /overlaps several tax areas with different rates/);
});
