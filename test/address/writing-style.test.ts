import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { withinOneTypo } from '../../src/address/typo.js';
import { parseAddress } from '../../src/address/parse.js';
import type { ParsedAddress } from '../../src/address/parsed.js';
import { foldStreetName, parseStreetName, type StreetName } from '../../src/address/street-name.js';
import { withOneTypo, writeAddress, WRITING_STYLES } from '../../bench/writing-style.js';
import { PLACES } from './places.js';

const STREETS = [
  'SPECTRUM CENTER DR',
  'E MAIN ST',
  'ST PAUL ST',
  'WASHINGTON AVE N',
  '1ST AVE',
  'W 42ND ST',
  'NORTH AVE',
  'W NORTH AVE',
  'BROADWAY',
  'THE ALAMEDA',
  'AVENUE B',
  'US HIGHWAY 7 S',
  'VT ROUTE 100',
  'COUNTY RD 5',
  'COUNTY HIGHWAY AA',
  'INTERSTATE 89 N',
  'MOUNT PHILO RD',
  'FORT ETHAN ALLEN RD',
  'AVENUE OF THE AMERICAS',
  'MARTIN LUTHER KING JR BLVD',
  'OLD STAGE RD',
  'COLLEGE ST',
  'PARK PL',
  'COURT ST',
  'MAPLE STREET EXT',
  'OLD ROUTE 5',
  'TOWN HWY 28',
  'NE 45TH ST',
  'E ST NW',
  'MCDONALD LN',
  'TWENTY SECOND ST',
  'LAKE VIEW TER',
  'HINESBURG HILL RD',
  'BRICK HILL',
  'S 400 W',
];
const NUMBERS = ['1', '12', '200', '12A', '123 1/2', '12-34', 'N12W3456', '45678'];
const TOWNS = [
  { city: 'Irvine', state: 'CA', stateName: 'California', zip: '92618-5003' },
  { city: 'Saint Albans', state: 'VT', stateName: 'Vermont', zip: '05478' },
  { city: 'South Burlington', state: 'VT', stateName: 'Vermont', zip: '' },
  { city: 'Salt Lake City', state: 'UT', stateName: 'Utah', zip: '84101' },
  { city: 'New York', state: 'NY', stateName: 'New York', zip: '10001-1234' },
];

function agrees(parsed: ParsedAddress | undefined, number: string, street: StreetName): boolean {
  return (
    parsed !== undefined &&
    parsed.number === number &&
    foldStreetName(parsed.name) === foldStreetName(street.name) &&
    parsed.suffix === street.suffix &&
    parsed.preDirection === street.preDirection &&
    parsed.postDirection === street.postDirection
  );
}

describe('what is written in a style is read back first', () => {
  for (const style of WRITING_STYLES) {
    test(style, () => {
      for (const column of STREETS) {
        const street = parseStreetName(column, PLACES);
        for (const number of NUMBERS) {
          for (const town of TOWNS) {
            const text = writeAddress({ number, street, ...town }, style);
            const [first] = parseAddress(text, PLACES);
            assert.ok(agrees(first, number, street), `${text} → ${JSON.stringify(first)}`);
            assert.ok(['', town.zip.slice(0, 5)].includes(first?.zip ?? ''), text);
          }
        }
      }
    });
  }
});

test('made-up names are read back in every style', () => {
  const letters = fc.constantFrom(...'ABCDEFGHIKLMNOPRSTUVWY');
  // Five letters and an ending that no suffix, direction or state has.
  const name = fc.string({ unit: letters, minLength: 3, maxLength: 9 }).map((s) => `${s}QUOX`);
  const suffix = fc.constantFrom('ST', 'AVE', 'RD', 'DR', 'LN', 'CT', 'PL', 'BLVD', 'TER', 'CIR');
  const direction = fc.constantFrom('', 'N', 'S', 'E', 'W', 'NE', 'SW');
  const style = fc.constantFrom(...WRITING_STYLES);
  fc.assert(
    fc.property(name, suffix, direction, direction, style, (word, kind, pre, post, how) => {
      const street = { preDirection: pre, name: word, suffix: kind, postDirection: post };
      const town = TOWNS[0] ?? { city: '', state: '', stateName: '', zip: '' };
      const text = writeAddress({ number: '77', street, ...town }, how);
      assert.ok(agrees(parseAddress(text, PLACES)[0], '77', street), text);
    }),
    { numRuns: 3000 },
  );
});

test('a given unit is written and read', () => {
  const street = parseStreetName('MAIN ST');
  const town = TOWNS[0] ?? { city: '', state: '', stateName: '', zip: '' };
  const text = writeAddress({ number: '5', street, unit: 'APT 4', ...town }, 'with-unit');
  assert.equal(parseAddress(text, PLACES)[0]?.unit, 'APT 4');
});

test('a typo is one typo, steady, of every kind, and never the first letter', () => {
  const street = parseStreetName('SPECTRUM CENTER DR');
  const lengths = new Set<number>();
  for (let seed = 0; seed < 200; seed++) {
    const typed = withOneTypo(street, seed);
    assert.deepEqual(withOneTypo(street, seed), typed);
    assert.notEqual(typed.name, street.name);
    assert.ok(withinOneTypo(typed.name, street.name), typed.name);
    assert.equal(typed.name.charAt(0), 'S');
    assert.equal(typed.suffix, 'DR');
    lengths.add(typed.name.length - street.name.length);
  }
  assert.deepEqual([...lengths].sort(), [-1, 0, 1]);
});

test('a typo is one typo in the key as well', () => {
  const street = parseStreetName('MOUNT SAINT HELENS RD');
  for (let seed = 0; seed < 100; seed++) {
    const typed = withOneTypo(street, seed);
    assert.ok(withinOneTypo(foldStreetName(typed.name), foldStreetName(street.name)), typed.name);
  }
});

test('names that may not have a typo stay as they are', () => {
  for (const column of ['ELM ST', '5TH AVE', 'US HIGHWAY 7']) {
    const street = parseStreetName(column);
    assert.equal(withOneTypo(street, 3), street);
  }
});
