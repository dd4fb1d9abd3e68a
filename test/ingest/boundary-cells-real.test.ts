import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BoundaryFeature, LayerHits } from '../../src/ingest/boundary/overlay.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import { packageRoot, SourceFiles } from '../../src/ingest/source-files.js';
import { readBoundaryFile } from '../../src/ingest/source/boundary-file.js';
import { holders, type PlainPolygon } from '../support/brute-force.js';
import { between, points, seeded } from '../support/invented-world.js';

const SOURCES = join(packageRoot(), '..', 'shared', 'data');
const COUNTIES = `${SOURCES}/counties-us-cb2015-5m/counties.topojson.gz`;
/** The coarser borders that come with an npm package. */
const ATLAS = new SourceFiles('', null).resolve('package:us-atlas/counties-10m.json');
/** Small states with islands, enclaves, independent cities, and one on both sides of ±180. */
const STATES = ['02', '44', '50', '51'];
const PLACES = STATES.map((fips) => `${SOURCES}/places-us-tiger2019/places_${fips}.topojson.gz`);
const POINTS = 12_000;
const BOX = { west: -83_700_000, south: 36_500_000, east: -75_200_000, north: 39_500_000 };

function plain({ polygon: { key, coords, rings } }: BoundaryFeature): PlainPolygon {
  return {
    key,
    rings: [...rings.subarray(0, -1)].map((start, ring) =>
      Array.from({ length: rings[ring + 1]! - 1 - start }, (_, vertex) =>
        [coords[(start + vertex) * 2]!, coords[(start + vertex) * 2 + 1]!] as const)),
  };
}

const absent = [COUNTIES, ...PLACES].every((path) => existsSync(path))
  ? false : `no boundary files in ${SOURCES}`;

/** Asks the index and brute force about points at and around the borders of `STATES`. */
function compare(
  countyFile: string, placeFiles: readonly string[],
): { readonly asked: number; readonly held: number } {
  const counties = readBoundaryFile({ path: countyFile, object: 'counties' })
    .filter(({ polygon }) => STATES.includes(polygon.key.slice(0, 2)));
  const places = placeFiles.flatMap((path) => readBoundaryFile({ path, object: 'places' }));
  const names = new Map<string, number>();
  const areaOf = ({ county, place }: LayerHits): number => {
    const name = `${county}|${place}`;
    if (name === '|') return -1;
    if (!names.has(name)) names.set(name, names.size);
    return names.get(name)!;
  };
  const { index } = buildCells([
    { layer: 'county', features: counties }, { layer: 'place', features: places },
  ], areaOf, () => undefined);
  const known = [...names.keys()];
  const [inCounties, inPlaces] = [counties.map(plain), places.map(plain)];
  const all = [...inCounties, ...inPlaces];
  const random = seeded(between(seeded(51), 1, 1000));
  let [asked, held] = [0, 0];
  for (const [lng, lat] of points(random, all, BOX, POINTS)) {
    const x = lng === 180_000_000 ? -180_000_000 : lng;
    const truth = `${holders(inCounties, x, lat)[0] ?? ''}|${holders(inPlaces, x, lat)[0] ?? ''}`;
    const found = index.locate(lat, lng);
    assert.equal(found < 0 ? '|' : known[found], truth, `${lng}, ${lat}`);
    asked += 1;
    if (truth !== '|') held += 1;
  }
  return { asked, held };
}

test('real borders: the index agrees with brute force', { skip: absent }, () => {
  const { held } = compare(COUNTIES, PLACES);
  assert.ok(held > 0);
});

test('borders of the npm package: the index agrees with brute force', () => {
  const { asked, held } = compare(ATLAS, []);
  assert.ok(held > asked / 4 && held < asked, `${held} of ${asked} are in a county`);
});
