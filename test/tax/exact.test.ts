/** Exact integers: the same with safe integers and with bigints, at the limit above all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Exact,
  exactOf,
  minus,
  plus,
  quotient,
  rounded,
  ROUNDING_MODES,
  times,
} from '../../src/tax/exact.js';
import { rational, rounded as oracle } from '../support/rational.js';

const RUNS = 10_000;
const LAST = Number.MAX_SAFE_INTEGER;

/** Integers near the limit, near its root and small ones, as a number or a bigint. */
const numbers = fc.oneof(
  fc.nat(1_000_000),
  fc.nat(200_000_000),
  fc.integer({ min: 0, max: LAST }),
  fc.nat(2_000).map((less) => LAST - less),
);
const exact: fc.Arbitrary<Exact> = fc.oneof(
  { weight: 4, arbitrary: numbers },
  { weight: 1, arbitrary: numbers.map(BigInt) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 40n }) },
);

test('products, sums, differences and quotients are those of bigints, and fit what they are', () => {
  let beyond = 0;
  fc.assert(
    fc.property(exact, exact, (one, other) => {
      const [a, b] = [BigInt(one), BigInt(other)];
      const results: [Exact, bigint][] = [
        [times(one, other), a * b],
        [plus(one, other), a + b],
        [a < b ? minus(other, one) : minus(one, other), a < b ? b - a : a - b],
        ...(b === 0n ? [] : [[quotient(one, other), a / b] as [Exact, bigint]]),
      ];
      for (const [got, right] of results) {
        assert.equal(BigInt(got), right);
        if (typeof got === 'number') assert.ok(Number.isSafeInteger(got));
      }
      if (
        typeof one === 'number' &&
        typeof other === 'number' &&
        typeof times(one, other) === 'bigint'
      )
        beyond += 1;
    }),
    { numRuns: RUNS },
  );
  assert.ok(beyond > RUNS / 20, `${beyond} products did not fit a safe integer`);
});

test('the limit is that of safe integers', () => {
  assert.equal(times(LAST, 1), LAST);
  assert.equal(times(LAST, 2), BigInt(LAST) * 2n);
  assert.equal(times(3, 3_002_399_751_580_331), 9_007_199_254_740_993n);
  assert.equal(plus(LAST, 0), LAST);
  assert.equal(plus(LAST, 1), BigInt(LAST) + 1n);
});

test('every mode rounds as plain fractions do, at ties and beside them', () => {
  const rests = fc.constantFrom(0n, 1n, -1n, 2n, 3n);
  const near = fc
    .record({
      unit: fc.constantFrom(10_000_000, 10_000_000_000, 3, 10n ** 29n, 7n * 10n ** 26n),
      whole: fc.nat(900_000),
      place: fc.constantFrom(0n, 1n, 2n),
      off: rests,
    })
    .map(({ unit, whole, place, off }): [Exact, Exact] => {
      const over = BigInt(whole) * BigInt(unit) + (place * BigInt(unit)) / 2n + off;
      const numerator = over < 0n ? 0n : over;
      return [typeof unit === 'number' && numerator <= LAST ? Number(numerator) : numerator, unit];
    });
  const pair = fc.tuple(
    exact,
    exact.filter((under) => under > 0),
  );
  fc.assert(
    fc.property(fc.oneof(near, pair), ([numerator, denominator]) => {
      for (const mode of ROUNDING_MODES) {
        assert.equal(
          BigInt(rounded(numerator, denominator, mode)),
          oracle(rational(`${numerator}/${denominator}`), mode),
          mode,
        );
      }
    }),
    { numRuns: RUNS },
  );
});

test('a bigint that is a safe integer is one', () => {
  assert.equal(exactOf(0n), 0);
  assert.equal(exactOf(9_007_199_254_740_991n), 9_007_199_254_740_991);
  for (const more of [9_007_199_254_740_992n, 9_007_199_254_740_993n, 10n ** 30n]) {
    assert.equal(exactOf(more), more);
  }
});
