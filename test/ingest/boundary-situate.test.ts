import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Position } from '../../src/geo/polygon.js';
import type { BoundaryFeature, LayerHits } from '../../src/ingest/boundary/overlay.js';
import {
  createSituate, neighboursOf, type SituateInput,
} from '../../src/ingest/boundary/situate.js';
import type { PlaceFact } from '../../src/ingest/model.js';

function place(geoid: string, ...counties: readonly string[]): PlaceFact {
  return { geoid, name: 'X', fullName: 'X city', state: 'ZZ', counties, independent: false };
}

const INPUT: SituateInput = {
  places: [place('9100010', '91001', '91003'), place('9100020', '91510', '91001')],
  placesLoaded: new Set(['91']),
  placeOfCounty: new Map([['91510', '9100020'], ['91520', '9100099'], ['92510', '9200020']]),
  provinces: new Set(['CA-XX']),
  neighbours: new Map([
    ['91510', ['92001', '91520', '91003', '91001']], ['91520', ['91003']], ['91009', ['91003']],
    ['92510', ['92001']],
  ]),
};

function at(hits: Partial<LayerHits>, input = INPUT): string {
  const tuple = createSituate(input)(
    { county: '', place: '', town: '', districts: [], doubts: [], ...hits });
  return tuple === null
    ? 'nowhere'
    : [tuple.state, tuple.county, tuple.place, tuple.town, ...tuple.districts].join('|');
}

test('a place keeps the county that holds the spot if it is one of its own', () => {
  assert.equal(at({ county: '91003', place: '9100010' }), '91|91003|9100010|');
});

test('in a sliver of a foreign county a place takes its own next to it, else its largest', () => {
  assert.equal(at({ county: '91009', place: '9100010' }), '91|91003|9100010|');
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

test('land of an independent city outside its finer boundary is the county beside it', () => {
  assert.equal(at({ county: '91510' }), '91|91003||');
  assert.equal(at({ county: '91510', doubts: ['91003'] }), '91|91003|?|');
});

test('an independent city without a boundary of its own is its county', () => {
  assert.equal(at({ county: '91520' }), '91|91520|9100099|');
  assert.equal(at({ county: '92510' }), '92|92510|9200020|');
  const { neighbours: _, ...alone } = INPUT;
  assert.equal(at({ county: '91510' }, alone), '91|91510|9100020|');
});

test('land that a city leaves out of a county all its own is the only other county beside it', () => {
  const input: SituateInput = {
    ...INPUT,
    cityCounties: new Set(['91005', '91007', '91009', '92003']),
    neighbours: new Map([
      ['91005', ['91007', '92001', '91510', '91001']], ['91007', ['91005']],
      ['91009', ['91001', '91003']], ['92003', ['92001']],
    ]),
  };
  assert.equal(at({ county: '91005' }, input), '91|91001||');
  assert.equal(at({ county: '91005', doubts: ['91001'] }, input), '91|91001|?|');
  assert.equal(at({ county: '91007' }, input), '91|91007||');
  assert.equal(at({ county: '91009' }, input), '91|91009||');
  assert.equal(at({ county: '92003' }, input), '92|92003|?|');
});

test('outside places: none; unknown without boundaries or on doubtful land of its county', () => {
  assert.equal(at({ county: '91001' }), '91|91001||');
  assert.equal(at({ county: '92001' }), '92|92001|?|');
  assert.equal(at({ county: '91001', doubts: ['91001'] }), '91|91001|?|');
  assert.equal(at({ county: '91001', doubts: ['91003'] }), '91|91001||');
  assert.equal(at({ county: '91001', place: '9100010', doubts: ['91001'] }), '91|91001|9100010|');
});

test('a town settles what doubt and missing boundaries leave open; one beyond the state is none',
  () => {
    assert.equal(at({ county: '92001', town: '9200100001' }), '92|92001||9200100001');
    assert.equal(at({ county: '91001', town: '9200100001' }), '91|91001||');
  });

test('provinces, nothing at all, districts', () => {
  assert.equal(at({ county: 'CA-XX' }), 'CA-XX|||');
  assert.equal(at({}), 'nowhere');
  assert.equal(at({ county: '91001', districts: ['d1', 'd2'] }), '91|91001|||d1|d2');
});

test('neighbours share edges, not just corners; the longest border comes first', () => {
  const feature = (key: string, ring: readonly Position[]): BoundaryFeature => {
    const polygon = createPolygon(key, [ring]);
    assert.ok(polygon);
    return { polygon, properties: {} };
  };
  const found = neighboursOf([
    feature('a', [[0, 0], [10, 0], [10, 10], [10, 40], [0, 40]]),
    feature('b', [[10, 0], [20, 0], [20, 10], [10, 10]]),
    feature('c', [[10, 10], [20, 10], [20, 40], [10, 40]]),
    feature('d', [[20, 40], [30, 40], [30, 50], [20, 50]]),
  ]);
  assert.deepEqual([...found].sort(), [['a', ['c', 'b']], ['b', ['a', 'c']], ['c', ['a', 'b']]]);
});
