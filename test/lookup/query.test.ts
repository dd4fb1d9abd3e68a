/** Queries of lookups: which parameters count, and what refuses them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  GRANT_ALL,
  GRANT_CANADA,
  GRANT_GEO,
  GRANT_HISTORICAL,
  GRANT_PRODUCT,
} from '../../src/pool/types.js';
import { isFailure } from '../../src/failure.js';
import { address, kindOf, parse, type Row, table } from './parsed.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';
import { formatAsked } from '../../src/api/lookup/query-string.js';

test('spaces as + or %20 and bare or encoded commas read alike', () => {
  const line = '200 Spindle Dr, Brookmere, QZ 97001';
  assert.equal(address('address=200+Spindle+Dr,+Brookmere,+QZ+97001'), line);
  assert.equal(address('address=200%20Spindle%20Dr%2C%20Brookmere%2c+QZ+97001'), line);
  assert.equal(address('%61ddress=1%2B1'), '1+1');
});

test('UTF-8 is read encoded or bare, and invalid UTF-8 is refused', () => {
  assert.equal(address('address=Ca%C3%B1on'), 'Cañon');
  assert.equal(address(`address=${Buffer.from('Cañon 1').toString('latin1')}`), 'Cañon 1');
  table([
    ['address=%C3', 'invalid-format'],
    ['address=%', 'invalid-format'],
    ['address=%zz', 'invalid-format'],
    ['address=%ED%A0%80', 'invalid-format'],
    ['address=\xff', 'invalid-format'],
    ['other=%zz&postalcode=97001', 'postal'],
  ]);
});

test('of a repeated parameter the first value that is not empty counts', () => {
  assert.equal(address('address=1+A+St&address=2+B+St'), '1 A St');
  assert.equal(address('address=&address=2+B+St'), '2 B St');
});

test('a refusal names its parameter as it is written, and what it may be', () => {
  const told = (text: string, version = 60): string => {
    const parsed = parseQuery(text, version, GRANT_ALL);
    return isFailure(parsed) ? (parsed.detail ?? '') : 'accepted';
  };
  const rows: readonly Row[] = [
    ['postalcode=1', 'Parameter postalcode: five digits.'],
    [
      'postalcode=97001&county=%00',
      'Parameter county: up to 50 characters, no control characters.',
    ],
    [
      'postalcode=97001&city=12',
      'Parameter city: up to 50 characters with a letter among them, no control characters.',
    ],
    [
      'postalcode=97001&state=%07',
      'Parameter state: up to 50 characters with a letter among them, no control characters.',
    ],
    ['address=%20', 'Parameter address: 1 to 100 characters, not blank, no control characters.'],
    ['address=', 'Parameter address: 1 to 100 characters, not blank, no control characters.'],
    ['lat=91&lng=0', 'Parameter lat: a number from -90 to 90.'],
    ['sat_item_total=-1', 'Parameter sat_item_total: a number, 0 or more.'],
    ['address=%zz', 'Parameter address: not valid UTF-8.'],
  ];
  for (const [text, expected] of rows) assert.equal(told(text), expected, text);
  assert.equal(told('postalcode=97001&state=Ohio', 40), 'Parameter state: two capital letters.');
  assert.equal(
    told(`postalcode=97001&adjustment=${'a'.repeat(101)}`, 50),
    'Parameter adjustment: up to 100 characters.',
  );
});

test('unknown parameters, empty pairs and other cases of a name are ignored', () => {
  table([
    ['&&=&=x&utm=1&postalcode=97001&', 'postal'],
    ['Postalcode=97001', 'invalid-postal-code'],
    ['postalcode', 'invalid-postal-code'],
    ['__proto__=1&postalcode=97001', 'postal'],
    ['constructor=1&toString=2&postalcode=97001', 'postal'],
  ]);
});

test('address goes before coordinates, coordinates before postal code', () => {
  table([
    ['postalcode=97001&lat=1&lng=2&address=x', 'address'],
    ['postalcode=97001&lat=1&lng=2', 'point'],
    ['postalcode=97001&lat=1', 'postal'],
    ['lat=1', 'invalid-postal-code'],
    ['lng=1', 'invalid-postal-code'],
    ['', 'invalid-postal-code'],
    ['state=QZ&city=Brookmere', 'invalid-postal-code'],
    ['address=', 'address-incomplete'],
    ['address=&postalcode=97001', 'postal'],
    ['address=+%09+', 'address-incomplete'],
  ]);
});

test('defaults are those of the specification', () => {
  assert.deepEqual(parse('address=x'), {
    kind: 'address',
    address: 'x',
    options: {
      country: 'USA',
      date: null,
      addressDetailExtended: false,
      shippingExtended: false,
      taxabilityCode: null,
      satItemTotal: null,
    },
  });
});

test('versions ignore the parameters they do not have, however malformed', () => {
  const late = 'taxabilityCode=---&addressDetailExtended=7&shippingExtended=%zz';
  const later = 'lat=x&lng=y&countryCode=1&historical=1&sat_item_total=z&county=%zz&stateCode=1';
  table(
    [
      [`address=x&${late}`, 'address'],
      ['lat=1&lng=2', 'point'],
    ],
    50,
  );
  table(
    [
      [`address=x&${late}&${later}`, 'address'],
      ['lat=1&lng=2', 'invalid-postal-code'],
    ],
    40,
  );
  table([['lat=1&lng=2&postalcode=97001', 'postal']], 10);
});

test('entitlements are asked after the form is right', () => {
  const without = (grant: number, text: string): string =>
    kindOf(parse(text, 60, GRANT_ALL & ~grant));
  assert.equal(without(GRANT_GEO, 'address=x'), 'feature-not-enabled');
  assert.equal(without(GRANT_GEO, 'lat=1&lng=1'), 'feature-not-enabled');
  assert.equal(without(GRANT_GEO, 'postalcode=97001'), 'postal');
  assert.equal(without(GRANT_GEO, 'lat=91&lng=1'), 'invalid-format');
  assert.equal(without(GRANT_CANADA, 'address=x&countryCode=CAN'), 'international-not-enabled');
  assert.equal(without(GRANT_CANADA, 'address=x&countryCode=PRI'), 'address');
  assert.equal(
    without(GRANT_PRODUCT, 'address=x&taxabilityCode=20010'),
    'product-rules-not-enabled',
  );
  const override = parse('address=x&taxabilityCode=CIR00001', 60, GRANT_ALL & ~GRANT_PRODUCT);
  assert.equal(typeof override === 'string' ? override : override.options.taxabilityCode, null);
  assert.equal(without(GRANT_PRODUCT, 'postalcode=97001&taxabilityCode=20010'), 'postal');
  assert.equal(without(GRANT_HISTORICAL, 'address=x&historical=202501'), 'feature-not-enabled');
  assert.equal(
    without(GRANT_HISTORICAL, 'postalcode=97001&historical=202501'),
    'feature-not-enabled',
  );
});

test('the format is known even when the rest is broken', () => {
  assert.equal(formatAsked('address=%zz&format=xMl'), 'xml');
  assert.equal(formatAsked('format=csv'), 'json');
  assert.equal(formatAsked('format=%zz'), 'json');
});
