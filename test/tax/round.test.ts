import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { distribute, roundAmounts, roundRate } from '../../src/tax/round-lines.js';
import { decimalText, exactText } from '../../src/tax/amount.js';
import { FINE } from '../../src/tax/scale.js';
import { rounded, ROUNDING_MODES } from '../../src/tax/exact.js';

test('each mode at, below and above a tie', () => {
  const of = (numerator: bigint, denominator: bigint): readonly bigint[] =>
    ROUNDING_MODES.map((mode) => BigInt(rounded(numerator, denominator, mode)));
  // In the order half-up, half-even, up, down.
  assert.deepEqual(of(5n, 2n), [3n, 2n, 3n, 2n]);
  assert.deepEqual(of(7n, 2n), [4n, 4n, 4n, 3n]);
  assert.deepEqual(of(249n, 100n), [2n, 2n, 3n, 2n]);
  assert.deepEqual(of(251n, 100n), [3n, 3n, 3n, 2n]);
  assert.deepEqual(of(4n, 2n), [2n, 2n, 2n, 2n]);
  assert.deepEqual(of(0n, 3n), [0n, 0n, 0n, 0n]);
});

test('units go to the largest remainders, and the parts are the whole', () => {
  const share = (numerator: bigint, rank: number) => ({ numerator, rank });
  assert.deepEqual(distribute(10n, [share(33n, 0), share(33n, 1), share(34n, 2)], 10n), [
    3n,
    3n,
    4n,
  ]);
  assert.deepEqual(distribute(2n, [share(5n, 1), share(5n, 0), share(10n, 2)], 10n), [0n, 1n, 1n]);
  fc.assert(
    fc.property(
      fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 1 }),
      fc.constantFrom(...ROUNDING_MODES),
      (sizes, mode) => {
        const whole = 1_000_000n;
        const total = BigInt(
          rounded(
            sizes.reduce((sum, each) => sum + each, 0n),
            whole,
            mode,
          ),
        );
        const units = distribute(
          total,
          sizes.map((size, at) => share(size, at)),
          whole,
        );
        assert.equal(
          units.reduce((sum, each) => sum + each, 0n),
          total,
        );
        units.forEach((count, at) => {
          const least = sizes[at]! / whole;
          assert.ok(count === least || count === least + 1n);
        });
      },
    ),
  );
});

test('amounts of lines with different denominators add up to the rounded total', () => {
  const line = (state: bigint, denominator: bigint) => ({
    scale: FINE,
    state,
    local: 0n,
    denominator,
    gross: 1n,
  });
  const cent = 10n ** 29n;
  const amounts = roundAmounts(
    [{ index: 0 }, { index: 1 }, { index: 2 }],
    [line(cent, 3n), line(cent, 3n), line(cent / 2n, 1n)],
    { mode: 'half-up', level: 'cart', digits: 2 },
  );
  // One third, one third and a half are one cent, which the half has.
  assert.deepEqual(amounts, [0, 0, 10_000_000]);
});

test('an effective rate has five decimals and a tie goes up', () => {
  // A dollar is 10¹³ units of price × quantity, its tax counts 10⁻³¹ dollars.
  const rate = (ppb: bigint) =>
    roundRate({
      scale: FINE,
      state: ppb * 10n ** 22n,
      local: 0n,
      denominator: 1n,
      gross: 10n ** 13n,
    });
  assert.equal(rate(93_750_000n), 93_750_000);
  assert.equal(rate(88_625_000n), 88_630_000);
  assert.equal(rate(88_624_999n), 88_620_000);
  assert.equal(roundRate(null), 0);
});

test('exact text is a decimal where one is exact, else a fraction in lowest terms', () => {
  assert.equal(decimalText(0n, 31), '0');
  assert.equal(decimalText(1_500n, 3), '1.5');
  assert.equal(exactText(15n, 1, 3n), '0.5');
  assert.equal(exactText(20n, 1, 3n), '2/3');
});
