/** ZIPs of a state whose land is all of towns, by lists of counties and the extent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Polygon } from '../../src/geo/polygon.js';
import type { AreaTuple, PlaceFact } from '../../src/ingest/model.js';
import { bindZips } from '../../src/ingest/zip/bind.js';
import type { ZipInput } from '../../src/ingest/zip/zip-facts.js';

const [SOUTH, NORTH] = ['90001', '90003'] as const;
/** The line between the counties, and between their towns. */
const LINE = 40_200_000;
const [WEST, EAST] = [-100_500_000, -99_500_000];

const TOWNS: readonly PlaceFact[] = [
  { name: 'Alder', geoid: '9000100010', counties: [SOUTH] },
  { name: 'Birch', geoid: '9000300020', counties: [NORTH] },
].map((town) => ({ ...town, fullName: town.name, state: 'XA', independent: false }));

function townAt(lat: number): AreaTuple {
  const [county, town] = lat < LINE ? [SOUTH, '9000100010'] : [NORTH, '9000300020'];
  return { state: '90', county, place: '', town, districts: [] };
}

function outline(geoid: string): Polygon {
  const [low, high] = geoid === '9000100010' ? [39_000_000, LINE] : [LINE, 41_000_000];
  const ring = [
    [WEST, low],
    [EAST, low],
    [EAST, high],
    [WEST, high],
  ] as const;
  return createPolygon(geoid, [ring.map(([lng, lat]) => [lng, lat])]) ?? assert.fail('no polygon');
}

/** Towns of the ZIP at the middle of Alder, whose list has both counties. */
function townsOf(more: Partial<ZipInput> = {}): readonly string[] {
  const tuples: AreaTuple[] = [];
  const input: ZipInput = {
    states: [
      {
        code: 'XA',
        fips: '90',
        name: 'XA',
        country: 'USA',
        timeZone: 'America/Denver',
        allMunicipal: false,
      },
    ],
    counties: [SOUTH, NORTH].map((fips) => ({ fips, state: '', fullName: fips, code: '' })),
    places: TOWNS,
    placesLoaded: new Set(['XA']),
    unplaced: [],
    points: [40, 40.4].map((lat, at) => ({
      zip: 501 + at,
      name: at === 0 ? 'Alder' : 'Birch',
      state: 'XA',
      county: at === 0 ? SOUTH : NORTH,
      lat: lat * 1e6,
      lng: -100e6,
    })),
    delivered: [
      { zip: 501, county: SOUTH },
      { zip: 501, county: NORTH },
      { zip: 502, county: NORTH },
    ],
    tabulated: [],
    cities: [],
    counts: [],
    countedStates: new Set(),
    facts: { aliases: [], municipal: [], territories: [] },
    intern: (tuple) => tuples.push(tuple) - 1,
    tupleAt: townAt,
    polygonOf: outline,
    ...more,
  };
  const [zip] = bindZips(input).zips.filter((one) => one.zip === 501);
  return (zip ?? assert.fail('no ZIP')).parts.map(({ area, weight }) => {
    const { county, town, place } = tuples[area] ?? assert.fail('no tuple');
    return `${county} ${town || place}${weight === null ? '' : ` ${weight}`}`;
  });
}

test("a county of a ZIP's list that no town is bound in has the towns that the ZIP reaches", () => {
  assert.deepEqual(townsOf(), [`${SOUTH} 9000100010`, `${NORTH} 9000300020`]);
});

test('where it reaches none, which town it is cannot be told', () => {
  // The other county lies so far off that no spot of it may be the ZIP's.
  const tupleAt = (lat: number): AreaTuple => townAt(lat - 1_000_000);
  const parts = townsOf({ tupleAt, polygonOf: () => outline('9000100010') });
  assert.deepEqual(parts, [`${SOUTH} 9000100010`, `${NORTH} ?`]);
});

test('towns that are reached do not keep doors from weighing the ZIP', () => {
  const counts = [{ zip: 501, tuple: townAt(40_000_000), count: 40 }];
  const parts = townsOf({ counts, countedStates: new Set(['XA']) });
  assert.deepEqual(parts, [`${SOUTH} 9000100010 1000000`]);
});
