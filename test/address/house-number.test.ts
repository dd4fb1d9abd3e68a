import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseHouseNumber } from '../../src/address/house-number.js';

describe('publishers’ number columns', () => {
  const rows: readonly (readonly [string, string, number, string, number])[] = [
    ['12', '12', 12, '', -1],
    ['0', '0', 0, '', -1],
    ['0012', '12', 12, '', -1],
    ['101A', '101A', 101, 'A', -1],
    ['101 A', '101A', 101, 'A', -1],
    ['101 N', '101N', 101, 'N', -1],
    ['123 1/2', '123 1/2', 123, '1/2', -1],
    ['123½', '123 1/2', 123, '1/2', -1],
    ['100-104', '100', 100, '', 104],
    ['1600-04', '1600', 1600, '', 1604],
    ['8-10', '8', 8, '', 10],
    ['12-34', '12-34', 10_120_034, '', -1],
    ['12-04', '12-04', 10_120_004, '', -1],
    ['94-1234', '94-1234', 10_941_234, '', -1],
    ['N12W3456', 'N12W3456', -1, '', -1],
    ['n12 w3456', 'N12W3456', -1, '', -1],
    ['W1234', 'W1234', 1234, '', -1],
    ['A12', 'A12', 12, '', -1],
  ];
  for (const [text, number, value, suffix, high] of rows) {
    test(text, () => assert.deepEqual(parseHouseNumber(text), { number, value, suffix, high }));
  }
});

test('what is no number is null', () => {
  for (const text of ['', 'MAIN', '1ST', '12 MAIN', '12345678', '#', '12/4']) {
    assert.equal(parseHouseNumber(text), null, text);
  }
});

test('hyphenated numbers keep the order of their doors', () => {
  const value = (text: string): number => parseHouseNumber(text)?.value ?? -1;
  assert.ok(value('12-34') < value('12-35'));
  assert.ok(value('12-99') < value('13-01'));
  assert.ok(value('999999') < value('1-01'));
});

test('zeros in front of a hyphenated number count for nothing', () => {
  for (const [written, plain] of [
    ['00-1', '0-1'],
    ['01-2', '1-2'],
    ['07-15', '7-15'],
  ] as const) {
    assert.deepEqual(parseHouseNumber(written), parseHouseNumber(plain), written);
  }
  for (let low = 0; low < 120; low += 1) {
    for (let width = 1; width <= 4; width += 1) {
      for (const end of ['1', '02', '9', '15', '99', '101']) {
        const once = parseHouseNumber(`${String(low).padStart(width, '0')}-${end}`);
        if (once === null || once.high >= 0) continue;
        assert.equal(parseHouseNumber(once.number)?.number, once.number);
      }
    }
  }
});

test('any text is read without an exception, and a number reads as itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 14 }), (text) => {
      const once = parseHouseNumber(text);
      if (once !== null && once.high < 0) {
        assert.equal(parseHouseNumber(once.number)?.number, once.number);
      }
    }),
    { numRuns: 3000 },
  );
});
