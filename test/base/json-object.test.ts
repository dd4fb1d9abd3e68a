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

test('long texts that are no JSON are refused as short ones, and none of them is kept', async () => {
  const text = Buffer.alloc(65_536, '"');
  const short = parseJsonObject(Buffer.alloc(4, '"'));
  const settled = async (): Promise<number> => {
    let bytes = Infinity;
    // The least of some: what else is made meanwhile is collected by and by.
    for (let times = 0; times < 5; times += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      bytes = Math.min(bytes, process.memoryUsage().heapUsed);
    }
    return bytes;
  };
  parseJsonObject(text);
  const before = await settled();
  for (let times = 0; times < 100; times += 1) assert.deepEqual(parseJsonObject(text), short);
  const grown = (await settled()) - before;
  assert.ok(grown < 3_000_000, `${grown} bytes more`);
});
