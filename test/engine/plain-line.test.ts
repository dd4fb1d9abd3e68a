/** Plain lines are read as the likeliest reading of the whole line is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/address/parse.js';
import type { Gazetteer } from '../../src/address/parsed.js';
import { readPlainPlace, readPlainStreet } from '../../src/engine/locate/locator.js';
import { foldStreetName } from '../../src/address/street-name.js';

const STATES = ['VT', 'CT', 'NE', 'FL', 'AE', 'WA', 'ON'];
const CITIES = [
  ['BURLINGTON', 'ST ALBANS', 'NORTH', 'KEY WEST', 'SECOND', 'AMERICA', 'ROAD', 'US'],
  ['UPPER FALLS', 'FRONT ROYAL', 'PRINCE COUNTY', 'APO', 'MILL ROAD', 'UNITED STATES', 'A'],
].flat();
const GAZETTEER: Gazetteer = {
  stateOf: (words) => (STATES.includes(words) ? words : ''),
  isCity: (state, city) => state !== 'ON' && CITIES.includes(city),
};

/** Words that mean something else than a name, beside some that do not. */
const WORDS = (
  'Main Oak St Ave Rd N North So E Apt Fl Key Front PO Box APO Of The And At 2nd 12 12A 1/2 ' +
  'Route US County CR B O A King 05401 Two FM VT Vermont Fire Lane Old Extension Ext Trailer ' +
  'Luther Martin First Twenty Ne Saint Mt Dr Center Hill Hwy Way Highway Court Rear Ln'
).split(' ');
const PLACES = CITIES.flatMap((city) =>
  STATES.flatMap((state) => [
    `, ${city}, ${state} 05401`,
    `, ${city} ${state} 05401`,
    `,${city.toLowerCase()},${state}`,
    `, ${city} ${state}`,
  ]),
);
const NUMBERS = ['12', '05401', '7', '0012', '1234567'];

/** Holds a line against the whole reading of it; false where it is not plain. */
function holds(number: string, street: string, place: string): boolean {
  const known = readPlainPlace(place, GAZETTEER) ?? null;
  const read = readPlainStreet(street, GAZETTEER);
  if (known === null || read === null || read.name === '') return false;
  const { fold, ...name } = read;
  assert.equal(fold, foldStreetName(name.name), street);
  const line = `${number} ${street}${place}`;
  const [first] = parseAddress(line, GAZETTEER);
  const expected = {
    number: String(Number(number)),
    numberValue: Number(number),
    numberSuffix: '',
    numberHigh: -1,
    ...name,
    unit: '',
    ...known,
    otherPlace: '',
    zip4: '',
    country: '',
    canadianPostalCode: '',
    kind: 'street',
  };
  assert.deepEqual({ ...first }, expected, line);
  return true;
}

test('any three words in front of a plain place', () => {
  let plain = 0;
  let at = 0;
  for (const first of WORDS) {
    for (const second of ['', ...WORDS]) {
      for (const third of ['', ...WORDS]) {
        const street = [first, second, third].filter((word) => word !== '').join(' ');
        at += 1;
        const place = PLACES[at % PLACES.length]!;
        if (holds(NUMBERS[at % NUMBERS.length]!, street, place)) plain += 1;
      }
    }
  }
  assert.ok(plain > 5_000, `${plain} plain lines`);
});

test('any place behind plain streets', () => {
  let plain = 0;
  for (const place of PLACES) {
    for (const street of ['Main St', 'oak', 'N 2nd Ave', 'United Rd', 'Fort 12', 'Second', 'W']) {
      for (const number of NUMBERS) if (holds(number, street, place)) plain += 1;
    }
  }
  assert.ok(plain > 1_000, `${plain} plain lines`);
});

test('what is read with what stands beside it is not plain', () => {
  for (const street of ['Main St Apt 4', '12 Main St', 'A St', 'Main St 4B', 'Main-Oak', 'APO']) {
    assert.equal(readPlainStreet(street, GAZETTEER), null, street);
  }
  for (const place of [
    ', North, VT 05401',
    ', Burlington CT 05401',
    ', Prince County, VT',
    ', America, VT',
    ', Key West, FL 33040',
    ', Burlington, VT 05401-1234',
    ', Burlington, VT, 05401',
    ', Nowhere, VT 05401',
    ', Second, FL 33040',
    ', Burlington, XX 05401',
    ' Burlington, VT 05401',
  ]) {
    assert.equal(readPlainPlace(place, GAZETTEER) ?? null, null, place);
  }
  assert.deepEqual(readPlainPlace(', st. albans, VT', GAZETTEER), undefined);
  assert.deepEqual(readPlainPlace(', Burlington, CT', GAZETTEER), {
    city: 'BURLINGTON',
    state: 'CT',
    zip: '',
  });
});
