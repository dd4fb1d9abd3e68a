import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BoundaryFeature, LayerHits } from '../../src/ingest/boundary/overlay.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { readGeometryFile } from '../../src/ingest/source/geometry-file.js';
import { holders, type PlainPolygon } from '../support/brute-force.js';
import { seeded } from '../../bench/case/case.js';
import { between, points } from '../support/invented-world.js';

/** Small states with islands, enclaves, independent cities, and one on both sides of ±180. */
const STATES = ['02', '44', '50', '51'];
const POINTS = 104_000;
const BOX = { west: -83_700_000, south: 36_500_000, east: -75_200_000, north: 39_500_000 };

function plain({ polygon: { key, coords, rings } }: BoundaryFeature): PlainPolygon {
  return {
    key,
    rings: [...rings.subarray(0, -1)].map((start, ring) =>
      Array.from(
        { length: rings[ring + 1]! - 1 - start },
        (_, vertex) => [coords[(start + vertex) * 2]!, coords[(start + vertex) * 2 + 1]!] as const,
      ),
    ),
  };
}

test('the index agrees with brute force at and around the borders carried', () => {
  const layers = readGeometryFile(join(datasetsDir(), 'geometry/us.geometry.gz'));
  const layer = (name: string): readonly BoundaryFeature[] =>
    (layers.get(name) ?? []).filter(({ polygon }) => STATES.includes(polygon.key.slice(0, 2)));
  const [counties, places] = [layer('counties'), layer('places')];
  const names = new Map<string, number>();
  const areaOf = ({ county, place }: LayerHits): number => {
    const name = `${county}|${place}`;
    if (name === '|') return -1;
    if (!names.has(name)) names.set(name, names.size);
    return names.get(name)!;
  };
  const { index } = buildCells(
    [
      { layer: 'county', features: counties },
      { layer: 'place', features: places },
    ],
    areaOf,
    () => undefined,
  );
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
  assert.ok(held > asked / 4 && held < asked, `${held} of ${asked} are in a county`);
});
