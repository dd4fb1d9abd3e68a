/**
 * Polygons of location codes with the list of their rates, as New Mexico's: from the published
 * layouts (published/README.md) to answers. Where the rate of a spot cannot be told it is refused.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { type RateList, readRecipe } from '../../src/ingest/recipe.js';
import { askQuery } from '../support/ask-dataset.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-new-mexico-'));
const LIST = `${readFileSync(join(PUBLISHED, 'nm-grt.csv'), 'utf8').trim()}
8,Pueblo of the South,Alpha,,01-911,01-912,0,T,,1.5,6.25,2.5
`;
let dataset: Dataset;

function build(
  list: string,
  key = 'locat_cdr|locat_cd1',
  others: readonly RateList[] = [],
): Promise<string> {
  writeFileSync(join(FOLDER, 'rates.csv'), list);
  const { recipe, rates } = readRecipe('fixture');
  const locations = {
    layer: 'district' as const,
    path: 'locations.geojson',
    key,
    source: 'invented',
    states: ['94'],
  };
  const own = {
    reader: 'nm-grt',
    path: 'rates.csv',
    source: 'invented',
    state: 'QD',
    options: { state: '5.125', from: '2026-07-01', areas: true },
  };
  return buildIn(FOLDER, {
    recipe: { ...recipe, boundaries: [...recipe.boundaries, locations], points: [], ranges: [] },
    rates: { ...rates, lists: [...rates.lists, ...others, own] },
  });
}

before(async () => {
  copyFileSync(join(PUBLISHED, 'nm-boundaries.geojson'), join(FOLDER, 'locations.geojson'));
  dataset = openDataset(join(releasesDir(FOLDER), await build(LIST)));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function at(lng: number, lat = 10.25): { readonly code: number; readonly rate: number } {
  const { code, total } = askQuery(dataset, `lat=${lat}&lng=${lng}`);
  return { code, rate: Math.round(total * 1e9) };
}

/** What the invented state levies, and what the list has above the state's part in it. */
const [STATE, COUNTY, ARDEN] = [62_500_000, 11_250_000, 23_750_000];

test('a spot has all that its location levies', () => {
  assert.deepEqual(at(-28.95), { code: 100, rate: STATE + COUNTY });
  assert.deepEqual(at(-28.85), { code: 100, rate: STATE + ARDEN });
});

test('land with two codes is refused, whatever rates stand beside them', () => {
  assert.equal(at(-28.75).code, 110);
  assert.equal(at(-28.67, 10.15).code, 110);
});

test('a code that the list has not is refused, and so is what lies in no location', () => {
  assert.equal(at(-28.67, 10.25).code, 110);
  assert.equal(at(-28.95, 10.05).code, 110);
  assert.equal(at(-28.62, 10.45).code, 110);
});

test('where two locations hold nothing is added up', () => {
  assert.equal(at(-28.83, 10.35).code, 110);
  assert.equal(at(-28.87, 10.35).code, 100);
});

test('rates of counties and cities beside locations would be levied twice: refused', async () => {
  writeFileSync(
    join(FOLDER, 'others.csv'),
    readFileSync(join(PUBLISHED, 'nm-grt.csv'), 'utf8').replaceAll('Alpha', 'Fir'),
  );
  const others = { reader: 'nm-grt', path: 'others.csv', source: 'invented', state: 'QD' };
  await assert.rejects(
    build(LIST, 'locat_cdr', [{ ...others, options: { state: '5.125', from: '2025-07-01' } }]),
    /QD: Fir County has a rate after 2026-07-01, beside locations that have all of it/,
  );
  await build(LIST, 'locat_cdr', [
    { ...others, options: { state: '5.125', from: '2025-07-01', to: '2026-06-30' } },
  ]);
});

test('a list that is laid out otherwise, or contradicts itself, is refused', async () => {
  const changed = (from: string, to: string): Promise<string> => build(LIST.replace(from, to));
  await assert.rejects(changed('01-100', '1100'), /line 3: Arden: no location code: 1100/);
  await assert.rejects(changed('01-100', ''), /line 3: Arden: no location code/);
  await assert.rejects(changed('7.5,', '5,'), /line 3: Arden: a total below the state's part/);
  await assert.rejects(changed('02-100', '01-100'), /O'Dell: code 01-100 has another rate than/);
  await assert.rejects(
    changed('locat_cd1', 'code1'),
    /layout is another: it has no column locat_cd1/,
  );
});

test('polygons without a code are refused', async () => {
  const path = join(FOLDER, 'locations.geojson');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll('locat_c', 'code_'));
  await assert.rejects(build(LIST), /locations.geojson.*a feature has no key/);
  writeFileSync(path, text);
});
