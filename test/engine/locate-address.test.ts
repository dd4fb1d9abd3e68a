import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizedAddress } from '../../src/engine/situs.js';
import { isFailure } from '../../src/failure.js';
import {
  dateOf,
  expect,
  LAT,
  LONG_STREET,
  refusal,
  situs,
  LOCATOR,
  PLACES,
} from '../support/located-world.js';
import { isByArea } from '../../src/engine/rate/on-day.js';

test('a door by its point, normalized with its ZIP+4 and without the unit', () => {
  const found = expect('200 spindle center drive suite 3 brookmere qz 97001', 'point', 0);
  assert.deepEqual(found, {
    area: 0,
    precision: 'point',
    lat: LAT,
    lng: 100,
    place: 'Brookmere, QZ 97001-5003, United States',
    houseNumber: '200',
    street: 'Spindle Center Dr',
    city: 'Brookmere',
    postalCode: '97001-5003',
    apart: false,
  });
  expect('200 Spindle Center Dr, QZ 97001', 'point', 0);
  expect('200 Spindle Center Dr, Brookmere, Zephyria', 'point', 0);
});

test('numbers that are no plain integer are found by their text', () => {
  assert.equal(expect('21A Hollyhock Rd, Brookmere, QZ 97001', 'point', 0).houseNumber, '21A');
  expect('12-34 Quince St, Brookmere, QZ 97001', 'point', 0);
  expect('N12W345 Plum Rd, Brookmere, QZ 97001', 'point', 0);
  expect('21 Hollyhock Rd, Brookmere, QZ 97001', 'range', 0);
  expect('4-8 Hollyhock Rd, Brookmere, QZ 97001', 'point', 0);
  expect('21B Hollyhock Rd, Brookmere, QZ 97001', 'range', 0);
  expect('21O Hollyhock Rd, Brookmere, QZ 97001', 'street', 0);
  expect('150O Elder Way, Brookmere, QZ 97001', 'street', 0);
});

test('a range puts the door on its side, in the direction of the numbers', () => {
  const even = expect('150 Elder Way, Brookmere, QZ 97001', 'range', 0);
  const odd = expect('151 Elder Way, Brookmere, QZ 97001', 'range', 0);
  assert.ok(even.lat > LAT && odd.lat < LAT, 'eastward, the left is north');
  assert.ok(Math.abs(even.lng - odd.lng) < 300);
  assert.ok(situs('103 Elder Way, Brookmere, QZ 97001').lng > 19_000, 'numbers fall on the right');
  expect('4 Border Rd, Brookmere, QZ 97001', 'range', 0);
  expect('96 Border Rd, Brookmere, QZ 97001', 'range', 1);
  const listed = expect('77 Listed Rd, Brookmere, QZ 97001', 'range', 1);
  assert.deepEqual([listed.lat, listed.lng], [0, 0]);
});

test('then the ZIP+4, then the street that lies in one tax area, then the ZIP', () => {
  const block = expect('9 Nowhere Ln, Brookmere, QZ 97001-0150', 'zip9', 1);
  assert.deepEqual(
    [normalizedAddress(block), block.houseNumber, block.street],
    ['Brookmere, QZ 97001-0150, United States', '', ''],
  );
  const street = expect('16 Main St, Brookmere, QZ 97001', 'street', 0);
  assert.deepEqual([street.lat, street.street], [0, 'Main St']);
  assert.match(refusal('41 N Main St, QZ 97001'), /overlaps several tax areas/);
  const invented = expect('999 Nowhere Ln, Fenway, QZ 97002-0099', 'postal', 3);
  assert.deepEqual(
    [normalizedAddress(invented), invented.houseNumber, invented.street],
    ['Fenway, QZ 97002-0099, United States', '', ''],
  );
  assert.doesNotMatch(normalizedAddress(situs('999 Nowhere Ln, Atlantis, QZ 97002')), /Atlantis/);
});

test('a ZIP+4 that was sent stays where the door has none, and gives way to its own', () => {
  const zipOf = (address: string): string => situs(address).postalCode;
  assert.equal(zipOf('21A Hollyhock Rd, Brookmere, QZ 97001'), '97001');
  assert.equal(zipOf('21A Hollyhock Rd, Brookmere, QZ 97001-1234'), '97001-1234');
  assert.equal(zipOf('150 Elder Way, Brookmere, QZ 97001-1234'), '97001-1234');
  assert.equal(zipOf('16 Main St, Brookmere, QZ 97001-1234'), '97001-1234');
  assert.equal(zipOf('200 Spindle Center Dr, Brookmere, QZ 97001-1234'), '97001-5003');
});

