/** Invented counties beside a line that leaves out its bends, and places that end at it or not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPolygon, type Position } from '../../src/geo/polygon.js';
import { AreaRegistry } from '../../src/ingest/area-registry.js';
import {
  overlay, placesOf, type Boundaries, type BoundaryFeature,
} from '../../src/ingest/boundary/overlay.js';
import { placeCounties, type KnownCounties } from '../../src/ingest/boundary/place-counties.js';
import { readPlaces } from '../../src/ingest/rates/facts.js';
import { datasetsDir } from '../../src/ingest/source-files.js';

function feature(key: string, ring: readonly Position[]): BoundaryFeature {
  const polygon = createPolygon(key, [ring]);
  assert.ok(polygon);
  return { polygon, properties: { NAME: key, NAMELSAD: `${key} city` } };
}

/** The line x = 0 has vertices at these heights only; 1,000 microdegrees are 111 m. */
const LINE: readonly Position[] = [[0, 0], [0, 20_000], [0, 40_000], [0, 60_000], [0, 100_000]];
const COUNTIES = [
  feature('91001', [...LINE, [-100_000, 100_000], [-100_000, 0]]),
  feature('91003', [...LINE, [100_000, 100_000], [100_000, 0]]),
];

/** A place west of the line that bends over it between two vertices of the line. */
function bent(width: number, bulge: number): BoundaryFeature {
  return feature('9100010', [
    [-width, 20_000], [0, 20_000], [bulge, 30_000], [0, 40_000], [-width, 40_000],
  ]);
}

/** A place that reaches over the line, which passes through it without a vertex. */
function crossing(reach: number, bottom = 65_000): BoundaryFeature {
  return feature('9100020', [
    [-40_000, bottom], [reach, bottom], [reach, 95_000], [-40_000, 95_000],
  ]);
}

function countiesOf(place: BoundaryFeature, known: Partial<KnownCounties> = {}): string {
  const found = placeCounties([place], COUNTIES, { listed: new Set(), ...known });
  return (found.get(place.polygon.key) ?? []).map(({ county }) => county).join(' ');
}

test('land between a coarse county line and the place that ends at it is a sliver', () => {
  assert.equal(countiesOf(bent(40_000, 3_000)), '91001');
  assert.equal(countiesOf(bent(40_000, 4_400)), '91001');
});

test('a place that reaches over the line keeps both counties', () => {
  assert.equal(countiesOf(crossing(2_000)), '91001 91003');
  assert.equal(countiesOf(crossing(30_000)), '91001 91003');
});

test('a bend that is wider than borders differ, or holds much of the place, is no sliver', () => {
  assert.equal(countiesOf(bent(90_000, 10_000)), '91001 91003');
  assert.equal(countiesOf(bent(60_000, 5_000)), '91001 91003');
  assert.equal(countiesOf(bent(15_000, 3_000)), '91001 91003');
});

test('a strip no wider than the rounding of the borders is a sliver, whatever its shape', () => {
  assert.equal(countiesOf(crossing(500)), '91001');
  assert.equal(countiesOf(feature('9100020', [
    [-15_000, 65_000], [500, 65_000], [500, 95_000], [-15_000, 95_000],
  ])), '91001');
});

test('a county that a publisher names stays', () => {
  const listed = new Set(['9100010/91003']);
  assert.equal(countiesOf(bent(40_000, 3_000), { listed }), '91001 91003');
});

test('from an earlier list slivers are taken; nothing else changes', () => {
  const earlier = new Map([
    ['9100010', ['91001', '91003']], ['9100020', ['91001']],
  ]);
  assert.equal(countiesOf(bent(40_000, 3_000), { earlier }), '91001');
  assert.equal(countiesOf(crossing(2_000), { earlier }), '91001');
  const both = new Map([['9100020', ['91001', '91003']]]);
  assert.equal(countiesOf(crossing(1_000), { earlier: both }), '91001 91003');
});

function boundariesOf(places: readonly BoundaryFeature[]): Boundaries {
  return {
    counties: COUNTIES, provinces: [], places, towns: [], districts: [],
    placesLoaded: new Set(['91']), townsLoaded: new Set(),
  };
}

test('a build answers with the place\'s own county in a sliver, and with both where it has both',
  () => {
    const boundaries = boundariesOf([bent(40_000, 3_000), crossing(2_000)]);
    const places = placesOf(boundaries, [], new Map([['91', 'ZZ']]));
    const { tupleAt } = overlay(boundaries, places, { tiers: [], whole: new Set() }, [],
      new AreaRegistry(), () => undefined);
    const at = (lat: number, lng: number): string => {
      const tuple = tupleAt(lat, lng);
      return tuple === null ? 'nowhere' : `${tuple.county}|${tuple.place}`;
    };
    assert.equal(at(30_000, -100), '91001|9100010');
    assert.equal(at(30_000, 2_500), '91001|9100010');
    assert.equal(at(30_000, 3_500), '91003|');
    assert.equal(at(80_000, 1_500), '91003|9100020');
    assert.equal(at(80_000, -1_500), '91001|9100020');
  });

/** Counties of cities by name, as the lists of places have them. */
const CARRIED: readonly (readonly [state: string, city: string, counties: string])[] = [
  ['CO', 'Denver', '08031'], ['CO', 'Aurora', '08005 08001'], ['GA', 'Atlanta', '13121 13089'],
  ['MN', 'Minneapolis', '27053'], ['MN', 'St. Paul', '27123'],
  ['MO', 'Kansas City', '29095 29047 29165'],
  ['NY', 'Mount Vernon', '36119'], ['NY', 'New York', '36081 36047 36085 36005 36061'],
  ['OH', 'Columbus', '39049 39041'], ['OK', 'Oklahoma City', '40109 40017 40027'],
  ['SD', 'Sioux Falls', '46099 46083'], ['TX', 'Dallas', '48113 48397 48085 48257'],
  ['TX', 'Houston', '48201 48157 48339'], ['WV', 'Huntington', '54011 54099'],
];

for (const [state, city, counties] of CARRIED) {
  test(`the counties of ${city}, ${state}`, () => {
    const text = readFileSync(join(datasetsDir(), `facts/places/${state}.tsv`), 'utf8');
    const place = readPlaces(text, state, []).find(({ name }) => name === city);
    assert.equal(place?.counties.join(' '), counties);
  });
}
