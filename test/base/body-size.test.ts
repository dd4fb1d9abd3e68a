import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excessOf, JSON_DEPTH_MAX } from '../../src/base/json-scan.js';
import { BODY_BYTES_MIN, bodyBytesMax } from '../../src/base/body-size.js';
import {
  anyText,
  choice,
  closed,
  flag,
  list,
  object,
  optional,
  text,
  told,
  uuid,
  whole,
} from '../../src/base/shape.js';
import { NEXUS_CREATE } from '../../src/api/merchant/nexus-shape.js';
import { NEXUS_BYTES_MAX } from '../../src/api/merchant/nexus-handler.js';
import {
  CREDENTIALS_SET,
  MERCHANT_CREATE,
  MERCHANT_ID,
} from '../../src/api/merchant/merchant-shape.js';

const MAX = 1_048_576;

test('a body that names a merchant needs the least there is', () => {
  assert.equal(bodyBytesMax(MERCHANT_ID, MAX), BODY_BYTES_MIN);
  assert.equal(bodyBytesMax(CREDENTIALS_SET, MAX), 16_384);
  assert.equal(bodyBytesMax(MERCHANT_CREATE, MAX), 32_768);
  assert.equal(bodyBytesMax(NEXUS_CREATE, MAX), NEXUS_BYTES_MAX);
  assert.equal(bodyBytesMax(MERCHANT_ID, MAX, 16_384), 16_384);
});

test('the longest spelling of every kind of value has room, and a third of it for blanks', () => {
  const shape = closed({
    id: uuid(),
    name: told(optional(text(1, 1_000)), 'A name.'),
    kind: choice(['aa', 'b']),
    flag: flag(),
    count: optional(whole()),
    list: list(text(0, 100), { max: 20 }),
  });
  const escaped = (character: string, count: number): string =>
    `"${(character === 'x' ? '\\u0078' : '\\ud83d\\ude00').repeat(count)}"`;
  const body =
    `{"id":${escaped('x', 36)},"name":${escaped('y', 1_000)},"kind":${escaped('x', 2)},` +
    `"flag":false,"count":${'1'.repeat(64)},` +
    `"list":[${Array.from({ length: 20 }, () => escaped('y', 100)).join(',')}]}`;
  JSON.parse(body);
  assert.ok(bodyBytesMax(shape, MAX) >= (body.length * 4) / 3);
  assert.ok(bodyBytesMax(shape, MAX) < body.length * 4);
});

test('what has no limit has that of the route', () => {
  for (const member of [anyText(), object(), list(flag()), optional(anyText())]) {
    assert.equal(bodyBytesMax(closed({ member }), MAX), MAX);
  }
  assert.equal(bodyBytesMax(MERCHANT_CREATE, 8_192), 8_192);
});

test('values are counted without parsing', () => {
  const counted: readonly (readonly [unknown, number])[] = [
    [{}, 1],
    [0, 1],
    [{ a: 1 }, 2],
    [[1, 2, 3], 4],
    [{ a: [1, { b: ',[{' }], c: '"' }, 6],
    [[[], {}], 3],
  ];
  for (const [value, count] of counted) {
    const bytes = Buffer.from(JSON.stringify(value));
    assert.equal(excessOf(bytes, count + 2), null);
    assert.equal(excessOf(bytes, Math.min(count, 1) - 1), 'values');
    if (count > 1) assert.equal(excessOf(bytes, count - 1), 'values', bytes.toString());
  }
  assert.equal(excessOf(Buffer.from('['.repeat(JSON_DEPTH_MAX + 1))), 'levels');
  assert.equal(excessOf(Buffer.from(','.repeat(65_536)), 1_000), 'values');
});
