import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaNames, DoorSituator } from '../../src/ingest/street/situate.js';

/** St. Rowan and Elm meet at 0; Far County begins 100 km east of there. */
function situator(): DoorSituator {
  const tuple = (county: string, place: string) => {
    return { state: '96', county, place, town: '', districts: [] };
  };
  const named = (geoid: string, name: string) => {
    return { geoid, name, fullName: `${name} city` };
  };
  const known = areaNames({
    tuples: [tuple('96001', '9600100'), tuple('96001', '9600200'), tuple('96003', '9600300')],
    places: [named('9600100', 'St. Rowan'), named('9600200', 'Elm'), named('9600300', 'Far')],
    counties: [
      { fips: '96001', fullName: 'Near County' },
      { fips: '96003', fullName: 'Far County' },
    ],
  });
  return new DoorSituator((_lat, lng) => (lng < 0 ? 0 : lng < 1_000_000 ? 1 : 2), known);
}

test('a door over the border is in the municipality that it names, however that is spelled', () => {
  const doors = situator();
  for (const name of ['St. Rowan', 'SAINT ROWAN', 'st rowan city']) {
    assert.equal(doors.areaAt(0, 100, name), 0, name);
  }
  assert.equal(doors.areaAt(0, 1_060, 'Saint Rowan'), 0, '118 metres');
  assert.equal(doors.areaAt(0, 2_000, 'Saint Rowan'), 1);
  assert.equal(doors.areaAt(0, 100, 'Elm'), 1);
});

test('a door far from the municipality and the county that it names has no use', () => {
  const doors = situator();
  const isAstray = (lng: number, municipality: string, county: string): boolean =>
    doors.isAstray(0, lng, doors.areaAt(0, lng, municipality), { municipality, county });
  assert.ok(isAstray(500_000, 'Far', 'FAR'));
  assert.ok(!isAstray(999_000, 'Far', 'FAR'), 'near the line');
  assert.ok(!isAstray(500_000, 'Far', 'Near'));
  assert.ok(!isAstray(500_000, 'Elm', 'Far'));
  assert.ok(!isAstray(500_000, 'Far', ''));
  assert.ok(!isAstray(500_000, 'Far', 'Nowhere'), 'not known');
  assert.ok(!isAstray(500_000, 'Unincorporated', 'Far'), 'no municipality');
});

test('where a town is drawn outside its county, municipality and county of an address decide', () => {
  const tuple = (county: string, town: string) => {
    return { state: '96', county, place: '', town, districts: [] };
  };
  const named = (geoid: string, name: string) => {
    return { geoid, name, fullName: `${name} town` };
  };
  const [holly, ludlow] = [named('9600300001', 'Holly'), named('9600100002', 'Ludlow')];
  // Between both towns, Holly reaches a kilometre into the county of Ludlow.
  const known = areaNames({
    tuples: [
      tuple('96001', ludlow.geoid),
      tuple('96001', holly.geoid),
      tuple('96003', holly.geoid),
    ],
    places: [holly, ludlow],
    counties: [
      { fips: '96001', fullName: 'Near County' },
      { fips: '96003', fullName: 'Far County' },
    ],
  });
  const doors = new DoorSituator((_lat, lng) => (lng < 0 ? 0 : lng < 9_000 ? 1 : 2), known);
  assert.equal(doors.areaAt(0, 4_000, 'LUDLOW', 'NEAR'), 0);
  assert.equal(doors.areaAt(0, 4_000, 'HOLLY', 'FAR'), 2);
  assert.equal(doors.areaAt(0, 4_000, 'LUDLOW', 'FAR'), 1, 'the record contradicts itself');
  assert.equal(doors.areaAt(0, 4_000, 'LUDLOW'), 1);
  assert.equal(doors.areaAt(0, 12_000, 'LUDLOW', 'NEAR'), 2, 'beyond, the boundaries agree');
});
