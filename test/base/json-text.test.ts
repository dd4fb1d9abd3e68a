/** The check of bytes that arrive piece by piece says what the parser says. */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { excessOf, JSON_DEPTH_MAX } from '../../src/base/json-scan.js';
import { JsonText, jsonSummary, summaryOf, type JsonSummary } from '../../src/base/json-text.js';

const DECODER = new TextDecoder('utf-8', { fatal: true });

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(DECODER.decode(bytes));
    return excessOf(bytes) !== 'levels';
  } catch {
    return false;
  }
}

function inPieces(bytes: Buffer, size: number): JsonSummary {
  const text = new JsonText();
  for (let at = 0; at < bytes.length; at += size) text.push(bytes.subarray(at, at + size));
  return summaryOf(text, isUtf8(bytes));
}

function assertSame(bytes: Buffer): void {
  const expected = parses(bytes);
  const whole = jsonSummary(bytes);
  assert.equal(whole.isJson, expected, JSON.stringify(bytes.toString('latin1')));
  for (const size of [1, 2, 3, 7]) assert.deepEqual(inPieces(bytes, size), whole);
}

const WRITTEN = [
  '',
  ' ',
  '0',
  '-0',
  '00',
  '-',
  '1.',
  '1.5',
  '.5',
  '1e5',
  '1e',
  '1E+',
  '1E+5',
  '1e-05',
  '+1',
  '-1.5e3',
  '1 2',
  'true',
  'tru',
  'truee',
  'null',
  'nul',
  'false',
  'NaN',
  '"',
  '""',
  '"a',
  '"\\',
  '"\\n"',
  '"\\x"',
  '"\\u12"',
  '"\\u12aF"',
  '"\\u12g4"',
  '"\\ud800"',
  '"\u0001"',
  '"\t"',
  '[]',
  '[',
  ']',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[1,2]',
  '{}',
  '{',
  '}',
  '{"a"}',
  '{"a":}',
  '{"a":1}',
  '{"a":1,}',
  '{a:1}',
  '{"a":1 "b":2}',
  '{"a":1,"b":[{}]}',
  '[}',
  '{]',
  '[[1],{"b":[2]}]x',
  '\ufeff{}',
  ' \ufeff{}',
  '\ufeff\ufeff{}',
  '\v1',
  '"é😀"',
  '[-]',
  '[1,-]',
  '{"a":-}',
];

test('written texts, whole and in pieces', () => {
  for (const text of WRITTEN) assertSame(Buffer.from(text));
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0xef, 0x31], [0x20, 0xbb, 0x31]]) {
    assertSame(Buffer.from(bytes));
  }
  for (const depth of [JSON_DEPTH_MAX, JSON_DEPTH_MAX + 1]) {
    assertSame(Buffer.from('['.repeat(depth) + ']'.repeat(depth)));
  }
});

test("texts of the parser's own alphabet, and JSON with a byte changed", () => {
  const mark = fc.constantFrom(
    ...'{}[]",:\\u06dDbe-+.tn '.split(''),
    'true',
    'null',
    '"a":',
    '1',
    '-0.5e+3',
  );
  fc.assert(
    fc.property(fc.array(mark, { maxLength: 12 }), (marks) => {
      assertSame(Buffer.from(marks.join('')));
    }),
    { numRuns: 3_000, seed: 1 },
  );
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.nat(255), (json, at, byte) => {
      const bytes = Buffer.from(json);
      assertSame(bytes);
      bytes[at % bytes.length] = byte;
      assertSame(bytes);
    }),
    { numRuns: 1_000, seed: 1 },
  );
});

test('a list of one is known by its element, anything else is not', () => {
  const only = (text: string): string | null => {
    const bytes = Buffer.from(text);
    const { only: found } = jsonSummary(bytes);
    assert.deepEqual(inPieces(bytes, 1).only, found);
    return found === null ? null : bytes.subarray(found.from, found.to).toString();
  };
  assert.equal(only(' [ {"a":1.0, "b":[1,2]} ] '), '{"a":1.0, "b":[1,2]}');
  for (const [text, element] of [
    ['[1.5e3 ]', '1.5e3'],
    ['["a,]"]', '"a,]"'],
    ['[null]', 'null'],
    ['[[1,2]]', '[1,2]'],
    ['[-0]', '-0'],
  ] as const) {
    assert.equal(only(text), element);
  }
  for (const text of ['[]', '[ ]', '[{},{}]', '{"a":[1]}', ' {"a":1} ', '1', '[1', '[1]]']) {
    assert.equal(only(text), null, text);
  }
});

/** The shortest of many times that a piece took, which no other load makes longer. */
function bestMs(part: string): number {
  const size = 65_536;
  const piece = Buffer.from(`[${part.repeat(size)}`.slice(0, size));
  let best = Infinity;
  for (let run = 0; run < 30; run += 1) {
    const text = new JsonText();
    const from = performance.now();
    text.push(piece);
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

test('a piece of hostile bytes takes no longer than a plain one by much', () => {
  const plain = bestMs('"aaaaaaaaaaaaaaaaaaaa",');
  for (const part of ['[', '{"a":', '"\\u0000",', '{},', 'x', '-1.5e+3,']) {
    const best = bestMs(part);
    // Four times as long was seen; looking at a piece again for each of its bytes is thousands.
    assert.ok(best < 100 * plain, `${best} ms for ${part}, ${plain} for plain text`);
  }
});
