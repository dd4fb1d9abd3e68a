import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  GRANT_ALL, GRANT_CANADA, GRANT_GEO, GRANT_HISTORICAL, GRANT_PRODUCT,
} from '../../src/pool/types.js';
import type { LookupQuery } from '../../src/engine/lookup-query.js';
import { isFailure, type FailureKind } from '../../src/failure.js';
import { formatAsked, parseQuery } from '../../src/api/lookup/query.js';
import { readParameters } from '../../src/api/lookup/query-string.js';

type Outcome = FailureKind | LookupQuery;

function parse(text: string, version = 60, grants = GRANT_ALL): Outcome {
  const parsed = parseQuery(text, version, grants);
  return isFailure(parsed) ? parsed.failure : parsed.query;
}

function kindOf(outcome: Outcome): string {
  return typeof outcome === 'string' ? outcome : outcome.kind;
}

function address(text: string): string {
  const query = parse(text);
  if (typeof query === 'string' || query.kind !== 'address') {
    assert.fail(`${kindOf(query)}: ${text}`);
  }
  return query.address;
}

test('degrees are the nearest double of what is written, however it is written', () => {
  const texts = ['44.123456', '-72.5', '0', '-0', '90', '-90.', '.5', '-.25', '007.10', '1e1', ' 12.5',
    '89.999999999999', '89.9999999999999999', '0.1', '0.30000000000000004', '8.999999999999999',
    ...Array.from({ length: 500 }, (_, at) => ((at * 7919.77773) % 90).toFixed(at % 15))];
  for (const text of texts) {
    const query = parse(`lat=${encodeURIComponent(text)}&lng=1`);
    if (typeof query === 'string' || query.kind !== 'point') assert.fail(`${text} is refused`);
    assert.ok(Object.is(query.latDegrees, Number(text)), text);
  }
  for (const text of ['.', '-', '-.', '1.2.3', '--1', '1-', '90.1', '-91', '1,5', '١']) {
    assert.equal(parse(`lat=${encodeURIComponent(text)}&lng=1`), 'invalid-format', text);
  }
});

/** [query, kind of query or of failure] */
type Row = readonly [text: string, expected: string];

function table(rows: readonly Row[], version = 60): void {
  for (const [text, expected] of rows) {
    assert.equal(kindOf(parse(text, version)), expected, `v${version} ${text.slice(0, 80)}`);
  }
}

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
    ['address=%C3', 'invalid-format'], ['address=%', 'invalid-format'],
    ['address=%zz', 'invalid-format'], ['address=%ED%A0%80', 'invalid-format'],
    ['address=\xff', 'invalid-format'], ['other=%zz&postalcode=97001', 'postal'],
  ]);
});

test('of a repeated parameter the first value that is not empty counts', () => {
  assert.equal(address('address=1+A+St&address=2+B+St'), '1 A St');
  assert.equal(address('address=&address=2+B+St'), '2 B St');
});

test('a refusal names its parameter as it is written, and what it may be', () => {
  const told = (text: string, version = 60): string => {
    const parsed = parseQuery(text, version, GRANT_ALL);
    return isFailure(parsed) ? parsed.detail ?? '' : 'accepted';
  };
  const rows: readonly Row[] = [
    ['postalcode=1', 'Parameter postalcode: five digits.'],
    ['postalcode=97001&county=%00',
      'Parameter county: up to 50 characters, no control characters.'],
    ['postalcode=97001&city=12',
      'Parameter city: up to 50 characters with a letter among them, no control characters.'],
    ['postalcode=97001&state=%07',
      'Parameter state: up to 50 characters with a letter among them, no control characters.'],
    ['address=%20', 'Parameter address: 1 to 100 characters, not blank, no control characters.'],
    ['address=', 'Parameter address: 1 to 100 characters, not blank, no control characters.'],
    ['lat=91&lng=0', 'Parameter lat: a number from -90 to 90.'],
    ['sat_item_total=-1', 'Parameter sat_item_total: a number, 0 or more.'],
    ['address=%zz', 'Parameter address: not valid UTF-8.'],
  ];
  for (const [text, expected] of rows) assert.equal(told(text), expected, text);
  assert.equal(told('postalcode=97001&state=Ohio', 40), 'Parameter state: two capital letters.');
  assert.equal(told(`postalcode=97001&adjustment=${'a'.repeat(101)}`, 50),
    'Parameter adjustment: up to 100 characters.');
});

test('unknown parameters, empty pairs and other cases of a name are ignored', () => {
  table([
    ['&&=&=x&utm=1&postalcode=97001&', 'postal'], ['Postalcode=97001', 'invalid-postal-code'],
    ['postalcode', 'invalid-postal-code'], ['__proto__=1&postalcode=97001', 'postal'],
    ['constructor=1&toString=2&postalcode=97001', 'postal'],
  ]);
});

