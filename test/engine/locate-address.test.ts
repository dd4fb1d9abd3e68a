import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CellIndex } from '../../src/dataset/cell-index.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { CityRecord, StateRecord, ZipRecord } from '../../src/dataset/records.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { locateAddress } from '../../src/engine/locate-address.js';
import type { Situs } from '../../src/engine/situs.js';
import { isFailure } from '../../src/failure.js';
import type { AddressPoint } from '../../src/ingest/source/address-point.js';
import type { StreetRange } from '../../src/ingest/source/street-ranges-model.js';
import { stateGazetteer } from '../../src/ingest/street-gazetteer.js';
import { StreetIndexBuilder } from '../../src/ingest/street-index.js';
import type { DateInt } from '../../src/tax/date.js';
import { memoryDataset } from '../support/memory-dataset.js';
import { streetTableOf } from '../support/street-table.js';

/**
 * The world: state QZ. Areas are columns of one degree: the n-th is area n of the memory dataset.
 * Brookmere (ZIP 97001, area 0) has a remainder (area 1); Fenway is ZIP 97002 (area 3).
 */
const LAT = 10_500_000;
const BORDER = 1_000_000;

function door(
  number: string, street: string, lng: number, more: Partial<AddressPoint> = {},
): AddressPoint {
  return {
    number, street, unit: '', city: 'Brookmere', municipality: '', county: '', state: 'QZ',
    zip: '97001', zip4: '', lat: LAT, lng, source: 'invented', ...more,
  };
}

const FENWAY = { city: 'Fenway', zip: '97002' };
const TOWN = { city: '', municipality: 'MOSSFORD TOWN', zip: '' };
const CITY = { city: '', municipality: 'MOSSFORD CITY', zip: '' };
/** Another place, area 1, in Brookmere's ZIP. */
const DALE = { city: '', municipality: 'DALE' };

const DOORS: readonly AddressPoint[] = [
  door('200', 'SPINDLE CENTER DR', 100, { zip4: '5003' }),
  door('12', 'MAIN ST', 200), door('14', 'MAIN ST', 210),
  door('12', 'N MAIN ST', 300), door('40', 'N MAIN ST', BORDER + 300),
  door('12', 'ALDER AVE', 400), door('12', 'ALDER ST', BORDER + 400),
  door('5', 'BIRCH ST', 500), door('5', 'BIRCH LN', 510),
  door('7', 'CEDAR CT', 600), door('9', 'CEDAR CT', BORDER + 600),
  door('8', 'CEDAR CT', 700), door('8', 'CEDAR CT', BORDER + 700),
  door('3', 'LONGMEADOW RD', 800), door('3', 'LONGMEADON RD', BORDER + 800),
  door('4', 'HOLLYHOCK RD', 900), door('21A', 'HOLLYHOCK RD', 910),
  door('12-34', 'QUINCE ST', 920), door('N12W345', 'PLUM RD', 930),
  door('7', 'LEVEE LN', 3_000_100, FENWAY), door('12', 'MAIN ST', 3_000_200, FENWAY),
  door('66', 'WILLOW RD', 3_000_300, FENWAY), door('66', 'SORREL RD', 100),
  door('66', 'SORREL RD', 3_000_400, FENWAY),
  door('1', 'PINE ST', 9_000_000, TOWN), door('2', 'OAK ST', 9_000_100, TOWN),
  door('1', 'PINE ST', 2_000_000, CITY),
  door('13', 'N HEATH ST', 1_000), door('13', 'HEATH ST', BORDER + 1_000, DALE),
  door('15', 'N TARN AVE', 1_100), door('17', 'TARN AVE', BORDER + 1_100),
  door('19', 'N TARN AVE', 1_120), door('19', 'TARN AVE', BORDER + 1_120),
  door('230', 'LAKE BROOK DR', 1_200), door('230', 'LAKE ST', BORDER + 1_200, DALE),
];

const SIDE = { zip: '97001', zip4: '', wideSetback: false } as const;
const RANGES: readonly StreetRange[] = [{
  street: 'ELDER WAY', city: 'Brookmere', municipality: '', state: 'QZ',
  left: { ...SIDE, from: 100, to: 198, parity: 'even' },
  right: { ...SIDE, from: 199, to: 101, parity: 'odd' },
  geometry: [LAT, 10_000, LAT, 20_000], area: null, begin: null, source: 'invented',
}, {
  street: 'BORDER RD', city: 'Brookmere', municipality: '', state: 'QZ',
  left: { ...SIDE, from: 2, to: 98, parity: 'even' }, right: null,
  geometry: [LAT, BORDER - 50_000, LAT, BORDER + 50_000], area: null, begin: null, source: '',
}, {
  street: 'LISTED RD', city: '', municipality: '', state: 'QZ',
  left: { ...SIDE, from: 1, to: 99_999, parity: 'both' }, right: null,
  geometry: [], area: 1, begin: 20240101 as DateInt, source: 'list',
}];

