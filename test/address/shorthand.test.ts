/** Short ways of writing, and what a direction or a number sign belongs to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/address/parse.js';
import { PLACES } from './places.js';

/** Direction, name, type and direction of the likeliest reading, and its city. */
function brief(text: string): string {
  const [reading] = parseAddress(text, PLACES);
  assert.ok(reading, text);
  const { preDirection, name, suffix, postDirection, city } = reading;
  return [preDirection, name, suffix, postDirection, city].join('|');
}

test('"No." before an ordinal is a direction', () => {
  assert.equal(brief('12 No. 71st St, Stowe VT'), 'N|71ST|ST||STOWE');
  assert.equal(brief('12 So 3rd St Stowe VT'), 'S|3RD|ST||STOWE');
});

test('a short direction behind a type is the street’s, and one in full may be the city’s', () => {
  assert.equal(brief('12 Main St W Nosuch VT'), '|MAIN|ST|W|NOSUCH');
  assert.equal(brief('5 Main St E Montpelier VT'), '|MAIN|ST||E MONTPELIER');
});

test('a number sign stands before the number of a road, or before a unit', () => {
  assert.equal(brief('4000 US Route #7 S, Shelburne VT'), '|US HIGHWAY 7||S|SHELBURNE');
  assert.equal(brief('123 VT Rte#100, Stowe VT'), '|STATE ROUTE 100|||STOWE');
  assert.equal(brief('123 Rt. # 100, Stowe VT'), '|STATE ROUTE 100|||STOWE');
  assert.equal(brief('123 Shelburne Hwy #7, Stowe VT'), '|SHELBURNE|HWY||STOWE');
});

test('units may be listed', () => {
  assert.equal(brief('123 Main St Suites 100 & 200, Stowe VT'), '|MAIN|ST||STOWE');
  assert.equal(brief('123 Main St, Units A and B, Stowe VT'), '|MAIN|ST||STOWE');
  assert.equal(brief('123 Main St Apts 1-3 Stowe VT'), '|MAIN|ST||STOWE');
});