test('address goes before coordinates, coordinates before postal code', () => {
  table([
    ['postalcode=97001&lat=1&lng=2&address=x', 'address'],
    ['postalcode=97001&lat=1&lng=2', 'point'],
    ['postalcode=97001&lat=1', 'postal'], ['lat=1', 'invalid-postal-code'],
    ['lng=1', 'invalid-postal-code'], ['', 'invalid-postal-code'],
    ['state=QZ&city=Brookmere', 'invalid-postal-code'], ['address=', 'address-incomplete'],
    ['address=&postalcode=97001', 'postal'], ['address=+%09+', 'address-incomplete'],
  ]);
});

test('address holds at most 100 characters, lines become spaces, controls are refused', () => {
  table([
    [`address=${'a'.repeat(100)}`, 'address'], [`address=${'a'.repeat(101)}`, 'address-incomplete'],
    // Blanks around it count as well.
    [`address=${'a'.repeat(99)}+`, 'address'], [`address=${'a'.repeat(100)}+`, 'address-incomplete'],
    [`address=${'%F0%9F%8F%A0'.repeat(100)}`, 'address'],
    [`address=${'%F0%9F%8F%A0'.repeat(101)}`, 'address-incomplete'],
    ['address=1%00', 'address-incomplete'], ['address=1%C2%85x', 'address-incomplete'],
  ]);
  assert.equal(address('address=1+A+St%0D%0ABrookmere'), '1 A St Brookmere');
});

test('postalcode is five digits', () => {
  table([
    ['postalcode=97001', 'postal'], ['postalcode=9700', 'invalid-postal-code'],
    ['postalcode=970011', 'invalid-postal-code'], ['postalcode=97001-1234', 'invalid-postal-code'],
    ['postalcode=+97001', 'invalid-postal-code'],
    ['postalcode=M5V+3L9&countryCode=CAN', 'invalid-postal-code'],
    ['postalcode=%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5', 'invalid-postal-code'],
    ['address=x&postalcode=1', 'invalid-postal-code'],
  ]);
});

test('state, stateCode, city and county have their limits and codes', () => {
  const zip = 'postalcode=97001';
  table([
    [`${zip}&state=${'a'.repeat(50)}`, 'postal'],
    [`${zip}&state=${'a'.repeat(51)}`, 'invalid-state'],
    [`${zip}&state=12`, 'invalid-state'], [`${zip}&state=Q%00`, 'invalid-state'],
    [`${zip}&stateCode=QZ`, 'postal'], [`${zip}&stateCode=qz`, 'invalid-state'],
    [`${zip}&stateCode=QZX`, 'invalid-state'], [`${zip}&city=${'a'.repeat(50)}`, 'postal'],
    [`${zip}&city=${'a'.repeat(51)}`, 'invalid-city'], [`${zip}&city=12`, 'invalid-city'],
    [`${zip}&city=A%07`, 'invalid-city'], [`${zip}&county=${'a'.repeat(50)}`, 'postal'],
    [`${zip}&county=${'a'.repeat(51)}`, 'invalid-format'], [`${zip}&county=001`, 'postal'],
    [`${zip}&county=A%1F`, 'invalid-format'],
  ]);
  table([
    [`${zip}&state=QZ`, 'postal'], [`${zip}&state=Zephyria`, 'invalid-state'],
    [`${zip}&state=qz`, 'invalid-state'],
  ], 40);
});

test('coordinates are decimal degrees within range', () => {
  table([
    ['lat=90&lng=180', 'point'],
    ['lat=-90&lng=-180', 'point'], ['lat=90.0000001&lng=0', 'invalid-format'],
    ['lat=0&lng=180.0001', 'invalid-format'], ['lat=abc&lng=0', 'invalid-format'],
    ['lat=0x10&lng=0', 'invalid-format'], ['lat=NaN&lng=0', 'invalid-format'],
    ['lat=1e1&lng=-.5', 'point'], ['lat=+1.5&lng=2.', 'point'], ['lat=1,5&lng=0', 'invalid-format'],
    ['lat=Infinity&lng=0', 'invalid-format'], ['lat=1e999&lng=0', 'invalid-format'],
  ]);
  const query = parse('lat=33.6525312&lng=-117.747941');
  if (typeof query === 'string' || query.kind !== 'point') assert.fail();
  assert.deepEqual([query.lat, query.lng], [33_652_531, -117_747_941]);
  assert.deepEqual([query.latDegrees, query.lngDegrees], [33.6525312, -117.747941]);
});

