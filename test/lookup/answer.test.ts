import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAG_ESTIMATED, FLAG_GEO, FLAG_STALE, FLAG_XML, GRANT_GEO } from '../../src/pool/types.js';
import { PRECISIONS } from '../../src/engine/situs.js';
import { openWire } from '../../src/api/lookup/context.js';
import { AREA, memoryDataset, NOW_MS } from '../support/memory-dataset.js';
import { ask, askAll, type AskOptions } from './ask.js';

const DOOR = 'address=200+Spindle+Center+Dr,+Brookmere,+QZ+97001';
const DAY_MS = 86_400_000;

function codeOf(text: string, options?: AskOptions, version = 60): number {
  return ask(version, text, options).code;
}

test('a frame is answered in order, each request on its own', () => {
  const answers = askAll(60, [DOOR, 'postalcode=97001', 'lat=91&lng=0', DOOR]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 422, 200],
  );
  assert.deepEqual(
    answers.map(({ code }) => code),
    [100, 100, 105, 100],
  );
  assert.equal(answers[0]?.text, answers[3]?.text);
  assert.deepEqual(askAll(60, []), []);
});

test('lookups of a frame, which go through each step together, are answered as alone', () => {
  const queries = [
    DOOR,
    'lat=10.5&lng=0.5',
    'address=1+Nowhere+Rd,+Brookmere,+QZ+97001',
    'postalcode=97001',
    `${DOOR}&format=xml&explain=true`,
    'address=%ff',
    DOOR,
    'lat=10.5&lng=5.5',
    'lat=10.5&lng=0.5',
    `${DOOR}&historical=202001`,
    `${DOOR}&dataset=2026-01-01-000000000000`,
    '',
  ];
  for (const version of [10, 50, 60]) {
    const alone = queries.map((query) => ask(version, query));
    assert.deepEqual(askAll(version, queries), alone);
    assert.deepEqual(askAll(version, [...queries].reverse()).reverse(), alone);
  }
});

/** A dataset whose disk fails at one ZIP, and what is reported of that. */
function brokenAt97002() {
  const reported: unknown[] = [];
  const sound = memoryDataset();
  const dataset = {
    ...sound,
    zip: (zip: number) => {
      if (zip === 97002) throw new Error('disk');
      return sound.zip(zip);
    },
  };
  return { dataset, context: openWire({ report: (error) => reported.push(error) }), reported };
}

test('an address that cannot be looked up leaves the others alone and is reported once', () => {
  const { reported, ...broken } = brokenAt97002();
  const answers = askAll(60, [DOOR, DOOR.replace('97001', '97002'), DOOR], broken);
  assert.deepEqual(
    answers.map(({ code }) => code),
    [100, 106, 100],
  );
  assert.equal(reported.length, 1);
});

test('precision and flags say how the answer came about', () => {
  const door = ask(60, DOOR);
  assert.equal(PRECISIONS[door.precision], 'point');
  assert.equal(door.flags, FLAG_GEO);
  const postal = ask(60, 'postalcode=97001&format=XML');
  assert.equal(PRECISIONS[postal.precision], 'postal');
  assert.equal(postal.flags, FLAG_XML);
  const guess = ask(60, 'lat=10.5&lng=5.5');
  assert.equal(PRECISIONS[guess.precision], 'polygon');
  assert.equal(guess.flags, FLAG_GEO | FLAG_ESTIMATED | FLAG_STALE);
  assert.equal(ask(40, 'postalcode=97006').flags, FLAG_ESTIMATED | FLAG_STALE);
  assert.equal(ask(60, 'lat=0&lng=0').flags, FLAG_GEO);
  assert.equal(ask(60, 'lat=0&lng=0').precision, 0);
});

test('a figure of an estimated source marks the answer though its area is not marked', () => {
  assert.equal(ask(60, 'postalcode=97005').flags, FLAG_ESTIMATED);
});

test('an exception is a 106 for its request alone, and is reported', () => {
  const { reported, ...broken } = brokenAt97002();
  const answers = askAll(60, ['postalcode=97001', 'postalcode=97002&format=xml', DOOR], broken);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 500, 200],
  );
  assert.match(answers[1]?.text ?? '', /^<\?xml .*<code>106<\/code>/s);
  assert.equal(reported.length, 1);
});

test('unknown versions are refused', () => {
  const context = openWire({ report: () => undefined });
  assert.equal(codeOf(DOOR, { context }, 15), 106);
});

test('a weaker precision than asked for is 109', () => {
  const context = openWire({ precisionMin: 'street' });
  assert.equal(codeOf('lat=10.5&lng=0.5', { context }), 109);
  assert.equal(codeOf(DOOR, { context }), 100);
  assert.equal(codeOf('postalcode=97001', { context }), 100);
});

