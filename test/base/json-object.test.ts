/** A long text is refused for the same reason as a short one, though it is not parsed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { malformationOf, parseJsonObject } from '../../src/base/json-object.js';
import { isProblem } from '../../src/base/problem.js';

test('what is wrong with a text is the same, parsed or not', () => {
  const texts = [
    '',
    ' ',
    '{}',
    ' \n{"a":1} ',
    '\ufeff{}',
    '\ufeff {"a":{}}',
    '[{}]',
    '"{"',
    '1',
    'null',
    '{',
    '{"a":1,}',
    `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
    '"x{}"',
    '[]',
  ];
  for (const bytes of [
    ...texts.map((text) => Buffer.from(text)),
    Buffer.from([0x7b, 0xff, 0x7d]),
  ]) {
    const read = parseJsonObject(bytes);
    assert.deepEqual(malformationOf(bytes), isProblem(read) ? read : null, bytes.toString());
  }
});