test('enumerations, booleans and numbers outside their range are 105', () => {
  const zip = 'postalcode=97001';
  table([
    [`${zip}&format=csv`, 'invalid-format'], [`${zip}&format=XML`, 'postal'],
    [`${zip}&countryCode=MEX`, 'invalid-format'], [`${zip}&countryCode=usa`, 'invalid-format'],
    [`${zip}&countryCode=VIR`, 'postal'], [`${zip}&adjustment=none`, 'invalid-format'],
    [`${zip}&adjustment=origin`, 'postal'], [`${zip}&sat_item_total=-1`, 'invalid-format'],
    [`${zip}&sat_item_total=x`, 'invalid-format'], [`${zip}&sat_item_total=0`, 'postal'],
    [`${zip}&sat_item_total=1.6e3`, 'postal'], [`${zip}&addressDetailExtended=1`, 'invalid-format'],
    [`${zip}&addressDetailExtended=True`, 'postal'],
    [`${zip}&shippingExtended=yes`, 'invalid-format'],
    [`${zip}&taxabilityCode=CIR00001`, 'postal'],
    [`${zip}&taxabilityCode=12345678901`, 'invalid-format'],
    [`${zip}&taxabilityCode=20-10`, 'invalid-format'], [`${zip}&taxabilityCode=`, 'postal'],
  ]);
  table([
    [`${zip}&adjustment=${'a'.repeat(100)}`, 'postal'],
    [`${zip}&adjustment=${'a'.repeat(101)}`, 'invalid-format'],
  ], 50);
});

test('historical is a month that exists', () => {
  const zip = 'postalcode=97001';
  table([
    [`${zip}&historical=202501`, 'postal'], [`${zip}&historical=202513`, 'invalid-historical'],
    [`${zip}&historical=202500`, 'invalid-historical'],
    [`${zip}&historical=2025-1`, 'invalid-historical'],
    [`${zip}&historical=20251`, 'invalid-historical'],
    [`${zip}&historical=000001`, 'invalid-historical'],
  ]);
  const query = parse('postalcode=97001&historical=202502');
  assert.equal(typeof query === 'string' ? query : query.options.date, 20250201);
});

test('defaults are those of the specification', () => {
  assert.deepEqual(parse('address=x'), {
    kind: 'address', address: 'x', options: {
      country: 'USA', date: null, addressDetailExtended: false,
      shippingExtended: false, taxabilityCode: null, satItemTotal: null,
    },
  });
});

test('sat_item_total is exact', () => {
  const total = (text: string): bigint | null => {
    const query = parse(`address=x&sat_item_total=${text}`);
    return typeof query === 'string' ? null : query.options.satItemTotal;
  };
  assert.equal(total('2500.10'), 2_500_100_000_000n);
  assert.equal(total('1.5e3'), 1_500_000_000_000n);
  assert.equal(total('.000000001'), 1n);
  assert.equal(total('1e300'), null);
});

test('versions ignore the parameters they do not have, however malformed', () => {
  const late = 'taxabilityCode=---&addressDetailExtended=7&shippingExtended=%zz';
  const later = 'lat=x&lng=y&countryCode=1&historical=1&sat_item_total=z&county=%zz&stateCode=1';
  table([[`address=x&${late}`, 'address'], ['lat=1&lng=2', 'point']], 50);
  table([[`address=x&${late}&${later}`, 'address'], ['lat=1&lng=2', 'invalid-postal-code']], 40);
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
  assert.equal(without(GRANT_PRODUCT, 'address=x&taxabilityCode=20010'),
    'product-rules-not-enabled');
  const override = parse('address=x&taxabilityCode=CIR00001', 60, GRANT_ALL & ~GRANT_PRODUCT);
  assert.equal(typeof override === 'string' ? override : override.options.taxabilityCode, null);
  assert.equal(without(GRANT_PRODUCT, 'postalcode=97001&taxabilityCode=20010'), 'postal');
  assert.equal(without(GRANT_HISTORICAL, 'address=x&historical=202501'), 'feature-not-enabled');
  assert.equal(without(GRANT_HISTORICAL, 'postalcode=97001&historical=202501'),
    'feature-not-enabled');
});

test('the format is known even when the rest is broken', () => {
  assert.equal(formatAsked('address=%zz&format=xMl'), 'xml');
  assert.equal(formatAsked('format=csv'), 'json');
  assert.equal(formatAsked('format=%zz'), 'json');
});

test('a value of any length is decoded whole', () => {
  for (const length of [1, 1_022, 1_023, 1_024, 1_025, 5_000]) {
    const text = `address=${'a'.repeat(length)}+&city=%41${'b'.repeat(length)}`;
    const { address, city } = readParameters(text);
    assert.equal(address, `${'a'.repeat(length)} `);
    assert.equal(city, `A${'b'.repeat(length)}`);
  }
});
