import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { FAILURE_KINDS, fail, type FailureKind } from '../../src/failure.js';
import { failureBytes } from '../../src/wire/failure-body.js';
import { RESPONSE_CODES } from '../../src/wire/response-code.js';
import { API_VERSIONS } from '../../src/wire/tree.js';

const CODES: Readonly<Record<FailureKind, readonly [code: number, http: number, name: string]>> = {
  'invalid-key': [101, 401, 'INVALID_KEY'],
  'invalid-state': [102, 422, 'INVALID_STATE'],
  'invalid-city': [103, 422, 'INVALID_CITY'],
  'invalid-postal-code': [104, 422, 'INVALID_POSTAL_CODE'],
  'invalid-format': [105, 422, 'INVALID_FORMAT'],
  internal: [106, 500, 'API_ERROR'],
  overloaded: [106, 503, 'API_ERROR'],
  'feature-not-enabled': [107, 405, 'FEATURE_NOT_ENABLED'],
  'rate-limited': [108, 429, 'REQUEST_LIMIT_MET'],
  'address-incomplete': [109, 422, 'ADDRESS_INCOMPLETE'],
  'no-result': [110, 422, 'NO_RESULT'],
  'invalid-historical': [111, 422, 'INVALID_HISTORICAL'],
  'international-not-enabled': [112, 403, 'INTERNATIONAL_NOT_ENABLED'],
  'product-rules-not-enabled': [113, 403, 'PRODUCT_RULES_NOT_ENABLED'],
};

const XML = new XMLParser({ parseTagValue: false });
const BASE = 'https://rates.example';

function text(version: number, kind: FailureKind, format: 'json' | 'xml', detail?: string): string {
  return Buffer.from(failureBytes(version, fail(kind, detail), format, BASE)).toString('utf8');
}

test('every kind of failure has the code, status and name of the contract', () => {
  for (const kind of FAILURE_KINDS) {
    const [code, http, name] = CODES[kind];
    const found = RESPONSE_CODES[kind];
    assert.deepEqual([found.code, found.http, found.name], [code, http, `RESPONSE_CODE_${name}`]);
    assert.ok(found.message.length > 0);
  }
});

test('every kind of failure reads alike in every version and format', () => {
  for (const kind of FAILURE_KINDS) {
    const { code, name } = RESPONSE_CODES[kind];
    const message = `${RESPONSE_CODES[kind].message} A < b & "c".`;
    for (const version of API_VERSIONS) {
      const json: unknown = JSON.parse(text(version, kind, 'json', 'a < b & "c"'));
      const xml: unknown = XML.parse(text(version, kind, 'xml', 'a < b & "c"'));
      if (version === 60) {
        const definition = `${BASE}/request/v60/schema`;
        const response = { code, name, message, definition };
        assert.deepEqual(json, { metadata: { version: 'v60', response } });
        assert.deepEqual(xml, {
          '?xml': '',
          response: { metadata: { version: 'v60', response: { ...response, code: String(code) } } },
        });
      } else {
        const own = `v${version}`;
        assert.deepEqual(json, {
          version: own,
          rCode: code,
          rName: name,
          rMessage: message,
          results: [],
        });
        assert.deepEqual(xml, {
          '?xml': '',
          taxrates: { version: own, code: String(code), name, message },
        });
      }
    }
  }
});

test('without a detail the message is the standard one', () => {
  assert.equal(
    text(40, 'rate-limited', 'json'),
    '{"version":"v40","rCode":108,"rName":"RESPONSE_CODE_REQUEST_LIMIT_MET",' +
      '"rMessage":"API request limit met.","results":[]}',
  );
});

test('an unknown version is refused in the current envelope', () => {
  assert.match(text(0, 'internal', 'json'), /^\{"metadata":\{"version":"v60"/);
});
