import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRate, parsePercent, parseRate, sumRates, type Rate } from '../../src/tax/rate.js';

test('decimal fractions and percentages are read exactly', () => {
  const table: readonly (readonly [string, number])[] = [
    ['0.0775', 77_500_000],
    ['.0625', 62_500_000],
    ['0', 0],
    ['1', 1_000_000_000],
    ['0.086250000', 86_250_000],
    ['0.000000001', 1],
    ['0.0775000000000', -1],
  ];
  for (const [text, expected] of table) {
    assert.equal(parseRate(text), expected === -1 ? null : expected, text);
  }
  assert.equal(parsePercent('7.75'), 77_500_000);
  assert.equal(parsePercent('9.375'), 93_750_000);
  assert.equal(parsePercent('8.6125'), 86_125_000);
});

test('what is no decimal, negative or too fine is refused', () => {
  for (const text of ['', '.', '-0.01', '1e-3', '0,0775', 'abc', '0.0000000001', 'NaN', '12345']) {
    assert.equal(parseRate(text), null, text);
  }
});

test('printing and reading are inverse and shortest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (value) => {
      const text = formatRate(value as Rate);
      assert.equal(parseRate(text), value);
      assert.ok(!/\.\d*0$/.test(text) && !text.endsWith('.'), text);
    }),
  );
  assert.equal(formatRate(77_500_000 as Rate), '0.0775');
  assert.equal(formatRate(-5_000_000 as Rate), '-0.005');
});

test('sums are exact where binary fractions are not', () => {
  const parts = ['0.0725', '0.005', '0.00125'].map((text) => parseRate(text)!);
  assert.equal(formatRate(sumRates(parts)), '0.07875');
});
