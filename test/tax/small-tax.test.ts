/** Small taxes are the exact ones, and what does not fit says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ROUNDING_MODES, ROUNDINGS } from '../../src/tax/round.js';
import {
  NOT_SMALL, roundSmall, SMALL_DIGITS, smallBase, smallRates, smallTax,
} from '../../src/tax/small-tax.js';

const NANO_PER_CENT = 10_000_000n;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const RUNS = 10_000;

test('base and tax are exact, or not small', () => {
  const prices = fc.oneof(
    fc.nat(2_000_000).map((cents) => BigInt(cents) * NANO_PER_CENT),
    fc.bigInt({ min: 0n, max: 10n ** 11n }).map((cents) => cents * NANO_PER_CENT),
    fc.bigInt({ min: 0n, max: 10n ** 18n }),
    // Next to whole cents, at the limit of safe integers.
    fc.integer({ min: 0, max: 2_000 }).map((less) => SAFE - BigInt(less) * 4_999_999n),
  );
  const quantities = fc.oneof(
    fc.integer({ min: 0, max: 9 }).map((units) => units * 10_000),
    fc.integer({ min: 0, max: 999_999_999 }),
  );
  let fits = 0;
  fc.assert(fc.property(prices, quantities, fc.integer({ min: 0, max: 300_000 }),
    (price, quantity, millionths) => {
      const base = price / NANO_PER_CENT * BigInt(quantity);
      const isSmall = price % NANO_PER_CENT === 0n && price <= SAFE && base <= SAFE;
      assert.equal(smallBase(price, quantity), isSmall ? Number(base) : NOT_SMALL);
      const tax = base * BigInt(millionths);
      assert.equal(smallTax(isSmall ? Number(base) : NOT_SMALL, millionths),
        isSmall && tax <= SAFE ? Number(tax) : NOT_SMALL);
      if (isSmall && tax <= SAFE) fits += 1;
    }), { numRuns: RUNS });
  assert.ok(fits > RUNS / 100, `${fits} were small`);
});

test('the limit of a tax is that of safe integers', () => {
  assert.equal(smallTax(Number.MAX_SAFE_INTEGER, 1), Number.MAX_SAFE_INTEGER);
  assert.equal(smallTax(Number.MAX_SAFE_INTEGER, 2), NOT_SMALL);
  assert.equal(smallTax(3, 3_002_399_751_580_331), NOT_SMALL);
  assert.equal(smallBase(900_719_925n * NANO_PER_CENT, 1), 900_719_925);
  assert.equal(smallBase(900_719_926n * NANO_PER_CENT, 1), NOT_SMALL);
  assert.equal(smallBase(NANO_PER_CENT + 1n, 1), NOT_SMALL);
});

test('rates are small in whole millionths alone', () => {
  assert.deepEqual(smallRates(62_500_000n, 15_000_000n), { state: 62_500, total: 77_500 });
  assert.deepEqual(smallRates(0n, 0n), { state: 0, total: 0 });
  assert.equal(smallRates(62_500_500n, 500n), null);
  assert.equal(smallRates(62_500_000n, 1n), null);
});

test('every mode rounds a small tax as it rounds the exact one', () => {
  const units = fc.constantFrom(2, 5).map((digits) => 10 ** (SMALL_DIGITS - digits));
  const parts = fc.record({
    unit: units, whole: fc.nat(900_000), rest: fc.oneof(
      fc.constantFrom('zero', 'one', 'below', 'tie', 'above', 'last'), fc.nat()),
  });
  const restOf = (rest: number | string, unit: number): number => {
    if (typeof rest === 'number') return rest % unit;
    return { zero: 0, one: 1, below: unit / 2 - 1, tie: unit / 2, above: unit / 2 + 1 }[rest]
      ?? unit - 1;
  };
  fc.assert(fc.property(parts, ({ unit, whole, rest }) => {
    const tax = Math.min(whole * unit + restOf(rest, unit), Number.MAX_SAFE_INTEGER);
    for (const mode of ROUNDING_MODES) {
      assert.equal(BigInt(roundSmall(tax, unit, mode)), ROUNDINGS[mode](BigInt(tax), BigInt(unit)));
    }
  }), { numRuns: RUNS });
  for (const mode of ROUNDING_MODES) {
    for (let less = 0; less < 2_000; less += 1) {
      const tax = Number.MAX_SAFE_INTEGER - less * 49_999_999;
      const exact = ROUNDINGS[mode](BigInt(tax), 10_000_000n);
      assert.equal(BigInt(roundSmall(tax, 10_000_000, mode)), exact);
    }
  }
});