test('directions and types narrow; what is not said may be missing', () => {
  assert.equal(expect('12 Main St, Brookmere, QZ 97001', 'point', 0).street, 'Main St');
  assert.equal(expect('12 N Main St, Brookmere, QZ 97001', 'point', 0).street, 'N Main St');
  assert.match(refusal('12 Alder, Brookmere, QZ 97001'), /matches several places/);
  expect('12 Alder St, Brookmere, QZ 97001', 'point', 1);
  expect('5 Birch, Brookmere, QZ 97001', 'point', 0);
  expect('200 Spindle Center Ln, Brookmere, QZ 97001', 'point', 0);
  assert.equal(situs('12 Alder Ave, Brookmere, QZ 97001').street, 'Alder Ave');
});

test('a street of another type counts only where the name has no other', () => {
  const found = LOCATOR.locate('12 Alder Ct, Brookmere, QZ 97001', dateOf);
  assert.ok(isFailure(found) || isByArea(found.precision));
});

test('a weaker street with the number does not beat the right street without it', () => {
  assert.match(refusal('40 Main St, QZ 97001'), /matches several places/);
});

test('one address in two tax areas is ambiguous', () => {
  expect('7 Cedar Ct, Brookmere, QZ 97001', 'point', 0);
  // Whether they are taxed alike is not asked, nor claimed.
  const told = /matches several places, which may be taxed differently/;
  assert.match(refusal('8 Cedar Ct, Brookmere, QZ 97001'), told);
});

test('a better name in another place of the ZIP does not beat the door in the place named', () => {
  assert.match(refusal('13 Heath St, Brookmere, QZ 97001'), /matches several places/);
  assert.equal(expect('13 Heath St, Brookmere, QZ', 'point', 0).street, 'N Heath St');
  assert.equal(expect('13 N Heath St, Brookmere, QZ 97001', 'point', 0).street, 'N Heath St');
  expect('13 Heath St, Dale, QZ 97001', 'point', 1);
});

test('a street of another type in another place is not the one asked for', () => {
  assert.equal(expect('230 Lake Brook, Brookmere, QZ 97001', 'point', 0).street, 'Lake Brook Dr');
  assert.equal(expect('230 Lake Brook, Brookmere, QZ', 'point', 0).street, 'Lake Brook Dr');
  expect('230 Lake Ave, Dale, QZ 97001', 'point', 1);
});

test('an opposite direction that has the number casts doubt on streets without direction', () => {
  expect('15 S Tarn Ave, Brookmere, QZ 97001', 'city', 0);
  assert.match(refusal('19 S Tarn Ave, Brookmere, QZ 97001'), /matches several places/);
  expect('17 S Tarn Ave, Brookmere, QZ 97001', 'point', 1);
  expect('15 N Tarn Ave, Brookmere, QZ 97001', 'point', 0);
});

test('a street of another place is no evidence for the place named without a ZIP', () => {
  expect('99 Birch St, Dale, QZ', 'city', 1);
  expect('99 Birch St, Brookmere, QZ', 'street', 0);
});

test('figures behind the ZIP are no ZIP, and a state in the midst is not crossed', () => {
  for (const remark of [', Store 97002', ' (ring twice)', ' 802-555-1234', ', attn 97002 desk']) {
    expect(`12 Main St, Brookmere, QZ 97001${remark}`, 'point', 0);
  }
  for (const text of [
    '12 Main St, Brookmere, QB, Gate 97001',
    '12 Main St, Brookmere QB, c/o Smith 97001',
    '12 Main St, Fenway, QZ 97002, Brookmere, QB 97001',
  ]) {
    assert.match(refusal(text), /QB/, text);
  }
});

test('a ZIP may come first, before the place or before the street', () => {
  for (const text of [
    '97001 Brookmere, QZ, 12 Main St',
    '97001, 12 Main St, Brookmere, QZ',
    '97001 Brookmere QZ, 12 Main St',
    'Brookmere QZ 97001, 12 Main St',
  ]) {
    assert.equal(expect(text, 'point', 0).postalCode, '97001', text);
  }
});

