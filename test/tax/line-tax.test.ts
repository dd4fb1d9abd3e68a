/** The tax of a line is the sum of its parts, whatever its figures are counted in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { COARSE, FINE } from '../../src/tax/scale.js';
import {
  coarseRates,
  lineParts,
  lineTax,
  tierlessOf,
  type ArticleBracket,
  type LineLevy,
  type LineRule,
} from '../../src/tax/line-tax.js';
import type { ProductRule } from '../../src/tax/product-rule.js';
import type { Rate } from '../../src/tax/rate.js';
import { exactOf, ROUNDING_LEVELS, ROUNDING_MODES } from '../../src/tax/exact.js';
import { exactTax, fiveDecimals, roundAmounts, roundRate } from '../../src/tax/round-lines.js';
import { PLAIN_RULE } from '../support/plain-rule.js';

const RUNS = 10_000;
const USD = 1_000_000_000n;

function levy(ppb: number, ofState: boolean, ruled = false, bracket = false): LineLevy {
  return { rate: ppb as Rate, ofState, ruled, bracket, tier: null };
}

function plain(levies: readonly LineLevy[]): LineRule {
  return {
    levies,
    shape: null,
    single: null,
    coarse: coarseRates(levies),
    tierless: tierlessOf(levies),
  };
}

const price = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 0n, max: 200_000n }).map((cents) => cents * 10n ** 7n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 18n }) },
  // Next to whole cents, at the limit of safe integers.
  {
    weight: 1,
    arbitrary: fc
      .nat(2_000)
      .map((less) => BigInt(Number.MAX_SAFE_INTEGER) - BigInt(less) * 4_999_999n),
  },
);
const quantity = fc.oneof(
  { weight: 5, arbitrary: fc.nat(5).map((units) => units * 10_000) },
  { weight: 1, arbitrary: fc.nat(999_999_999) },
);
const MILLIONTHS = [0, 62_500_000, 48_750_000, 10_000_000, 1_000] as const;
const levies = fc
  .array(
    fc.record({
      ppb: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...MILLIONTHS) },
        { weight: 1, arbitrary: fc.nat(99_999_999) },
      ),
      ofState: fc.boolean(),
      ruled: fc.boolean(),
    }),
    { maxLength: 6 },
  )
  .map((each) => each.map(({ ppb, ofState, ruled }) => levy(ppb, ofState, ruled)));

test(`${RUNS} random lines: in either scale the tax is the sum of the parts`, () => {
  let coarse = 0;
  fc.assert(
    fc.property(
      fc.array(fc.record({ levies, price, quantity }), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(...ROUNDING_MODES),
      fc.constantFrom(...ROUNDING_LEVELS),
      fc.constantFrom(2, 5),
      (items, mode, level, digits) => {
        const lines = items.map((item) => {
          const rule = plain(item.levies);
          const tax = lineTax(rule, exactOf(item.price), item.quantity, 'none');
          assert.deepEqual(lineTax(rule, item.price, item.quantity, 'none'), tax);
          if (tax.scale === COARSE) coarse += 1;
          return { ...tax, denominator: 1n };
        });
        const sums = items.map((item) => {
          let [state, local] = [0n, 0n];
          lineParts(plain(item.levies), item.price, item.quantity, 'none', (each, base, fixed) => {
            const tax = base * BigInt(each.rate) + fixed;
            if (each.ofState) state += tax;
            else local += tax;
          });
          const gross = item.price * BigInt(item.quantity);
          return { scale: FINE, gross, state, local, denominator: 1n };
        });
        lines.forEach((line, at) => {
          const right = sums[at]!;
          assert.equal(exactTax(line), right.state + right.local);
          assert.equal(BigInt(line.state) * line.scale.tax, right.state);
          assert.equal(BigInt(line.gross) * line.scale.gross, right.gross);
          assert.equal(roundRate(line), roundRate(right));
          const rate = items[at]!.levies.reduce((sum, each) => sum + each.rate, 0);
          if (right.gross > 0n) assert.equal(roundRate(line), fiveDecimals(rate));
        });
        const ranks = items.map((_, index) => ({ index }));
        const wish = { mode, level, digits };
        assert.deepEqual(roundAmounts(ranks, lines, wish), roundAmounts(ranks, sums, wish));
      },
    ),
    { numRuns: RUNS },
  );
  assert.ok(coarse > RUNS, `${coarse} lines were counted in COARSE`);
});

test('rates finer than a millionth, and prices finer than a cent, are counted in FINE', () => {
  assert.deepEqual(coarseRates([levy(62_500_000, true), levy(15_000_000, false)]), {
    state: 62_500,
    local: 15_000,
  });
  assert.equal(coarseRates([levy(62_500_500, true), levy(500, false)]), null);
  const rule = plain([levy(62_500_000, true)]);
  assert.equal(lineTax(rule, USD, 10_000, 'none').scale, COARSE);
  assert.equal(lineTax(rule, USD + 1n, 10_000, 'none').scale, FINE);
  // 9,000 dollars of tax fit a safe integer, and twice as many do not: the amount is exact anyway.
  for (const dollars of [144_000n, 288_000n]) {
    const tax = lineTax(rule, dollars * USD, 10_000, 'none');
    assert.equal(typeof tax.state, dollars === 144_000n ? 'number' : 'bigint');
    assert.equal(exactTax(tax), dollars * 62_500n * 10n ** 25n);
  }
});

const NO_SHAPE: ProductRule = { ...PLAIN_RULE, tic: '30060' };

function partsOf(
  rule: Partial<LineRule> & Pick<LineRule, 'levies'>,
  dollars: bigint,
): readonly (readonly [bigint, bigint])[] {
  const parts: (readonly [bigint, bigint])[] = [];
  lineParts(
    { shape: null, single: null, coarse: null, tierless: tierlessOf(rule.levies), ...rule },
    dollars * USD,
    10_000,
    'none',
    (_, base, fixed) => parts.push([base / 10n ** 22n, fixed / 10n ** 31n]),
  );
  return parts;
}

test('what a cap leaves goes to the first levies, and a tax by volume to the first of the state', () => {
  const three = [
    levy(50_000_000, true, true),
    levy(40_000_000, false, true),
    levy(10_000_000, true, true),
  ];
  const shape = { ...NO_SHAPE, capPerUnit: 8n * USD };
  assert.deepEqual(partsOf({ levies: three, shape }, 80n), [
    [80n, 0n],
    [80n, 0n],
    [80n, 0n],
  ]);
  assert.deepEqual(partsOf({ levies: three, shape }, 100n), [
    [0n, 5n],
    [0n, 3n],
    [0n, 0n],
  ]);
  const volume = { ...NO_SHAPE, perVolume: { amount: 2n * USD, unit: 'gallon' } };
  assert.deepEqual(partsOf({ levies: [three[1]!, three[0]!, three[2]!], shape: volume }, 100n), [
    [100n, 0n],
    [100n, 2n],
    [100n, 0n],
  ]);
});

test('local taxes on an article end where an additional one begins', () => {
  const single: ArticleBracket = {
    localLimit: 1_600n * USD,
    bracketEnd: 3_200n * USD,
    additionalRate: 27_500_000,
  };
  const articles = [
    levy(70_000_000, true),
    levy(22_500_000, false),
    levy(27_500_000, true, false, true),
  ];
  const bases = (dollars: bigint): readonly bigint[] =>
    partsOf({ levies: articles, single }, dollars).map(([base]) => base);
  assert.deepEqual(bases(1_600n), [1_600n, 1_600n, 0n]);
  assert.deepEqual(bases(2_000n), [2_000n, 1_600n, 400n]);
  assert.deepEqual(bases(5_000n), [5_000n, 1_600n, 1_600n]);
});
