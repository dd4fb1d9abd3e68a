/** A tax at the average share of other lines is the same fraction, whatever it is counted in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactOf, hasTens, ROUNDING_MODES, withoutTens } from '../../src/tax/exact.js';
import { COARSE, FINE, type LineTax } from '../../src/tax/scale.js';
import { sharedTax } from '../../src/tax/shared-tax.js';
import { exactTax, roundLine, roundRate } from '../../src/tax/round-lines.js';

const RUNS = 20_000;
const CENT = 10_000_000n;

/** Cents, and some prices that are finer. */
const price = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 500_000n }).map((cents) => cents * CENT) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 18n }) },
);
const quantity = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 400 }).map((units) => units * 10_000) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 999_999_999 }) },
);
/** Goods of everyday carts: cents × quantity, taxed at rates of hundredths of a percent and finer. */
const goods = fc
  .record({
    gross: fc.oneof(
      fc.integer({ min: 1, max: 3_000_000 }).map((cents) => cents * 10_000),
      fc.integer({ min: 1, max: 2 ** 40 }),
    ),
    state: fc.constantFrom(0, 60_000, 62_500, 40_000, 88_750, 1),
    local: fc.constantFrom(0, 10_000, 22_500, 48_750, 3),
    // The part of the goods that is taxed.
    part: fc.constantFrom(1, 2, 4, 10_000),
  })
  .map(({ gross, state, local, part }): LineTax => {
    const taxed = Math.floor(gross / part);
    return {
      scale: COARSE,
      gross,
      state: exactOf(BigInt(taxed) * BigInt(state)),
      local: exactOf(BigInt(taxed) * BigInt(local)),
    };
  });

/** The same in the finest scale. */
function fine({ scale, gross, state, local }: LineTax): LineTax {
  return {
    scale: FINE,
    gross: BigInt(gross) * scale.gross,
    state: BigInt(state) * scale.tax,
    local: BigInt(local) * scale.tax,
  };
}

test(`${RUNS} random charges: the share in integers of any scale, its amounts and its rate`, () => {
  let counted = 0;
  fc.assert(
    fc.property(price, quantity, goods, (cost, count, others) => {
      const usual = sharedTax(exactOf(cost), count, others);
      const exact = sharedTax(exactOf(cost), count, fine(others));
      assert.equal(exact.scale, FINE);
      if (usual.scale !== FINE && typeof usual.state === 'number') counted += 1;
      assert.equal(BigInt(usual.gross) * usual.scale.gross, exact.gross);
      for (const part of ['state', 'local'] as const) {
        assert.equal(
          BigInt(usual[part]) * usual.scale.tax * BigInt(exact.denominator),
          BigInt(exact[part]) * BigInt(usual.denominator),
        );
      }
      // By its meaning: price × quantity × tax of the goods ÷ their price × quantity.
      assert.equal(
        exactTax(usual) * BigInt(others.gross) * COARSE.gross,
        cost * BigInt(count) * exactTax(others) * BigInt(usual.denominator),
      );
      for (const mode of ROUNDING_MODES) {
        for (const digits of [2, 5, 9]) {
          assert.equal(roundLine(usual, { mode, digits }), roundLine(exact, { mode, digits }));
        }
      }
      assert.equal(roundRate(usual), roundRate(exact));
    }),
    { numRuns: RUNS },
  );
  assert.ok(counted > RUNS / 4, `${counted} among safe integers`);
});

test('powers of ten of safe integers', () => {
  assert.equal(hasTens(1_200, 2), true);
  assert.equal(hasTens(1_250, 2), false);
  assert.equal(hasTens(0, 7), true);
  assert.equal(hasTens(Number.MAX_SAFE_INTEGER, 1), false);
  // Next to it: its double quotient would round to a whole number where spacing is two tenths.
  assert.equal(hasTens(9_007_199_254_740_989, 1), false);
  assert.equal(hasTens(9_007_199_254_740_990, 1), true);
  assert.equal(hasTens(1_000n, 1), false, 'what is no safe integer is not looked at');
  assert.equal(withoutTens(1_200, 2), 12);
  assert.equal(withoutTens(1_200n, 2), 12n);
  assert.equal(withoutTens(7, 0), 7);
});