test('streets are read to their end, whatever else is read meanwhile', () => {
  // The range's border takes a look at the cells, with another street behind it in the group.
  assert.equal(expect('96 N Border Rd, Brookmere, QZ 97001', 'range', 1).street, 'N Border Rd');
  assert.equal(expect('96 Border Rd, Brookmere, QZ 97001', 'range', 1).street, 'Border Rd');
  // Dale is not where the source has the street, so that the ZIPs of the city are asked.
  const last = expect(`2698 ${LONG_STREET}, Dale, QZ 97001`, 'point', 0);
  assert.deepEqual(
    [last.lng, last.street, last.postalCode],
    [10_899, 'Longfellow Pike', '97001-1899'],
  );
  assert.equal(situs(`2698 ${LONG_STREET}, Brookmere, QZ 97001`).lng, 10_899);
});

test('one typo is forgiven where it leads to one street alone', () => {
  expect('4 Holyhock Rd, Brookmere, QZ 97001', 'point', 0);
  expect('4 Hollyhokc Rd, Brookmere, QZ 97001', 'point', 0);
  expect('4 Hollyhock Raod, Brookmere, QZ 97001', 'point', 0);
  assert.match(refusal('3 Longmeadoe Rd, Brookmere, QZ 97001'), /matches several places/);
  expect('3 Longmeadow Rd, Brookmere, QZ 97001', 'point', 0);
});

test('a last word that is no part of the street is left aside', () => {
  expect('200 Spindle Center Dr Q, Brookmere, QZ 97001', 'point', 0);
});

test('ZIP and city that contradict one another', () => {
  // The street is in the city alone, and the ZIP's own streets are known: the ZIP is wrong.
  assert.equal(
    expect('200 Spindle Center Dr, Brookmere, QZ 97002', 'point', 0).postalCode,
    '97001-5003',
  );
  // The street is in the ZIP alone, the city's name is no city of ours.
  expect('66 Willow Rd, Nosuchplace, QZ 97002', 'point', 3);
  // Both have it, in different tax areas: no choice.
  assert.match(refusal('66 Sorrel Rd, Fenway, QZ 97001'), /matches several places/);
});

test('a place whose streets are not held is not ruled out', () => {
  // Harborough's ZIP is not covered: the street of that name in Fenway may not be the one.
  assert.match(refusal('66 Willow Rd, Fenway, QZ 97005'), /leads to another/);
  assert.match(refusal('66 Willow Rd, Harborough, QZ 97002'), /leads to another/);
});

test('municipalities without ZIPs are found by either name', () => {
  // The municipality's name is looked up once and remembered.
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal(expect('1 Pine St, Mossford Town, QZ', 'point', 9).city, 'Mossford');
  }
  expect('1 Pine St, Mossford City, QZ 97009', 'point', 2);
  assert.match(refusal('1 Pine St, Mossford, QZ'), /matches several places/);
  const oak = expect('2 Oak St, Mossford, QZ 97009', 'point', 9);
  assert.equal(normalizedAddress(oak), '2 Oak St, Mossford, QZ 97009, United States');
});

test('a town whose doors come without ZIPs has the ZIPs that reach it, and no others', () => {
  // By the post office's name, by a name that is misspelt, and by none.
  const written = '2 Oak St, Moss Junction, QZ 97009, United States';
  assert.equal(normalizedAddress(expect('2 Oak St, Moss Junction, QZ 97009', 'point', 9)), written);
  expect('2 Oak St, Mosford, QZ 97009', 'point', 9);
  expect('2 Oak St, QZ 97009', 'point', 9);
  expect('66 Wilow Rd, Moss Junction, QZ 97009', 'point', 9);
  // The city of the same name is not where the ZIP is.
  expect('1 Pine St, QZ 97009', 'point', 9);
  // Another ZIP has such a door too; where it has none it is a slip of the writer's.
  expect('66 Willow Rd, Mossford, QZ 97009', 'point', 9);
  assert.match(refusal('66 Willow Rd, Mossford, QZ 97002'), /matches several places/);
  assert.match(refusal('5 Tern St, Mossford, QZ 97002'), /matches several places|leads to another/);
  assert.match(refusal('66 Willow Rd, Fenway, QZ 97009'), /matches several places/);
  assert.equal(expect('2 Oak St, Mossford, QZ 97002', 'point', 9).postalCode, '');
});

