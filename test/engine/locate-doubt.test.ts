import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, refusal, situs } from '../support/located-world.js';

test('a street without the number is not certain where another of the name may be meant', () => {
  // Sedge Dr, in another tax area, has the number.
  assert.match(refusal('33 Sedge Rd, QZ 97001'), /overlaps several tax areas/);
  assert.equal(situs('33 Sedge Rd, Brokmere, QZ 97001').precision, 'city');
  expect('35 Sedge Rd, QZ 97001', 'street', 0);
  // The road that was written lies in two tax areas, the one without its direction in one.
  assert.match(refusal('55 US Route 4 E, QZ 97001'), /overlaps several tax areas/);
  expect('55 US Route 4, QZ 97001', 'street', 1);
});

test('a street of another type is doubted where a name one letter away has the type', () => {
  // Fernview Ave, in another tax area, has the number.
  assert.match(
    refusal('41 Fenview Ave, QZ 97001'),
    /matches several places, which may be taxed differently/,
  );
  expect('41 Fenview Dr, QZ 97001', 'point', 0);
  expect('41 Fernview Ave, QZ 97001', 'point', 1);
  // It has it in the same one, or not at all.
  expect('45 Fenview Ave, QZ 97001', 'point', 0);
  expect('43 Fenview Ave, QZ 97001', 'point', 0);
});

test('a number that the town named lacks may be new there, though its ZIP has it in another', () => {
  assert.match(
    refusal('53 Yarrow Rd, Dale, QZ 97001'),
    /leads to another, which may be taxed differently/,
  );
  expect('51 Yarrow Rd, Dale, QZ 97001', 'point', 1);
  expect('53 Yarrow Rd, Brookmere, QZ 97001', 'point', 0);
  expect('53 Yarrow Rd, QZ 97001', 'point', 0);
  // Or on its street of another type.
  assert.match(
    refusal('55 Yarrow St, Dale, QZ 97001'),
    /leads to another, which may be taxed differently/,
  );
  expect('55 Yarrow Rd, Dale, QZ 97001', 'point', 1);
  // The town has no such street.
  expect('31 Sedge Rd, Dale, QZ 97001', 'point', 0);
});

test('a door outside the place named and under another ZIP is not the one asked for', () => {
  assert.match(refusal('9 Osier Ln, Dale, QZ 97001'), /leads to another, which may be/);
  expect('9 Osier Ln, Brookmere, QZ 97001', 'point', 0);
  expect('9 Osier Ln, Dale, QZ 97002', 'point', 0);
});

test('of one address in two places that is meant which is named, unless all of the ZIP is', () => {
  expect('11 Teasel Ln, Dale, QZ 97001', 'point', 1);
  expect('11 Teasel Ln Dale QZ 97001', 'point', 1);
  assert.match(refusal('11 Teasel Ln, Brookmere, QZ 97001'), /matches several places/);
  assert.match(refusal('11 Teasel Ln, QZ 97001'), /matches several places/);
});

test('without a ZIP the street in the place named may have the number, though a neighbour has it', () => {
  assert.match(refusal('15 Teasel Ct, Dale, QZ'), /matches several places/);
  expect('15 Teasel Ct, Fenway, QZ', 'point', 3);
  expect('13 Teasel Ct, Dale, QZ', 'point', 1);
});
