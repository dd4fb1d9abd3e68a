/** The document itself: sound, complete, and made from the tables it tells of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPONENTS, openapiDocument } from '../../src/describe/document.js';
import { lookupParameters } from '../../src/describe/lookup-parameters.js';
import { parameterNames } from '../../src/api/lookup/parameter-table.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import { isFailure } from '../../src/failure.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { RESPONSE_CODES } from '../../src/wire/response-code.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { checker } from '../support/schema-check.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';

const ROUTES = [...OPERATIONS.keys()].map((name) => {
  const [method = '', path = ''] = name.split(' ');
  return { method, path };
});

const DOCUMENT = openapiDocument(ROUTES, 'https://rates.example', '60');

function referencesOf(text: string): readonly string[] {
  return [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  );
}

test('every schema is sound, named and used', () => {
  const ajv = checker();
  for (const [name, schema] of Object.entries(COMPONENTS)) {
    assert.doesNotThrow(() => ajv.compile(schema), name);
  }
  const used = new Set(referencesOf(JSON.stringify(DOCUMENT)));
  assert.deepEqual([...used].sort(), Object.keys(COMPONENTS).sort());
});

test('operation ids are unique', () => {
  const ids = [...OPERATIONS.values()].map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test('an operation has a parameter once, and rows of files have no receipt', () => {
  for (const [name, { parameters = [] }] of OPERATIONS) {
    const names = parameters.map((each) => `${each.in} ${each.name}`);
    assert.equal(new Set(names).size, names.length, `${name}: ${names.join(', ')}`);
    if (name.includes('/bulk')) assert.ok(!names.includes('query receipt'), name);
  }
});

test('lookups list every status and code of the table', () => {
  for (const version of API_VERSIONS) {
    const text = JSON.stringify(OPERATIONS.get(`GET /request/v${version}`)?.responses);
    for (const { http, code } of Object.values(RESPONSE_CODES)) {
      const told = `"${http}":\\{"description":"Response code [^"]*\\b${code}\\b`;
      assert.match(text, new RegExp(told));
    }
  }
});

test('carts list what comes of the provider, and how a kept dataset is refused', () => {
  const { responses, parameters = [] } = OPERATIONS.get('POST /merchant/cart/calculate')!;
  const told = Object.keys(responses).map(Number);
  const relayed = [200, 201, 400, 404, 409, 413, 422, 429, 502, 504];
  assert.deepEqual(
    relayed.filter((status) => !told.includes(status)),
    [],
  );
  assert.match(JSON.stringify(responses['201']), /"Location"/);
  const dataset = parameters.find(({ name }) => name === 'dataset');
  assert.match(dataset?.description ?? '', /else 403\.$/);
});

test('carts list the header fields that they have in common with lookups', () => {
  for (const name of ['POST /merchant/cart/calculate', 'POST /calculate/cart'] as const) {
    const told = JSON.stringify(OPERATIONS.get(name)!.responses['200']);
    for (const field of ['Precision', 'Dataset', 'Receipt']) {
      assert.ok(told.includes(`"X-Situs-${field}":{`), `${name} ${field}`);
    }
  }
});

test('a route nobody described is listed all the same', () => {
  const { paths } = openapiDocument([{ method: 'POST', path: '/new' }], '', '60');
  assert.match(JSON.stringify(paths), /^\{"\/new":\{"post":\{"responses":\{"default"/);
});

const WRONG: Readonly<Record<string, string>> = {
  format: 'yaml',
  countryCode: 'XXX',
  lat: '91',
  lng: '-181',
  postalcode: '9101',
  stateCode: 'q',
  adjustment: 'none',
  sat_item_total: '-1',
  historical: '2025-1',
  taxabilityCode: 'a-b',
  addressDetailExtended: 'yes',
  shippingExtended: '1',
  explain: 'why',
  address: 'x'.repeat(101),
  dataset: 'newest',
  at: 'today',
  receipt: 'perhaps',
  city: 'x'.repeat(51),
  county: 'x'.repeat(51),
  state: 'x'.repeat(51),
};

test('what a schema refuses the parser refuses, in the versions that know the parameter', () => {
  for (const version of API_VERSIONS) {
    const ajv = checker();
    for (const { name, schema } of lookupParameters(version)) {
      if (name === 'key') continue;
      const text = WRONG[name] ?? '';
      const value = schema['type'] === 'number' ? Number(text) : text;
      const freely = version === 50 && name === 'adjustment';
      assert.equal(ajv.compile(schema)(value), freely, `v${version} ${name}`);
      const parsed = parseQuery(
        `postalcode=91010&${name}=${text}`.replace(
          name === 'postalcode' ? 'postalcode=91010&' : '',
          '',
        ),
        version,
        GRANT_ALL,
      );
      assert.equal(isFailure(parsed), !freely, `v${version} ${name}`);
    }
    for (const name of Object.keys(WRONG).filter(
      (each) => !(parameterNames(version) as readonly string[]).includes(each),
    )) {
      const parsed = parseQuery(`postalcode=91010&${name}=${WRONG[name]}`, version, GRANT_ALL);
      assert.ok(!isFailure(parsed), `v${version} ignores ${name}`);
    }
  }
});