test('a location outside the country asked for is 110', () => {
  assert.equal(codeOf('lat=10.5&lng=6.5'), 110);
  assert.equal(codeOf('lat=10.5&lng=0.5&countryCode=CAN'), 110);
  assert.equal(codeOf('lat=10.5&lng=8.5'), 110);
  assert.equal(codeOf('lat=10.5&lng=8.5&countryCode=PRI'), 100);
  assert.equal(codeOf(`${DOOR}&countryCode=CAN`), 110);
  assert.equal(codeOf(`${DOOR}&countryCode=PRI`), 110);
  assert.equal(codeOf('postalcode=00501'), 100);
  assert.equal(codeOf('postalcode=97001&countryCode=PRI'), 100);
});

test('states that name nothing are 102, unknown places and rates 110', () => {
  assert.equal(codeOf('postalcode=97001&state=Nowhere'), 102);
  assert.equal(codeOf('postalcode=97001&state=zephyria'), 100);
  assert.equal(codeOf('postalcode=97001&stateCode=QP'), 110);
  assert.equal(codeOf('postalcode=99999'), 110);
  assert.equal(codeOf('lat=10.5&lng=4.5'), 110);
  assert.equal(codeOf(`lat=10.5&lng=${AREA.unruled}.5`), 110);
});

test('historical is a month that has ended at the place', () => {
  assert.equal(codeOf(`${DOOR}&historical=202610`), 100);
  assert.equal(codeOf(`${DOOR}&historical=202611`), 111);
  assert.equal(codeOf(`${DOOR}&historical=202612`), 111);
  assert.equal(codeOf('postalcode=97001&historical=202611'), 111);
  // The first of December in UTC is still November in the state's own zone.
  const nowMs = Date.UTC(2026, 11, 1, 4);
  assert.equal(codeOf(`${DOOR}&historical=202611`, { nowMs }), 111);
  assert.equal(codeOf('postalcode=97001&historical=202611', { nowMs }), 111);
  assert.equal(codeOf(`${DOOR}&historical=202611`, { nowMs: nowMs + DAY_MS }), 100);
});

test('rules are those of the month asked for', () => {
  assert.match(ask(60, `${DOOR}&historical=202106`).text, /"taxable":"L"/);
  assert.match(ask(60, `${DOOR}&historical=202201`).text, /"SERVICE_TAXABLE","taxable":"N"/);
  // Before the rules begin nothing is known of them.
  assert.equal(codeOf(`${DOOR}&historical=201912`), 110);
});

test('coordinates are echoed as given and name the place, else the county, else the state', () => {
  const detail = (text: string): unknown => {
    const body: unknown = JSON.parse(ask(60, text).text);
    return typeof body === 'object' && body !== null && 'addressDetail' in body
      ? body.addressDetail
      : null;
  };
  assert.deepEqual(detail('lat=10.50000001&lng=0.25'), {
    normalizedAddress: 'Brookmere, QZ, United States',
    incorporated: 'true',
    geoLat: 10.50000001,
    geoLng: 0.25,
  });
  assert.deepEqual(detail('lat=10.5&lng=1.0000001'), {
    normalizedAddress: 'Orchard County, QZ, United States',
    incorporated: 'false',
    geoLat: 10.5,
    geoLng: 1.0000001,
  });
  assert.deepEqual(detail('lat=10.5&lng=7.5&countryCode=CAN'), {
    normalizedAddress: 'Harmonia, Canada',
    incorporated: 'false',
    geoLat: 10.5,
    geoLng: 7.5,
  });
});

test('the body is the same from the cache, after a change of dataset, and with no cache', () => {
  const context = openWire({ baseUrl: 'https://rates.example' });
  const none = openWire({ baseUrl: 'https://rates.example', fragmentBytesMax: 0 });
  const other = memoryDataset({ id: 'other' });
  const first = ask(60, DOOR, { context }).text;
  assert.equal(ask(60, DOOR, { context }).text, first);
  const { id } = memoryDataset();
  assert.ok(first.includes(`"dataset":"${id}"`));
  assert.equal(ask(60, DOOR, { context, dataset: other }).text, first.replace(id, 'other'));
  assert.equal(ask(60, DOOR, { context: none }).text, first);
  assert.equal(none.fragments.bytes, 0);
});

test('a key without geocoding is told 107 and may still ask by postal code', () => {
  assert.equal(codeOf(DOOR, { grants: 15 & ~GRANT_GEO }), 107);
  assert.equal(codeOf('postalcode=97001', { grants: 0 }), 100);
});

test('the single article member appears on v50 addresses of its state alone', () => {
  const sat = (text: string, version = 50): boolean =>
    ask(version, text, { nowMs: NOW_MS }).text.includes('satTaxDetail');
  assert.ok(sat(`${DOOR}&sat_item_total=2500.50`));
  assert.ok(!sat(`${DOOR}&sat_item_total=0`));
  assert.ok(!sat(DOOR));
  assert.ok(!sat('lat=10.5&lng=0.5&sat_item_total=2500'));
  assert.ok(!sat('postalcode=97001&sat_item_total=2500'));
  assert.ok(!sat(`${DOOR}&sat_item_total=2500.50`, 60));
});
