/** Meal taxes of single places, as the fact table has them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MealPlace } from '../../src/engine/product/meal-tax.js';
import { at, FACTS, place, shown, UNMAPPED } from '../support/meal-facts.js';

test('meal taxes of single places say nothing of others in their states', () => {
  const told: readonly (readonly [string, MealPlace, string])[] = [
    ['Wildwood', place('34', '009', '3481170'), '3481170=0.02'],
    ['Newark', place('34', '013', '3451000'), '=none'],
    ['Ocean City, Maryland', place('24', '047', '2458225'), '2458225=0.005'],
    ['New Orleans', place('22', '071', '2255000'), `=none ${UNMAPPED}`],
    ['Baton Rouge', place('22', '033', '2205000'), '=none'],
    ['Gatlinburg', place('47', '155', '4728800'), `=none ${UNMAPPED}`],
    ['Whitefish', place('30', '029', '3079825'), `=none ${UNMAPPED}`],
    ['Kalispell', place('30', '029', '3040075'), '=none'],
    ['Big Sky', place('30', '031'), `=none ${UNMAPPED}`],
    ['Bozeman', place('30', '031', '3008950'), '=none'],
    ['Ashland', place('41', '029', '4103050'), `=none ${UNMAPPED}`],
    ['Sun Valley', place('16', '013', '1678850'), `=none ${UNMAPPED}`],
    ['Boise', place('16', '001', '1608830'), '=none'],
    ['Sioux Falls', place('46', '099', '4659020'), `=none ${UNMAPPED}`],
    ['Grand Forks', place('38', '035', '3832060'), `=none ${UNMAPPED}`],
    ['Tupelo', place('28', '081', '2874840'), `=none ${UNMAPPED}`],
    ['Elizabethtown', place('21', '093', '2124274'), `=none ${UNMAPPED}`],
  ];
  for (const [name, where, expected] of told) assert.equal(shown(at(where)), expected, name);
  // Nor of the days before they were read.
  assert.equal(shown(at(place('34', '013', '3451000'), FACTS, 20200101)), '=none');
});

test('a ZIP far from every place with a meal tax is as certain as a door', () => {
  const newark = { stateFips: '34', countyFips: '013', placeGeoid: '3451000' };
  const wildwood = { stateFips: '34', countyFips: '009', placeGeoid: '3481170' };
  const byZip = { ...place('34', '013', '3451000'), certain: false };
  assert.equal(shown(at({ ...byZip, spots: [newark] })), '=none');
  assert.equal(shown(at({ ...byZip, spots: [newark, wildwood] })), '=none LOCATION_NOT_RESOLVED');
  assert.equal(shown(at(byZip)), '=none LOCATION_NOT_RESOLVED');
});

test("Virginia's meals: Richmond since 2018, Arlington since July 2025, Chesapeake", () => {
  const richmond = place('51', '760', '5167000');
  assert.equal(shown(at(richmond)), `5167000=0.075 ${UNMAPPED}`);
  assert.equal(shown(at(place('51', '013'))), `51013=0.05 ${UNMAPPED}`);
  assert.equal(shown(at(place('51', '013'), FACTS, 20250630)), `51013=0.04 ${UNMAPPED}`);
  assert.equal(shown(at(place('51', '550', '5116000'))), `51550=0.06 ${UNMAPPED}`);
});
