/** Which counties a ZIP has where crosswalks, postal lists and the ZIP's point say otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPostalZips } from '../../src/ingest/zip/counties.js';
import type { StateFact } from '../../src/ingest/state-facts.js';
import { PlaceNames } from '../../src/ingest/zip/names.js';
import type { ZipLists } from '../../src/ingest/zip/zip-facts.js';

const state = (code: string, fips: string): StateFact => {
  const timeZone = 'America/Denver';
  return { code, fips, name: code, country: 'USA', timeZone, allMunicipal: false };
};

/** Counties of ZIP 501 in the first state, by two crosswalks, a postal list and the ZIP's point. */
function countiesOf(
  delivered: readonly string[],
  tabulated: readonly string[],
  listed: string,
  point: string,
): readonly string[] {
  const within = (counties: readonly string[]): ZipLists['delivered'] =>
    counties.map((county) => ({ zip: 501, county }));
  const lists: ZipLists = {
    states: [state('XA', '90'), state('YB', '91')],
    counties: ['90001', '90003', '90005', '91001'].map((fips) => {
      return { fips, state: '', fullName: fips, code: '' };
    }),
    points: [{ zip: 501, name: 'Elm', state: 'XA', county: listed, lat: 0, lng: 0 }],
    delivered: within(delivered),
    tabulated: within(tabulated),
    places: [],
    placesLoaded: new Set(),
    unplaced: [],
    cities: [],
    countedStates: new Set(),
    intern: () => 0,
    facts: { aliases: [], municipal: [], territories: [] },
    tupleAt: () =>
      point === ''
        ? null
        : { state: point.slice(0, 2), county: point, place: '', town: '', districts: [] },
  };
  return listPostalZips(lists, new PlaceNames([], []))[0]?.counties ?? [];
}

test('a county across a state line counts by census land, not by delivered addresses', () => {
  assert.deepEqual(countiesOf(['90001'], ['90001', '91001'], '90001', ''), ['90001', '91001']);
  assert.deepEqual(countiesOf(['90001', '91001'], ['90001'], '90001', ''), ['90001']);
});

test("without a county in common that of the ZIP's point is right, then the postal list's", () => {
  const told = (listed: string, point: string): readonly string[] =>
    countiesOf(['90001'], ['90003'], listed, point);
  assert.deepEqual(told('90001', '90003'), ['90003']);
  assert.deepEqual(told('90003', '90001'), ['90001']);
  assert.deepEqual(told('90001', ''), ['90001']);
  assert.deepEqual(told('90003', '90005'), ['90003']);
  assert.deepEqual(told('', ''), ['90001', '90003']);
});
