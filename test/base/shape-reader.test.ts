/** Reading a body by its shape: it finds what `JSON.parse` and the check of the shape find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  anyText,
  anything,
  checkOf,
  choice,
  closed,
  flag,
  list,
  number,
  open,
  optional,
  readerOf,
  uuid,
  whole,
} from '../../src/base/shape.js';
import { excessOf, longNumberPlace } from '../../src/base/json-scan.js';

const LINE = closed({
  index: whole({ min: 0, max: 500 }),
  name: anyText(1, 5),
  price: number({ min: 0 }),
  count: number({ positive: true, max: 99.5 }),
  code: optional(whole({ max: 9 })),
});
const BODY = open({
  items: list(LINE, { min: 1, max: 3 }),
  currency: closed({ code: optional(choice(['USD'])) }),
  isGift: optional(flag()),
  id: optional(uuid()),
  note: optional(anything()),
});

const readBody = readerOf(BODY);
const checkBody = checkOf(BODY);

const line = (change: object = {}): object => ({
  index: 1,
  name: 'one',
  price: 0.1,
  count: 1,
  ...change,
});
const body = (change: object = {}): object => ({
  items: [line()],
  currency: { code: 'USD' },
  ...change,
});

function read(text: string | Uint8Array): unknown {
  return readBody(typeof text === 'string' ? Buffer.from(text) : text);
}

/** The same without members that are undefined: what is absent is told as that. */
function stated(value: unknown): unknown {
  return value === null ? null : JSON.parse(JSON.stringify(value));
}

test('what has the shape is read as JSON.parse reads it', () => {
  const bodies = [
    body(),
    body({ isGift: false, note: null, id: null }),
    body({ id: '00000000-0000-4000-8000-00000000000A', isGift: true }),
    body({ items: [line({ code: 9 }), line({ code: null, price: 12_345_678.91 }), line()] }),
    body({ items: [line({ name: 'né☃𝒳' }), line({ price: 0, count: 99.5 })] }),
    body({ more: [{ of: ['what', 1, true] }, [], {}], is: 'passed over' }),
    { currency: {}, items: [{ count: 0.5, price: 3, name: 'x', index: 0 }] },
  ];
  for (const value of bodies) {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, '\t')]) {
      const members = ['items', 'currency', 'isGift', 'id', 'note'];
      const kept = Object.fromEntries(
        Object.entries(value).filter(([name]) => members.includes(name)),
      );
      assert.deepEqual(stated(read(text)), kept, text);
    }
  }
});

test('what has another shape, or is no JSON, is not read', () => {
  const refused = [
    '',
    '{',
    '[]',
    'null',
    '{}',
    `${JSON.stringify(body())}}`,
    `\ufeff${JSON.stringify(body())}`,
    ...[
      body({ items: [] }),
      body({ items: [line(), line(), line(), line()] }),
      body({ items: [line({ name: '' })] }),
      body({ items: [line({ name: 'sixsix' })] }),
      body({ items: [line({ more: 1 })] }),
      body({ items: [line({ index: 0.5 })] }),
      body({ items: [line({ index: 501 })] }),
      body({ items: [line({ price: null })] }),
      body({ items: [line({ price: '1' })] }),
      body({ items: [line({ count: 0 })] }),
      body({ items: [line({ count: 99.6 })] }),
      body({ items: [null] }),
      body({ items: {} }),
      body({ currency: { code: 'CAD' } }),
      body({ currency: null }),
      body({ isGift: 0 }),
      body({ id: 'x' }),
    ].map((value) => JSON.stringify(value)),
  ];
  for (const text of refused) assert.equal(read(text), null, text);
  const latin = Buffer.from(JSON.stringify(body({ items: [line({ name: 'é' })] })), 'latin1');
  assert.equal(read(latin), null);
});

test('spellings that are seldom seen are left to JSON.parse', () => {
  const text = JSON.stringify(body());
  for (const [from, to] of [
    ['0.1', '1e-1'],
    ['0.1', '-0'],
    ['0.1', '0.10000000000000000'],
    ['"one"', '"o\\u006ee"'],
    ['"index"', '"ind\\u0065x"'],
    ['"index":1', '"index":1,"index":1'],
    ['"currency"', '"isGift":true,"isGift":false,"currency"'],
    ['{"items"', `{"deep":${'['.repeat(20)}${']'.repeat(20)},"items"`],
  ] as const) {
    const changed = text.replace(from, to);
    assert.notEqual(changed, text);
    assert.ok(JSON.parse(changed));
    assert.equal(read(changed), null, changed);
  }
});

test('a text that was spoilt anywhere is read only where it still has the shape', () => {
  const texts = fc.constantFrom(
    JSON.stringify(body()),
    JSON.stringify(body({ note: null, isGift: true, more: { a: [1.5] } })),
    JSON.stringify(
      body({ items: [line({ name: 'é', code: 3 }), line({ price: 20.25 })] }),
      null,
      1,
    ),
  );
  const pieces = fc.constantFrom(
    '',
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\',
    '0',
    '9',
    '-',
    'e',
    '.',
    ' ',
    'é',
    'null',
    '1',
    'true',
    '"a"',
    '\u0000',
    '\n',
  );
  let fitting = 0;
  fc.assert(
    fc.property(texts, fc.nat(), fc.nat(4), pieces, (text, place, cut, piece) => {
      const at = place % (text.length + 1);
      const spoilt = text.slice(0, at) + piece + text.slice(at + cut);
      const bytes = Buffer.from(spoilt);
      const value = stated(read(bytes));
      if (value === null) return;
      fitting += 1;
      const parsed: object = JSON.parse(spoilt);
      assert.deepEqual(checkBody(parsed), [], spoilt);
      assert.equal(excessOf(bytes), null, spoilt);
      assert.equal(longNumberPlace(bytes), -1, spoilt);
      for (const [name, member] of Object.entries(value as object)) {
        assert.deepEqual(member, (parsed as Record<string, unknown>)[name], spoilt);
      }
    }),
    { numRuns: 20_000, seed: 20_261_123 },
  );
  assert.ok(fitting > 500, `only ${fitting} were read`);
});

test('a body of many stretches is read as JSON.parse reads it, whatever lies across their ends', () => {
  const texts = open({ texts: list(anyText(0, 200_000)) });
  const readTexts = readerOf(texts);
  let state = 7;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
  for (let round = 0; round < 8; round += 1) {
    const value = {
      texts: Array.from({ length: 600 }, (_, at) => {
        const length = next(12) === 0 ? 1_000 * next(150) : next(700);
        return `${at} ${(next(5) === 0 ? 'né' : 'ab').repeat(length / 2)}`;
      }),
    };
    assert.deepEqual(readTexts(Buffer.from(JSON.stringify(value))), value);
  }
});