test('the name that was asked for is written, where it is that of the municipality', () => {
  assert.equal(situs('2 Oak St, Mossford, QZ 97005').city, 'Mossford');
});

test('a street of another place says nothing of a number that it lacks', () => {
  for (const text of ['99 Birch St, Dale, QZ 97001', '200 S Spindle Center Dr, Dale, QZ 97001']) {
    const found = LOCATOR.locate(text, dateOf);
    assert.ok(isFailure(found) || isByArea(found.precision), text);
  }
  expect('99 Birch St, Brookmere, QZ 97001', 'street', 0);
  expect('200 S Spindle Center Dr, Brookmere, QZ 97001', 'point', 0);
  expect('200 Spindle Center Dr, Dale, QZ 97001', 'point', 0);
});

test('a street of another type counts only where no reading has the right one', () => {
  const hill = expect('86 Fairway Hill, Brookmere, QZ 97001', 'point', 1);
  assert.equal(hill.street, 'Fairway Hill Rd');
  expect('86 Fairway Ave, Brookmere, QZ 97001', 'point', 0);
});

test('of a range both ends are looked at', () => {
  assert.match(refusal('7-9 Cedar Ct, Brookmere, QZ 97001'), /matches several places/);
  expect('7-11 Cedar Ct, Brookmere, QZ 97001', 'point', 0);
  expect('5-9 Cedar Ct, Brookmere, QZ 97001', 'point', 1);
});

test('a numbered street without its ending, and a type that stands twice', () => {
  assert.equal(expect('24 N 42 St, Brookmere, QZ 97001', 'point', 0).street, 'N 42nd St');
  expect('200 Spindle Center Dr Drive, Brookmere, QZ 97001', 'point', 0);
});

test('a line of two places is refused, whichever stands last', () => {
  expect('12 Main St, Brookmere, QZ 97001, Brookmere, QZ 97001', 'point', 0);
  for (const first of ['Fenway, QZ 97002', 'Fenway, QZ']) {
    const detail = refusal(`12 Main St, ${first}, Brookmere, QZ 97001`);
    assert.match(detail, /^the address names (?:QZ 97002|FENWAY, QZ), and .* leads to QZ 97001$/);
  }
  assert.ok(isFailure(PLACES.locatePlace('Fenway, QZ 97002, Brookmere, QZ 97001', dateOf)));
});

test('never across a state line, never without what leads to a door', () => {
  assert.match(refusal('12 Main St, Brookmere, QB 97001'), /97001 is not in QB/);
  assert.match(refusal('12 Main St, Brookmere, QZ 97999'), /97999 is not known/);
  assert.match(refusal('PO Box 12, Brookmere, QZ 97001'), /post office box/);
  assert.match(refusal('Main St, Brookmere, QZ 97001'), /house number/);
  assert.match(refusal('12 Main St'), /city and state or a ZIP/);
  assert.match(refusal('12 Main St, QZ'), /city and state or a ZIP/);
  for (const zips of ['97001 97002', '97001-97002', '97001-97002, USA']) {
    assert.match(refusal(`12 Main St, Brookmere, QZ ${zips}`), /^two ZIP codes stand behind/);
  }
  assert.match(refusal('Main St & Alder Ave, Brookmere, QZ 97001'), /intersection/);
  refusal('');
  refusal('x'.repeat(101));
});

test('where the state alone matters, what divides the places of a ZIP does not', () => {
  for (const text of ['41 N Main St, QZ 97001', '8 Cedar Ct, Brookmere, QZ 97001']) {
    assert.match(refusal(text), /overlaps|matches/);
    const found = PLACES.locateInState(text, dateOf);
    assert.ok(!isFailure(found), text);
    assert.match(normalizedAddress(found), /QZ 97001, United States$/);
  }
  const door = '200 Spindle Center Dr, Brookmere, QZ 97001';
  assert.deepEqual(PLACES.locateInState(door, dateOf), LOCATOR.locate(door, dateOf));
  for (const text of ['12 Main St, Brookmere, QB 97001', 'PO Box 12, Brookmere, QZ 97001']) {
    assert.deepEqual(PLACES.locateInState(text, dateOf), LOCATOR.locate(text, dateOf));
  }
});
