/** Spots inside areas that the land of no ZIP meets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Polygon } from '../../src/geo/polygon.js';
import type { AreaTuple } from '../../src/ingest/model.js';
import { SpotsInside } from '../../src/ingest/zip/inside.js';

const SIDE = 10_000;

function tuple(county: string, place = ''): AreaTuple {
  return { state: '90', county, place, town: '', districts: [] };
}

/** A square whose south-western corner lies at so many degrees of latitude, and at 100 W. */
function squareAt(key: string, lat: number): Polygon {
  const [south, west] = [lat * 1e6, -100e6];
  const ring = [
    [west, south],
    [west + SIDE, south],
    [west + SIDE, south + SIDE],
    [west, south + SIDE],
  ] as const;
  return createPolygon(key, [ring]) ?? assert.fail('no polygon');
}

const OUTLINES = new Map(
  [squareAt('90001', 40), squareAt('9000001', 41)].map((one) => [one.key, one]),
);

/** The city lies in another county than the list says, and the north of its box in none. */
function tupleAt(lat: number): AreaTuple | null {
  if (lat < 40_500_000) return tuple('90001');
  return lat < 41_000_000 + SIDE / 20 ? tuple('90003', '9000001') : null;
}

const SPOTS = new SpotsInside({ polygonOf: (code) => OUTLINES.get(code), tupleAt });

test('a county has spots in its land, the one in the middle first', () => {
  const [first] = SPOTS.of(tuple('90001'));
  assert.ok(first !== undefined);
  assert.ok(Math.abs(first.lat - 40_000_000 - SIDE / 2) < SIDE / 16, String(first.lat));
  assert.ok(Math.abs(first.lng + 100_000_000 - SIDE / 2) < SIDE / 16, String(first.lng));
});

test('a city has them where its boundary holds it, whatever county a list names', () => {
  for (const county of ['90001', '90003']) {
    const spots = SPOTS.of(tuple(county, '9000001'));
    assert.ok(spots.length > 0, county);
    for (const { lat } of spots) assert.ok(lat >= 41_000_000 && lat < 41_000_000 + SIDE / 20);
  }
});

test('a city without a boundary has those of its county; without any there are none', () => {
  assert.deepEqual(SPOTS.of(tuple('90001', '9000002')), SPOTS.of(tuple('90001')));
  assert.deepEqual(SPOTS.of(tuple('90005')), []);
  assert.deepEqual(new SpotsInside({}).of(tuple('90001')), []);
});
