/** The scan of a JSON text says what its parts said one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { malformationOf, parseJsonObject } from '../../src/base/json-object.js';
import { isProblem } from '../../src/base/problem.js';
import { readJson } from '../../src/api/cart/cart-text.js';
import {
  excessOf,
  JSON_DEPTH_MAX,
  JSON_NESTED_MAX,
  JSON_VALUES_MAX,
  longNumber,
  longNumberPlace,
  NUMBER_DIGITS_MAX,
  numberText,
} from '../../src/base/json-scan.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function isRounded(number: string): boolean {
  const digits = number
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return false;
  const value = Number(number);
  return digits.length > NUMBER_DIGITS_MAX || value === 0 || !Number.isFinite(value);
}

/** Most lists and objects that are open at a time, by the brackets that patterns leave of a text. */
function deepest(text: string): number {
  const brackets = text.replace(/"(?:[^"\\]|\\.)*("|$|\\$)/gs, '').replace(/[^[\]{}]/g, '');
  let depth = 0;
  let most = 0;
  for (const bracket of brackets) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    most = Math.max(most, depth);
  }
  return most;
}

/** The first long number of a JSON text, found by pattern. */
function byPattern(json: string): string | null {
  for (const [token] of json.matchAll(TOKEN)) {
    if (!token.startsWith('"') && isRounded(token)) return token;
  }
  return null;
}

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
const whole = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,17}$/));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.oneof(
      fc.constant(''),
      digits(1, 18).map((text) => `.${text}`),
      fc.integer({ min: 1, max: 340 }).map((zeros) => `.${'0'.repeat(zeros)}1`),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), digits(1, 3))
          .map(([sign, power]) => sign + power),
      },
      { weight: 1, arbitrary: digits(15, 18).map((power) => `e-${'0'.repeat(15)}${power}`) },
    ),
  )
  .map((parts) => parts.join(''));
const string = fc.oneof(
  fc.string().map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"4e123"',
    '"12345678901234567890"',
    '"\\""',
    '"\\\\"',
    '"\\\\\\"[["',
    '"\\u005b"',
    '"0b6f7c9e-8d1e-4c7b-9e2f-3a4b5c4e1238"',
    '"{[\\"1e999"',
  ),
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ');
const json = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false', 'null', '1', '9.99', '-0', '2e5'),
    string,
    number,
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
    .map(([gap, values]) => `[${gap}${values.join(`${gap},`)}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(string, tie('value')), { maxLength: 4 }))
    .map(
      ([gap, members]) =>
        `{${members.map(([name, value]) => `${gap}${name}${gap}:${value}`).join(',')}${gap}}`,
    ),
}));

test('the first long number is the one that a pattern finds', () => {
  let long = 0;
  fc.assert(
    fc.property(fc.oneof(json.value, json.object), (text) => {
      JSON.parse(text);
      const expected = byPattern(text);
      assert.equal(longNumber(text), expected);
      const bytes = Buffer.from(text);
      const at = longNumberPlace(bytes);
      assert.equal(at < 0 ? null : numberText(bytes, at), expected);
      if (expected !== null) long += 1;
    }),
    { numRuns: 10_000 },
  );
  assert.ok(long > 1_000, `${long} texts had a long number`);
});

test('depth is told of lists and objects outside texts, JSON or not', () => {
  const part = fc.oneof(
    fc.constantFrom('[', '{"a":', ']', '}', '"', '\\', '1e999', '[[[[[[[['),
    json.value,
  );
  const deep = fc
    .tuple(fc.integer({ min: JSON_DEPTH_MAX - 4, max: JSON_DEPTH_MAX + 2 }), json.value)
    .map(([levels, text]) => '['.repeat(levels) + text + ']'.repeat(levels));
  const text = fc.oneof(
    deep,
    fc.array(part, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  let tooDeep = 0;
  fc.assert(
    fc.property(text, fc.nat(), (whole, cut) => {
      const bytes = Buffer.from(whole);
      for (const each of [bytes, bytes.subarray(0, cut % (bytes.length + 1))]) {
        const expected = deepest(each.toString()) > JSON_DEPTH_MAX;
        assert.equal(excessOf(each) === 'levels', expected);
        if (expected) tooDeep += 1;
      }
    }),
    { numRuns: 5_000 },
  );
  assert.ok(tooDeep > 100, `${tooDeep} texts were too deep`);
});

test('any bytes are scanned to their end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      excessOf(bytes);
      longNumberPlace(bytes);
      readJson(bytes);
    }),
    { numRuns: 5_000 },
  );
});

test('a long number is looked for at any depth of a text that has no limit of its own', () => {
  const levels = JSON_DEPTH_MAX + 10;
  assert.equal(longNumber(`${'['.repeat(levels)}-1e999${']'.repeat(levels)}`), '-1e999');
});

test('lists and objects are counted, and no others are parsed', () => {
  const nested = (count: number): Buffer => Buffer.from(`[${'{},'.repeat(count - 2)}{"a":"[{"}]`);
  const most = nested(JSON_NESTED_MAX);
  assert.equal(excessOf(most), null);
  const more = nested(JSON_NESTED_MAX + 1);
  assert.equal(excessOf(more), 'nested');
  const detail = 'The body has more than 131,072 lists and objects.';
  const body = Buffer.concat([Buffer.from('{"items":'), most, Buffer.from('}')]);
  for (const read of [readJson(body), parseJsonObject(body)]) {
    assert.ok(isProblem(read));
    assert.deepEqual([read.status, read.detail], [400, detail]);
  }
  const rest = body.subarray(0, body.length - 1 - '{"a":"[{"}]'.length - 1);
  const fewer = Buffer.concat([rest, Buffer.from(']}')]);
  assert.ok(!isProblem(readJson(fewer)));
  assert.ok(!isProblem(parseJsonObject(fewer)));
  assert.equal(malformationOf(body), null, 'which makes nothing of it');
});

test('values are counted, and no more are parsed', () => {
  const body = (count: number): Buffer => Buffer.from(`{"items":[${'0,'.repeat(count - 3)}0]}`);
  assert.equal(excessOf(body(JSON_VALUES_MAX)), null);
  assert.ok(!isProblem(readJson(body(JSON_VALUES_MAX))));
  const more = body(JSON_VALUES_MAX + 1);
  assert.equal(excessOf(more), 'values');
  for (const read of [readJson(more), parseJsonObject(more)]) {
    assert.ok(isProblem(read));
    const detail = 'The body has more than 262,144 values.';
    assert.deepEqual([read.status, read.detail], [400, detail]);
  }
});

test('refusals come in an order: too deep, not JSON, no object, a long number', () => {
  const told = (text: string): readonly unknown[] => {
    const read = readJson(Buffer.from(text));
    assert.ok(isProblem(read));
    const [error] = read.errors ?? [];
    return [read.status, error?.message ?? read.detail, error?.value];
  };
  const deep = '['.repeat(JSON_DEPTH_MAX + 1);
  assert.deepEqual(told(`${deep}1e999 \\`), [
    400,
    'The body has more than 64 levels of lists and objects.',
    undefined,
  ]);
  assert.deepEqual(told('[1e999'), [400, 'The body is not JSON in UTF-8.', undefined]);
  assert.deepEqual(told('[1e999]'), [422, 'expected an object', undefined]);
  const message = 'a number has more than 15 significant digits';
  assert.deepEqual(told('{"a":[2,-1e999,1e998]}'), [422, message, '-1e999']);
  const long = `-1.${'5'.repeat(50)}`;
  assert.deepEqual(told(`\ufeff{"a":${long}}`), [422, message, long.slice(0, 40)]);
});
