/** The counties of places: invented ones beside a line, and those that the facts carry. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPolygon, type Position } from '../../src/geo/polygon.js';
import { AreaRegistry } from '../../src/ingest/area-registry.js';
import {
  type Boundaries,
  type BoundaryFeature,
  overlay,
  placesOf,
} from '../../src/ingest/boundary/overlay.js';
import { dividedFeatures, NO_DOUBTS } from '../../src/ingest/boundary/doubtful-land.js';
import { placeCounties } from '../../src/ingest/boundary/place-counties.js';
import { readDividedLand, readPlaces } from '../../src/ingest/rates/facts.js';
import { datasetsDir } from '../../src/ingest/source-files.js';

function feature(key: string, ring: readonly Position[]): BoundaryFeature {
  const polygon = createPolygon(key, [ring]);
  assert.ok(polygon);
  return { polygon, properties: { NAME: key, NAMELSAD: `${key} city` } };
}

const COUNTIES = [
  feature('91001', [
    [0, 0],
    [0, 100_000],
    [-100_000, 100_000],
    [-100_000, 0],
  ]),
  feature('91003', [
    [0, 0],
    [0, 100_000],
    [100_000, 100_000],
    [100_000, 0],
  ]),
];

/** A place that begins 40,000 west of the line between the counties and reaches over it. */
function crossing(reach: number): BoundaryFeature {
  return feature('9100020', [
    [-40_000, 65_000],
    [reach, 65_000],
    [reach, 95_000],
    [-40_000, 95_000],
  ]);
}

function sharesOf(place: BoundaryFeature): string {
  const found = placeCounties([place], COUNTIES).get(place.polygon.key) ?? [];
  return found.map(({ county, share }) => `${county} ${Math.round(share * 100)}`).join(', ');
}

test('the shares of a place in counties, the largest first', () => {
  assert.equal(sharesOf(crossing(-10_000)), '91001 100');
  assert.equal(sharesOf(crossing(10_000)), '91001 80, 91003 20');
  assert.equal(sharesOf(crossing(60_000)), '91003 60, 91001 40');
});

test('a place too thin for the grid has the counties of its vertices', () => {
  const thin = feature('9100030', [
    [-30_000, 1],
    [10_000, 90_000],
    [10_001, 90_000],
  ]);
  assert.match(sharesOf(thin), /91003/);
});

function boundariesOf(places: readonly BoundaryFeature[]): Boundaries {
  return {
    counties: COUNTIES,
    provinces: [],
    places,
    towns: [],
    districts: [],
    placesLoaded: new Set(['91']),
    townsLoaded: new Set(),
  };
}

test("a place that no fact knows has the counties where its land is more than a border's bend", () => {
  const counties = (reach: number): string =>
    placesOf(boundariesOf([crossing(reach)]), [], new Map([['91', 'ZZ']]))[0]!.counties.join(' ');
  assert.equal(counties(500), '91001');
  assert.equal(counties(2_000), '91001 91003');
});

test('a place has the county it lies in, and its own where it has no land in that one', () => {
  const boundaries = boundariesOf([crossing(2_000)]);
  const [place] = placesOf(boundaries, [], new Map([['91', 'ZZ']]));
  const at = (counties: readonly string[], lng: number): string => {
    const { tupleAt } = overlay(
      boundaries,
      [{ ...place!, counties }],
      { tiers: [], whole: new Map() },
      NO_DOUBTS,
      new AreaRegistry(),
      () => undefined,
    );
    const tuple = tupleAt(80_000, lng);
    return tuple === null ? 'nowhere' : `${tuple.county}|${tuple.place}`;
  };
  assert.equal(at(['91001', '91003'], 1_500), '91003|9100020');
  assert.equal(at(['91001', '91003'], -1_500), '91001|9100020');
  assert.equal(at(['91001'], 1_500), '91001|9100020');
  assert.equal(at(['91001'], 3_500), '91003|');
});

test('land of a county in which a listed city lies nobody knows where is in doubt, cities are not', () => {
  const boundaries = boundariesOf([crossing(2_000)]);
  const places = placesOf(boundaries, [], new Map([['91', 'ZZ']]));
  const { tupleAt } = overlay(
    boundaries,
    places,
    { tiers: [], whole: new Map() },
    { points: [], counties: new Set(['91001']), lands: [] },
    new AreaRegistry(),
    () => undefined,
  );
  assert.equal(tupleAt(10_000, -1_500)?.place, '?');
  assert.equal(tupleAt(10_000, 1_500)?.place, '');
  assert.equal(tupleAt(80_000, -1_500)?.place, '9100020');
});

test('in a box of divided land, land of its county outside cities is in doubt, and no other', () => {
  const boundaries = boundariesOf([crossing(2_000)]);
  const places = placesOf(boundaries, [], new Map([['91', 'ZZ']]));
  const lands = dividedFeatures(
    readDividedLand(
      'county\tsouth\twest\tnorth\teast\tnote\tsays\n91001\t0.005\t-1\t1\t1\tWard 1\tit\n',
    ),
  );
  const { tupleAt } = overlay(
    boundaries,
    places,
    { tiers: [], whole: new Map() },
    { points: [], counties: new Set(), lands },
    new AreaRegistry(),
    () => undefined,
  );
  assert.equal(tupleAt(10_000, -1_500)?.place, '?');
  assert.equal(tupleAt(4_000, -1_500)?.place, '', 'south of the box');
  assert.equal(tupleAt(10_000, 1_500)?.place, '', 'of another county');
  assert.equal(tupleAt(80_000, -1_500)?.place, '9100020', 'a city');
});

test('a box of divided land has its south below its north, in degrees', () => {
  const read = (box: string): unknown =>
    readDividedLand(`county\tsouth\twest\tnorth\teast\tnote\tsays\n91001\t${box}\tWard 1\tit\n`);
  for (const box of ['2\t-1\t1\t1', '0\t1\t1\t1', '0\t-1\tnorth\t1', '0\t-1\t\t1']) {
    assert.throws(() => read(box), RangeError, box);
  }
});

/** Counties of cities by name, as the lists of places have them. */
const CARRIED: readonly (readonly [state: string, city: string, counties: string])[] = [
  ['CO', 'Denver', '08031'],
  ['CO', 'Aurora', '08005 08001 08035'],
  ['GA', 'Atlanta', '13121 13089'],
  ['MN', 'Minneapolis', '27053'],
  ['MN', 'St. Paul', '27123'],
  ['MO', 'Kansas City', '29095 29047 29165'],
  ['NY', 'Mount Vernon', '36119'],
  ['NY', 'New York', '36081 36085 36047 36005 36061'],
  ['OH', 'Columbus', '39049 39041 39045'],
  ['OK', 'Oklahoma City', '40109 40017 40027'],
  ['SD', 'Sioux Falls', '46099 46083'],
  ['TX', 'Dallas', '48113 48397 48085 48257 48121'],
  ['TX', 'Houston', '48201 48157 48339'],
  ['WV', 'Huntington', '54011 54099'],
];

for (const [state, city, counties] of CARRIED) {
  test(`the counties of ${city}, ${state}`, () => {
    const path = `facts/places/${state}.tsv`;
    const text = readFileSync(join(datasetsDir(), path), 'utf8');
    const place = readPlaces(text, state, [], path).find(({ name }) => name === city);
    assert.equal(place?.counties.join(' '), counties);
  });
}
