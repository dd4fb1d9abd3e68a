import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import fc from 'fast-check';
import {
  jsonMembers,
  printMembers,
  rateOf,
  type WireObject,
  xmlElement,
  xmlOfMembers,
  xmlText,
} from '../../src/wire/tree.js';
import type { Rate } from '../../src/tax/rate.js';
import { ask } from '../lookup/ask.js';

const DOOR = 'address=200+Spindle+Center+Dr,+Brookmere,+QZ+97001';
const LISTS = new Set(['baseRates', 'taxSummaries', 'displayRates', 'results']);
const PARSER = new XMLParser({
  parseTagValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  processEntities: true,
  isArray: (name, path) => LISTS.has(name) || path === 'taxrates.response',
});

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** JSON as its XML reads: every scalar as text, null as empty text. */
function texts(value: Json): unknown {
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map((item: Json) => texts(item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, texts(item)]));
}

function jsonOf(version: number, query: string): Json {
  // Numbers are compared by their digits, not by the doubles they round to.
  const { text } = ask(version, query);
  return JSON.parse(text.replace(/":(-?[0-9][0-9.]*)/g, '":"$1"')) as Json;
}

function xmlOf(version: number, query: string): { readonly [root: string]: unknown } {
  return PARSER.parse(ask(version, `${query}&format=xml`).text.replace('?>\n', '?>')) as {
    readonly [root: string]: unknown;
  };
}

const CURRENT: readonly string[] = [
  DOOR,
  `${DOOR}&addressDetailExtended=true&shippingExtended=true`,
  'lat=10.5&lng=9.5',
  'lat=10.5&lng=3.5',
  'lat=10.5&lng=6.5&countryCode=CAN',
  'lat=10.5&lng=8.5&countryCode=PRI',
  'postalcode=97001',
  'postalcode=97004',
  'postalcode=1',
  '',
  'postalcode=97003',
];

test('v60 XML says what v60 JSON says', () => {
  for (const query of CURRENT) {
    assert.deepEqual(xmlOf(60, query), { response: texts(jsonOf(60, query)) }, query);
  }
});

test('legacy XML says what legacy JSON says, in its own names', () => {
  for (const version of [10, 20, 30, 40, 50]) {
    for (const query of [DOOR, 'postalcode=97001', 'postalcode=97004']) {
      const json = jsonOf(version, query);
      if (typeof json !== 'object' || json === null || Array.isArray(json)) assert.fail();
      const { rCode, rName, rMessage, results, ...rest } = json as Record<string, Json>;
      assert.ok(rName === 'RESPONSE_CODE_SUCCESS' && rMessage !== undefined);
      const expected = { ...rest, code: rCode ?? '', message: '', response: results ?? [] };
      const found = xmlOf(version, query);
      assert.deepEqual(found, { taxrates: texts(expected) }, `v${version} ${query}`);
    }
  }
});

test('text survives as far as XML can carry it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const legal = text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]/gu, '\ufffd');
      const xml = xmlText(text);
      const back = xml.replace(
        /&(amp|lt|gt|#13);/g,
        (_all, name: string) => ({ amp: '&', lt: '<', gt: '>', '#13': '\r' })[name] ?? '',
      );
      assert.equal(back, legal);
      assert.ok(!/[<>\r]/.test(xml));
    }),
  );
});

test('null and empty text are empty elements, lists repeated ones', () => {
  assert.equal(xmlElement('a', null), '<a></a>');
  assert.equal(xmlElement('a', ''), '<a></a>');
  assert.equal(xmlElement('a', true), '<a>true</a>');
  assert.equal(xmlElement('a', []), '');
  assert.equal(
    xmlElement('a', [{ b: 1 }, { b: { decimal: '0.5' } }]),
    '<a><b>1</b></a><a><b>0.5</b></a>',
  );
});

test('members that are printed as JSON have the XML of what they were printed of', () => {
  const rate = fc.integer({ min: 0, max: 2_000_000_000 }).map((value) => rateOf(value as Rate));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '"rate":0.5', 'a\\"1', '\ud800', '12', 'null', '<&>\r'),
  );
  const value = fc.oneof(text, rate, fc.constant(null), fc.boolean(), fc.nat());
  const flat = fc.record({ name: value, rate, other: value });
  const members = fc.record({ one: value, list: fc.array(flat), inner: flat, texts: value });
  fc.assert(
    fc.property(members, (object: WireObject) => {
      const json = Buffer.from(jsonMembers(object));
      assert.equal(xmlOfMembers(json), printMembers(object, 'xml'));
    }),
    { numRuns: 1_000 },
  );
});
