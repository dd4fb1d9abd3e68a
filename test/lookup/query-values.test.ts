/** What each parameter of a lookup may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readParameters } from '../../src/api/lookup/query-string.js';
import { address, parse, table } from './parsed.js';

test('degrees are the nearest double of what is written, however it is written', () => {
  const texts = [
    '44.123456',
    '-72.5',
    '0',
    '-0',
    '90',
    '-90.',
    '.5',
    '-.25',
    '007.10',
    '1e1',
    ' 12.5',
    '89.999999999999',
    '89.9999999999999999',
    '0.1',
    '0.30000000000000004',
    '8.999999999999999',
    ...Array.from({ length: 500 }, (_, at) => ((at * 7919.77773) % 90).toFixed(at % 15)),
  ];
  for (const text of texts) {
    const query = parse(`lat=${encodeURIComponent(text)}&lng=1`);
    if (typeof query === 'string' || query.kind !== 'point') assert.fail(`${text} is refused`);
    assert.ok(Object.is(query.latDegrees, Number(text)), text);
  }
  for (const text of ['.', '-', '-.', '1.2.3', '--1', '1-', '90.1', '-91', '1,5', '١']) {
    assert.equal(parse(`lat=${encodeURIComponent(text)}&lng=1`), 'invalid-format', text);
  }
});

test('address holds at most 100 characters, lines become spaces, controls are refused', () => {
  table([
    [`address=${'a'.repeat(100)}`, 'address'],
    [`address=${'a'.repeat(101)}`, 'address-incomplete'],
    // Blanks around it count as well.
    [`address=${'a'.repeat(99)}+`, 'address'],
    [`address=${'a'.repeat(100)}+`, 'address-incomplete'],
    [`address=${'%F0%9F%8F%A0'.repeat(100)}`, 'address'],
    [`address=${'%F0%9F%8F%A0'.repeat(101)}`, 'address-incomplete'],
    ['address=1%00', 'address-incomplete'],
    ['address=1%C2%85x', 'address-incomplete'],
  ]);
  assert.equal(address('address=1+A+St%0D%0ABrookmere'), '1 A St Brookmere');
});

test('postalcode is five digits', () => {
  table([
    ['postalcode=97001', 'postal'],
    ['postalcode=9700', 'invalid-postal-code'],
    ['postalcode=970011', 'invalid-postal-code'],
    ['postalcode=97001-1234', 'invalid-postal-code'],
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
    [`${zip}&state=12`, 'invalid-state'],
    [`${zip}&state=Q%00`, 'invalid-state'],
    [`${zip}&stateCode=QZ`, 'postal'],
    [`${zip}&stateCode=qz`, 'invalid-state'],
    [`${zip}&stateCode=QZX`, 'invalid-state'],
    [`${zip}&city=${'a'.repeat(50)}`, 'postal'],
    [`${zip}&city=${'a'.repeat(51)}`, 'invalid-city'],
    [`${zip}&city=12`, 'invalid-city'],
    [`${zip}&city=A%07`, 'invalid-city'],
    [`${zip}&county=${'a'.repeat(50)}`, 'postal'],
    [`${zip}&county=${'a'.repeat(51)}`, 'invalid-format'],
    [`${zip}&county=001`, 'postal'],
    [`${zip}&county=A%1F`, 'invalid-format'],
  ]);
  table(
    [
      [`${zip}&state=QZ`, 'postal'],
      [`${zip}&state=Zephyria`, 'invalid-state'],
      [`${zip}&state=qz`, 'invalid-state'],
    ],
    40,
  );
});

test('coordinates are decimal degrees within range', () => {
  table([
    ['lat=90&lng=180', 'point'],
    ['lat=-90&lng=-180', 'point'],
    ['lat=90.0000001&lng=0', 'invalid-format'],
    ['lat=0&lng=180.0001', 'invalid-format'],
    ['lat=abc&lng=0', 'invalid-format'],
    ['lat=0x10&lng=0', 'invalid-format'],
    ['lat=NaN&lng=0', 'invalid-format'],
    ['lat=1e1&lng=-.5', 'point'],
    ['lat=+1.5&lng=2.', 'point'],
    ['lat=1,5&lng=0', 'invalid-format'],
    ['lat=Infinity&lng=0', 'invalid-format'],
    ['lat=1e999&lng=0', 'invalid-format'],
  ]);
  const query = parse('lat=33.6525312&lng=-117.747941');
  if (typeof query === 'string' || query.kind !== 'point') assert.fail();
  assert.deepEqual([query.lat, query.lng], [33_652_531, -117_747_941]);
  assert.deepEqual([query.latDegrees, query.lngDegrees], [33.6525312, -117.747941]);
});

test('enumerations, booleans and numbers outside their range are 105', () => {
  const zip = 'postalcode=97001';
  table([
    [`${zip}&format=csv`, 'invalid-format'],
    [`${zip}&format=XML`, 'postal'],
    [`${zip}&countryCode=MEX`, 'invalid-format'],
    [`${zip}&countryCode=usa`, 'invalid-format'],
    [`${zip}&countryCode=VIR`, 'postal'],
    [`${zip}&adjustment=none`, 'invalid-format'],
    [`${zip}&adjustment=origin`, 'postal'],
    [`${zip}&sat_item_total=-1`, 'invalid-format'],
    [`${zip}&sat_item_total=x`, 'invalid-format'],
    [`${zip}&sat_item_total=0`, 'postal'],
    [`${zip}&sat_item_total=1.6e3`, 'postal'],
    [`${zip}&addressDetailExtended=1`, 'invalid-format'],
    [`${zip}&addressDetailExtended=True`, 'postal'],
    [`${zip}&shippingExtended=yes`, 'invalid-format'],
    [`${zip}&taxabilityCode=CIR00001`, 'postal'],
    [`${zip}&taxabilityCode=12345678901`, 'invalid-format'],
    [`${zip}&taxabilityCode=20-10`, 'invalid-format'],
    [`${zip}&taxabilityCode=`, 'postal'],
  ]);
  table(
    [
      [`${zip}&adjustment=${'a'.repeat(100)}`, 'postal'],
      [`${zip}&adjustment=${'a'.repeat(101)}`, 'invalid-format'],
    ],
    50,
  );
});

test('historical is a month that exists', () => {
  const zip = 'postalcode=97001';
  table([
    [`${zip}&historical=202501`, 'postal'],
    [`${zip}&historical=202513`, 'invalid-historical'],
    [`${zip}&historical=202500`, 'invalid-historical'],
    [`${zip}&historical=2025-1`, 'invalid-historical'],
    [`${zip}&historical=20251`, 'invalid-historical'],
    [`${zip}&historical=000001`, 'invalid-historical'],
  ]);
  const query = parse('postalcode=97001&historical=202502');
  assert.equal(typeof query === 'string' ? query : query.options.date, 20250201);
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

test('a value of any length is decoded whole', () => {
  for (const length of [1, 1_022, 1_023, 1_024, 1_025, 5_000]) {
    const text = `address=${'a'.repeat(length)}+&city=%41${'b'.repeat(length)}`;
    const { address, city } = readParameters(text);
    assert.equal(address, `${'a'.repeat(length)} `);
    assert.equal(city, `A${'b'.repeat(length)}`);
  }
});
