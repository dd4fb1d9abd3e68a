/** What a request asks for: a format of two, and options. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProblem } from '../../src/base/problem.js';
import {
  formatOfType,
  outputAccepted,
  packedOut,
  parseBulkRequest,
  requestOf,
} from '../../src/bulk/run/request.js';

test('the closest entry decides, then the highest weight', () => {
  const asked: readonly (readonly [field: string, csv: string | null, ndjson: string | null])[] = [
    ['', 'csv', 'ndjson'],
    ['*/*', 'csv', 'ndjson'],
    ['text/csv', 'csv', null],
    ['text/*', 'csv', null],
    ['application/*', 'ndjson', 'ndjson'],
    ['TEXT/CSV ; q=0.5', 'csv', null],
    ['text/csv;header=present', 'csv', null],
    ['text/csv;q=0, */*', 'ndjson', 'ndjson'],
    ['text/csv;q=0.1, */*;q=0.9', 'ndjson', 'ndjson'],
    ['application/x-ndjson;q=0.5, text/csv;q=0.4', 'ndjson', 'ndjson'],
    ['application/x-ndjson, text/csv', 'ndjson', 'ndjson'],
    ['text/csv, application/ndjson', 'csv', 'ndjson'],
    ['application/json, text/plain, */*', 'csv', 'ndjson'],
    ['*/*;q=0', null, null],
    ['application/json', null, null],
    ['text/csv;q=abc', null, null],
  ];
  for (const [field, csv, ndjson] of asked) {
    assert.equal(outputAccepted(field, 'csv'), csv, field);
    assert.equal(outputAccepted(field, 'ndjson'), ndjson, field);
  }
});

test('members of every object are no media types', () => {
  for (const name of ['constructor', '__proto__', 'tostring']) {
    assert.equal(formatOfType(name), null);
    assert.equal(outputAccepted(name, 'csv'), null);
  }
});

test('spaces around a coding count for nothing', () => {
  const packed = (field: string): boolean => packedOut(() => field);
  assert.ok(packed('gzip') && packed('br, GZIP ; q=0.5'));
  assert.ok(!packed('') && !packed('gzip;q=0') && !packed('x-gzip') && !packed('identity'));
});

test('a table that is said to have no header line is refused: its first row would be lost', () => {
  const asked = (type: string): unknown => {
    const header = (name: string): string => (name === 'content-type' ? type : '');
    const request = parseBulkRequest(header, new URLSearchParams('map=zip:%231'), 'lookup');
    return isProblem(request) ? request.status : request.input;
  };
  assert.equal(asked('text/csv; header=absent'), 415);
  assert.equal(asked('text/csv; charset="UTF-8"; HEADER=absent'), 415);
  assert.equal(asked('text/csv; charset="UTF-8"; header=present'), 'csv');
});

test('of an option given twice the first value counts, but for map', () => {
  const query = new URLSearchParams([
    ['countryCode', ''],
    ['countryCode', 'USA'],
    ['countryCode', 'CAN'],
    ['strict', 'true'],
    ['strict', 'false'],
    ['delimiter', 'pipe'],
    ['delimiter', 'comma'],
    ['map', 'zip:a'],
    ['map', 'city:b'],
  ]);
  const formats = {
    kind: 'lookup',
    input: 'csv',
    output: 'csv',
    gzipIn: false,
    gzipOut: false,
  } as const;
  const options = requestOf(formats, query, 'query');
  assert.ok(!isProblem(options));
  assert.deepEqual(options.defaults, { countryCode: 'USA' });
  assert.deepEqual([options.strict, options.delimiter], [true, '|']);
  assert.deepEqual(options.map, ['zip:a', 'city:b']);
});
