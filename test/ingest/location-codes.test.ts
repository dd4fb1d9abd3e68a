/**
 * Washington's location codes by address and ZIP+4, and counties out of the flat file of wireless
 * sourcing: from the published layouts (published/README.md) to answers.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { releasesDir } from '../../src/dataset/release.js';
import type { BoundaryFeature } from '../../src/ingest/boundary/overlay.js';
import { districtCounties } from '../../src/ingest/boundary/place-counties.js';
import { createPolygon } from '../../src/geo/polygon.js';
import { buildIn } from '../support/build-in.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import type { BoundaryRecordSource } from '../../src/ingest/source/address-source.js';
import { byLookup, type Told, type Written } from '../support/three-ways.js';
import { rectangle, zipOf } from '../support/made-files.js';
import { byLookupAndRow } from '../support/ways-agree.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-location-codes-'));
const told: string[] = [];
let dataset: Dataset;

/** Boxes of the invented geography: west, south, east, north. */
const LOCATIONS = {
  301: [-28.95, 10.1, -28.8, 10.3],
  '0302': [-28.8, 10.1, -28.65, 10.3],
} as const;
const RATES = `Name,Code,State,Local,RTA,Rate,Effective Date,Expiration Date
FIRTON,301,.0625,.005,0,.0675,20250101,20251231
FIR COUNTY,0302,.0625,.0025,0,.065,20250101,20251231
`;

function boundaries(): string {
  const features = Object.entries(LOCATIONS).map(([LOCCODE, [west, south, east, north]]) => ({
    type: 'Feature',
    properties: { LOCCODE },
    geometry: rectangle(west, south, east, north),
  }));
  return JSON.stringify({ type: 'FeatureCollection', features });
}

function build(sst: readonly BoundaryRecordSource[]): Promise<string> {
  const { recipe, rates } = readRecipe('fixture');
  const locations = {
    layer: 'district' as const,
    path: 'codes.geojson',
    key: 'LOCCODE',
    width: 4,
    source: 'invented',
    states: ['94'],
  };
  const list = {
    reader: 'wa-quarter',
    path: 'rates.csv',
    source: 'invented',
    state: 'QD',
    options: { areas: true },
  };
  return buildIn(
    FOLDER,
    {
      recipe: { ...recipe, boundaries: [...recipe.boundaries, locations], sst },
      rates: { ...rates, lists: [...rates.lists, list] },
    },
    { report: (line) => told.push(line) },
  );
}

before(async () => {
  writeFileSync(join(FOLDER, 'codes.geojson'), boundaries());
  writeFileSync(join(FOLDER, 'rates.csv'), RATES);
  for (const name of ['wa-addresses.csv', 'wa-zip4.csv']) {
    writeFileSync(
      join(FOLDER, name.replace('csv', 'zip')),
      zipOf([{ name, data: readFileSync(join(PUBLISHED, name), 'utf8') }]),
    );
  }
  const codes = { state: 'QD', source: 'invented', tolerance: '60' };
  const name = await build([
    { ...codes, file: 'wa-addresses.zip', layout: 'wa-addresses' },
    { ...codes, file: 'wa-zip4.zip', layout: 'wa-zip4' },
  ]);
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(place: Written, month = ''): Told {
  return byLookupAndRow(dataset, place, month);
}

function at(street: string, city: string, zip: string): Written {
  return { street, city, state: 'QD', zip };
}

const STATE = 62_500_000;

test('a range of addresses has the rate of its location', () => {
  const odd = ask(at('11 Heron Way', 'Firton', '94010'));
  assert.deepEqual([odd.precision, odd.levels], ['range', [STATE, 0, 0, 5_000_000]]);
  const even = ask(at('12 Heron Way', 'Firton', '94010'));
  assert.deepEqual([even.precision, even.levels], ['range', [STATE, 0, 0, 2_500_000]]);
  // Before the quarter of the file nothing is known of it.
  assert.notEqual(ask(at('11 Heron Way', 'Firton', '94010'), '202506').precision, 'range');
});

test('a location that the list of rates has not leads nowhere', () => {
  assert.notEqual(ask(at('7 Stork Rd', 'Firton', '94010')).precision, 'range');
  assert.ok(
    told.some((line) => line.includes('1 with a location that no list has')),
    told.join('\n'),
  );
});

test('a ZIP+4 has the rate of its location', () => {
  const sent = ask(at('1 Nowhere Rd', 'Firton', '94010-1500'));
  assert.deepEqual([sent.precision, sent.levels], ['zip9', [STATE, 0, 0, 5_000_000]]);
  const other = ask(at('1 Nowhere Rd', 'Firton', '94010-2000'));
  assert.deepEqual([other.precision, other.levels], ['zip9', [STATE, 0, 0, 2_500_000]]);
  assert.notEqual(ask(at('1 Nowhere Rd', 'Firton', '94010-2001')).precision, 'zip9');
});

test('locations lead nowhere where cities have rates of their own', async () => {
  await assert.rejects(
    build([
      {
        file: 'wa-addresses.zip',
        layout: 'wa-addresses',
        state: 'QA',
        source: 'x',
        tolerance: '60',
      },
    ]),
    /3 of 3 records lead to no tax area.*without the city, though cities levy a tax/,
  );
});

test('counties of addresses serve a state whose counties alone levy a tax', async () => {
  const published = readFileSync(join(PUBLISHED, 'county-addresses.txt'), 'latin1');
  const source = { layout: 'county-addresses', source: 'x', tolerance: '60' };
  writeFileSync(join(FOLDER, 'own.txt'), published);
  const { recipe, rates } = readRecipe('fixture');
  const name = await buildIn(FOLDER, {
    recipe: { ...recipe, sst: [{ ...source, file: 'own.txt', state: 'QD' }] },
    rates,
  });
  const own = openDataset(join(releasesDir(FOLDER), name));
  const found = byLookup(own, '1 Kestrel Way, Firton, QD 94010', '');
  const ended = byLookup(own, '1 N Merlin Rd W, Firton, QD 94010', '');
  own.close();
  assert.deepEqual([found.precision, found.levels], ['range', [STATE, 0, 0, 0]]);
  assert.notEqual(ended.precision, 'range');
  writeFileSync(
    join(FOLDER, 'other.txt'),
    published.replaceAll('94010', '92030').replaceAll('94001', '92003'),
  );
  await assert.rejects(
    build([{ ...source, file: 'other.txt', state: 'QB' }]),
    /3 of 3 records lead to no tax area.*3 without the city, though cities levy a tax/,
  );
});

test('a district lies in a county where all of it does', () => {
  const box = (key: string, west: number, east: number): BoundaryFeature => ({
    polygon: createPolygon(key, [
      [
        [west, 0],
        [east, 0],
        [east, 1_000],
        [west, 1_000],
        [west, 0],
      ],
    ])!,
    properties: {},
  });
  const counties = [box('94001', 0, 1_000_000), box('94003', 1_000_000, 2_000_000)];
  const found = districtCounties(
    [
      box('0301', 10, 999_000),
      box('0302', 1_000_000, 1_500_000),
      box('0900', 900_000, 1_100_000),
      box('0901', 3_000_000, 3_100_000),
    ],
    counties,
  );
  assert.deepEqual(
    [...found],
    [
      ['0301', '94001'],
      ['0302', '94003'],
    ],
  );
});