const BASE = memoryDataset();
const MORE_CITIES = new Map<string, CityRecord>([
  ['QZ|MOSSFORD', { name: 'Mossford', zips: [97009], areas: [2] }],
  ['QZ|DALE', { name: 'Dale', zips: [97001], areas: [1] }],
  ['QZ|HARBOROUGH', { name: 'Harborough', zips: [97005, 97006], areas: [2] }],
]);
const MORE_STATES: readonly StateRecord[] = [
  ...BASE.states(),
  { code: 'QB', fips: '98', name: 'Borealis', country: 'USA', timeZone: 'UTC', rules: [] },
];
const MOSSFORD_ZIP: ZipRecord = { zip: 97009, state: 'QZ', cities: ['MOSSFORD'], parts: [] };

function world(): Dataset {
  const cells: CellIndex = BASE.cells;
  const builder = new StreetIndexBuilder(
    (lat, lng) => cells.locate(lat, lng), stateGazetteer(MORE_STATES),
  );
  for (const one of DOORS) builder.addPoint(one);
  for (const range of RANGES) builder.addRange(range);
  builder.addZip9({
    state: 'QZ', zipLow: 97001, zipHigh: 97001, plus4Low: 100, plus4High: 199, area: 1,
    begin: 20240101 as DateInt,
  });
  const table = new Map(builder.entries());
  // One buffer for every answer, as the store behind does it: views are overwritten.
  const shared = new Uint8Array(65_536);
  const streets = new StreetIndex(streetTableOf((key) => {
    const bytes = table.get(key);
    shared.fill(255);
    if (bytes === undefined) return null;
    shared.set(bytes);
    return shared.subarray(0, bytes.length);
  }));
  return {
    ...BASE, streets, cells, states: () => MORE_STATES,
    zip: (zip) => (zip === 97009 ? MOSSFORD_ZIP : BASE.zip(zip)),
    city: (state, name) => MORE_CITIES.get(`${state}|${name}`) ?? BASE.city(state, name),
  };
}

const WORLD = world();
const dateOf = (): DateInt => 20260101 as DateInt;

function situs(text: string): Situs {
  const found = locateAddress(WORLD, text, dateOf);
  assert.ok(!isFailure(found), `${text}: ${JSON.stringify(found)}`);
  return found;
}

function refusal(text: string): string {
  const found = locateAddress(WORLD, text, dateOf);
  assert.ok(isFailure(found), `${text}: ${JSON.stringify(found)}`);
  assert.equal(found.failure, 'address-incomplete');
  return found.detail ?? '';
}

function expect(text: string, precision: string, area: number): Situs {
  const found = situs(text);
  assert.deepEqual([found.precision, found.area], [precision, area], text);
  return found;
}

