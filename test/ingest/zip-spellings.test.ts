/** Cities whose names the post office writes in another way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlaceFact } from '../../src/ingest/model.js';
import { bindZips, type ZipBinding } from '../../src/ingest/zip/bind.js';
import type { CityAlias } from '../../src/ingest/zip/zip-facts.js';

function place(geoid: string, name: string, county: string): PlaceFact {
  const fullName = `${name} city`;
  return { geoid, name, fullName, state: 'XA', counties: [county], independent: false };
}

/** Binds ZIPs of the first state, each with its postal city and county. */
function bind(
  places: readonly PlaceFact[],
  zips: readonly (readonly [zip: number, name: string, county: string])[],
  aliases: readonly CityAlias[] = [],
): ZipBinding {
  const keys: string[] = [];
  return bindZips({
    states: [
      {
        code: 'XA',
        fips: '90',
        name: 'Xa',
        country: 'USA',
        timeZone: 'America/Denver',
        allMunicipal: false,
      },
    ],
    counties: ['90001', '90003'].map((fips) => ({ fips, state: '', fullName: fips, code: '' })),
    places,
    placesLoaded: new Set(['XA']),
    unplaced: [],
    points: zips.map(([zip, name, county]) => ({
      zip,
      name,
      state: 'XA',
      county,
      lat: 40e6,
      lng: -100e6,
    })),
    delivered: zips.map(([zip, , county]) => ({ zip, county })),
    tabulated: [],
    cities: [],
    counts: [],
    countedStates: new Set(),
    facts: { aliases, municipal: [], territories: [] },
    intern: ({ county, place: code }) => {
      const key = `${county}/${code}`;
      return keys.includes(key) ? keys.indexOf(key) : keys.push(key) - 1;
    },
  });
}

test('a postal name that differs from the city in blanks alone is the city’s', () => {
  for (const [postal, own] of [
    ['Mc Cook', 'McCook'],
    ['O Brien', "O'Brien"],
    ['Labolt', 'La Bolt'],
    ['South West City', 'Southwest City'],
  ] as const) {
    const { zips, cities } = bind([place('9000001', own, '90001')], [[501, postal, '90001']]);
    const [plain, bare] = [postal.toUpperCase(), own.toUpperCase()];
    assert.deepEqual(zips[0]?.cities, [plain, bare]);
    assert.deepEqual(
      zips[0].parts.map(({ city, incorporated }) => [city, incorporated]),
      [
        [bare, true],
        [plain, false],
      ],
    );
    const record = cities.get(`XA|${plain}`);
    assert.equal(record, cities.get(`XA|${bare.replace("'", '')}`));
    assert.deepEqual([record?.name, record?.zips, record?.areas.length], [postal, [501], 1]);
  }
});

test('a city that facts name with or without "City" is one under both names', () => {
  const places = [place('9000001', 'Heber', '90001'), place('9000002', 'City of Oak', '90001')];
  const { zips, cities } = bind(
    places,
    [
      [501, 'Heber City', '90001'],
      [502, 'Elm', '90001'],
    ],
    [
      { state: 'XA', name: 'Heber City', place: '9000001', county: '' },
      { state: 'XA', name: 'Oak', place: '9000002', county: '' },
    ],
  );
  assert.deepEqual(
    zips.map((zip) => zip.cities),
    [['HEBER CITY', 'HEBER'], ['ELM']],
  );
  assert.equal(cities.get('XA|HEBER'), cities.get('XA|HEBER CITY'));
  assert.equal(cities.get('XA|OAK'), cities.get('XA|CITY OF OAK'));
});

test('names of two cities stay apart though they differ in blanks alone', () => {
  const places = [place('9000001', 'Lakeview', '90001'), place('9000002', 'Lake View', '90003')];
  const apart = bind(places, [
    [501, 'Lakeview', '90001'],
    [502, 'Lake View', '90003'],
  ]);
  assert.deepEqual(
    apart.zips.map((zip) => zip.cities),
    [['LAKEVIEW'], ['LAKE VIEW']],
  );
  assert.deepEqual(apart.cities.get('XA|LAKEVIEW')?.zips, [501]);
  assert.deepEqual(apart.cities.get('XA|LAKE VIEW')?.zips, [502]);
  // A post office in another county than the city is not the city's.
  const far = bind([place('9000001', 'Lakeview', '90001')], [[502, 'Lake View', '90003']]);
  assert.deepEqual(far.zips[0]?.cities, ['LAKE VIEW']);
  assert.deepEqual(far.cities.get('XA|LAKE VIEW')?.areas, []);
});
