import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents, parseDollars, USD } from '../../src/tax/amount.js';

test('decimals are read exactly', () => {
  for (const [text, expected] of [
    ['0', 0n],
    ['1', USD],
    ['1.', USD],
    ['.5', USD / 2n],
    ['+2', 2n * USD],
    ['0.0000000019', 1n],
    ['1e2', 100n * USD],
    ['1.5E-1', 150_000_000n],
    ['', null],
    ['.', null],
    ['-1', null],
    ['1e15', null],
    ['1e999', null],
    ['1 000', null],
    ['1234567890123456', null],
    ['0x1', null],
  ] as const) {
    assert.equal(parseDollars(text), expected, text);
  }
});

test('amounts print with two decimals, rounded half up', () => {
  assert.equal(formatCents(0n), '0.00');
  assert.equal(formatCents(5_000_000n), '0.01');
  assert.equal(formatCents(4_999_999n), '0.00');
  assert.equal(formatCents(1_600n * USD), '1600.00');
  assert.equal(formatCents(12_995_000_000n), '13.00');
});
