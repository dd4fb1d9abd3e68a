import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayerHits } from '../../src/ingest/boundary/overlay.js';
import type { PlaceFact } from '../../src/ingest/model.js';
import { createSituate, type SituateInput } from '../../src/ingest/area-registry.js';

function place(geoid: string, ...counties: readonly string[]): PlaceFact {
  return { geoid, name: 'X', fullName: 'X city', state: 'ZZ', counties, independent: false };
}

const INPUT: SituateInput = {
  places: [place('9100010', '91001', '91003'), place('9100020', '91510', '91001')],
  placesLoaded: new Set(['91']),
  placeOfCounty: new Map([
    ['91510', '9100020'],
    ['91520', '9100099'],
    ['92510', '9200020'],
  ]),
  provinces: new Set(['CA-XX']),
};

function at(hits: Partial<LayerHits>, input = INPUT): string {
  const tuple = createSituate(input)({
    county: '',
    place: '',
    town: '',
    districts: [],
    doubts: [],
    ...hits,
  });
  return tuple === null
    ? 'nowhere'
    : [tuple.state, tuple.county, tuple.place, tuple.town, ...tuple.districts].join('|');
}

test('a place keeps the county that holds the spot if it is one of its own', () => {
  assert.equal(at({ county: '91003', place: '9100010' }), '91|91003|9100010|');
});

test('in a county where a place has no land it takes its largest', () => {
  assert.equal(at({ county: '91005', place: '9100010' }), '91|91001|9100010|');
});

test('a place reaching over a state line, another country or the coast stays itself', () => {
  assert.equal(at({ county: '92001', place: '9100010' }), '91|91001|9100010|');
  assert.equal(at({ county: 'CA-XX', place: '9100010' }), '91|91001|9100010|');
  assert.equal(at({ place: '9100010' }), '91|91001|9100010|');
});

test('an independent city has no county but itself, whatever counties a list gives it', () => {
  assert.equal(at({ county: '91001', place: '9100020' }), '91|91510|9100020|');
});

test("land of an independent city's county is the city's, with or without its boundary", () => {
  assert.equal(at({ county: '91510' }), '91|91510|9100020|');
  assert.equal(at({ county: '91520' }), '91|91520|9100099|');
  assert.equal(at({ county: '92510' }), '92|92510|9200020|');
});

test("land of a county that is all one city's is the city's, and stays in the county", () => {
  const input: SituateInput = {
    ...INPUT,
    cityCounties: new Map([
      ['91005', '9100030'],
      ['92003', '9200030'],
    ]),
  };
  assert.equal(at({ county: '91005' }, input), '91|91005|9100030|');
  assert.equal(at({ county: '91005', doubts: ['91005'] }, input), '91|91005|9100030|');
  assert.equal(at({ county: '92003' }, input), '92|92003|9200030|');
  assert.equal(at({ county: '91001' }, input), '91|91001||');
});

test('outside places: none; unknown without boundaries or on doubtful land of its county', () => {
  assert.equal(at({ county: '91001' }), '91|91001||');
  assert.equal(at({ county: '92001' }), '92|92001|?|');
  assert.equal(at({ county: '91001', doubts: ['91001'] }), '91|91001|?|');
  assert.equal(at({ county: '91001', doubts: ['91003'] }), '91|91001||');
  assert.equal(at({ county: '91001', place: '9100010', doubts: ['91001'] }), '91|91001|9100010|');
});

test('a town settles what doubt and missing boundaries leave open; one beyond the state is none', () => {
  assert.equal(at({ county: '92001', town: '9200100001' }), '92|92001||9200100001');
  assert.equal(at({ county: '91001', town: '9200100001' }), '91|91001||');
});

test('provinces, nothing at all, districts', () => {
  assert.equal(at({ county: 'CA-XX' }), 'CA-XX|||');
  assert.equal(at({}), 'nowhere');
  assert.equal(at({ county: '91001', districts: ['d1', 'd2'] }), '91|91001|||d1|d2');
});