test('a door by its point, normalized with its ZIP+4 and without the unit', () => {
  const found = expect('200 spindle center drive suite 3 brookmere qz 97001', 'point', 0);
  assert.deepEqual(found, {
    area: 0, precision: 'point', lat: LAT, lng: 100,
    normalizedAddress: '200 Spindle Center Dr, Brookmere, QZ 97001-5003, United States',
    houseNumber: '200', street: 'Spindle Center Dr', city: 'Brookmere', postalCode: '97001-5003',
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
  expect('9 Nowhere Ln, Brookmere, QZ 97001-0150', 'zip9', 1);
  const street = expect('16 Main St, Brookmere, QZ 97001', 'street', 0);
  assert.deepEqual([street.lat, street.street], [0, 'Main St']);
  assert.match(refusal('41 N Main St, QZ 97001'), /overlaps several tax areas/);
  expect('999 Nowhere Ln, Fenway, QZ 97002', 'postal', 3);
});

test('directions and types narrow; what is not said may be missing', () => {
  assert.equal(expect('12 Main St, Brookmere, QZ 97001', 'point', 0).street, 'Main St');
  assert.equal(expect('12 N Main St, Brookmere, QZ 97001', 'point', 0).street, 'N Main St');
  assert.match(refusal('12 Alder, Brookmere, QZ 97001'), /matches places with different taxes/);
  expect('12 Alder St, Brookmere, QZ 97001', 'point', 1);
  expect('5 Birch, Brookmere, QZ 97001', 'point', 0);
  expect('200 Spindle Center Ln, Brookmere, QZ 97001', 'point', 0);
  assert.equal(situs('12 Alder Ave, Brookmere, QZ 97001').street, 'Alder Ave');
});

test('a street of another type counts only where the name has no other', () => {
  const found = locateAddress(WORLD, '12 Alder Ct, Brookmere, QZ 97001', dateOf);
  assert.ok(isFailure(found) || found.precision === 'postal');
});

test('a weaker street with the number does not beat the right street without it', () => {
  assert.match(refusal('40 Main St, QZ 97001'), /matches places with different taxes/);
});

test('one address in two tax areas is ambiguous', () => {
  expect('7 Cedar Ct, Brookmere, QZ 97001', 'point', 0);
  assert.match(refusal('8 Cedar Ct, Brookmere, QZ 97001'), /matches places/);
});

test('a better name in another place of the ZIP does not beat the door in the place named', () => {
  assert.match(refusal('13 Heath St, Brookmere, QZ 97001'), /matches places with different taxes/);
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
  expect('15 S Tarn Ave, Brookmere, QZ 97001', 'postal', 0);
  assert.match(refusal('19 S Tarn Ave, Brookmere, QZ 97001'), /matches places/);
  expect('17 S Tarn Ave, Brookmere, QZ 97001', 'point', 1);
  expect('15 N Tarn Ave, Brookmere, QZ 97001', 'point', 0);
});

test('a street of another place is no evidence for the place named without a ZIP', () => {
  expect('99 Birch St, Dale, QZ', 'postal', 1);
  expect('99 Birch St, Brookmere, QZ', 'street', 0);
});

test('figures behind the ZIP are no ZIP, and a state in the midst is not crossed', () => {
  for (const remark of [', Store 97002', ' (ring twice)', ' 802-555-1234', ', attn 97002 desk']) {
    expect(`12 Main St, Brookmere, QZ 97001${remark}`, 'point', 0);
  }
  for (const text of [
    '12 Main St, Brookmere, QB, Gate 97001', '12 Main St, Brookmere QB, c/o Smith 97001',
    '12 Main St, Fenway, QZ 97002, Brookmere, QB 97001',
  ]) {
    assert.match(refusal(text), /QB/, text);
  }
});

test('a ZIP may come first, before the place or before the street', () => {
  for (const text of [
    '97001 Brookmere, QZ, 12 Main St', '97001, 12 Main St, Brookmere, QZ',
    '97001 Brookmere QZ, 12 Main St', 'Brookmere QZ 97001, 12 Main St',
  ]) {
    assert.equal(expect(text, 'point', 0).postalCode, '97001', text);
  }
});

test('one typo is forgiven where it leads to one street alone', () => {
  expect('4 Holyhock Rd, Brookmere, QZ 97001', 'point', 0);
  expect('4 Hollyhokc Rd, Brookmere, QZ 97001', 'point', 0);
  expect('4 Hollyhock Raod, Brookmere, QZ 97001', 'point', 0);
  assert.match(refusal('3 Longmeadoe Rd, Brookmere, QZ 97001'), /matches places/);
  expect('3 Longmeadow Rd, Brookmere, QZ 97001', 'point', 0);
});

test('a last word that is no part of the street is left aside', () => {
  expect('200 Spindle Center Dr Q, Brookmere, QZ 97001', 'point', 0);
});

test('ZIP and city that contradict one another', () => {
  // The street is in the city alone, and the ZIP's own streets are known: the ZIP is wrong.
  assert.equal(expect('200 Spindle Center Dr, Brookmere, QZ 97002', 'point', 0).postalCode,
    '97001-5003');
  // The street is in the ZIP alone, the city's name is no city of ours.
  expect('66 Willow Rd, Nosuchplace, QZ 97002', 'point', 3);
  // Both have it, in different tax areas: no choice.
  assert.match(refusal('66 Sorrel Rd, Fenway, QZ 97001'), /matches places/);
});

test('a place whose streets are not held is not ruled out', () => {
  // Harborough's ZIP is not covered: the street of that name in Fenway may not be the one.
  assert.match(refusal('66 Willow Rd, Fenway, QZ 97005'), /leads to another/);
  assert.match(refusal('66 Willow Rd, Harborough, QZ 97002'), /leads to another/);
});

test('municipalities without ZIPs are found by either name', () => {
  expect('1 Pine St, Mossford Town, QZ', 'point', 9);
  expect('1 Pine St, Mossford City, QZ 97009', 'point', 2);
  assert.match(refusal('1 Pine St, Mossford, QZ'), /matches places/);
  const oak = expect('2 Oak St, Mossford, QZ 97009', 'point', 9);
  assert.equal(oak.normalizedAddress, '2 Oak St, Mossford, QZ 97009, United States');
});

test('never across a state line, never without what leads to a door', () => {
  assert.match(refusal('12 Main St, Brookmere, QB 97001'), /97001 is not in QB/);
  assert.match(refusal('12 Main St, Brookmere, QZ 97999'), /97999 is not known/);
  assert.match(refusal('PO Box 12, Brookmere, QZ 97001'), /post office box/);
  assert.match(refusal('Main St, Brookmere, QZ 97001'), /house number/);
  assert.match(refusal('12 Main St'), /city and state or a ZIP/);
  assert.match(refusal('12 Main St, QZ'), /city and state or a ZIP/);
  assert.match(refusal('Main St & Alder Ave, Brookmere, QZ 97001'), /intersection/);
  refusal('');
  refusal('x'.repeat(101));
});
