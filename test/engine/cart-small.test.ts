/** Lines with small taxes come to what bigints say of them, one by one and together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isUnknown, taxTreated, totalOf, type GoodsTotal, type TaxedLine,
} from '../../src/engine/cart/line.js';
import type { CartLine } from '../../src/engine/cart/query.js';
import { smallLine, smallTotal } from '../../src/engine/cart/small.js';
import type { Treatment } from '../../src/engine/cart/treatment.js';
import { ROUNDING_LEVELS, ROUNDING_MODES } from '../../src/tax/round.js';
import { fiveDecimals, roundAmounts, roundRate } from '../../src/tax/round-lines.js';
import { smallRates } from '../../src/tax/small-tax.js';

const RUNS = 10_000;

/** A treatment that takes the same of every price. */
function plain(state: number, local: number): Treatment {
  const plainState = BigInt(state);
  const plainLocal = BigInt(local);
  return {
    tic: '00000', rule: null, shape: null, flat: fiveDecimals(state + local), levies: [],
    holidays: [], unclearHolidays: [], single: null, unknownLocals: '', unknown: '',
    locality: null, notes: [], plainState, plainLocal, ruledState: 0n, ruledLocal: 0n,
    small: smallRates(plainState, plainLocal),
  };
}

/** A few rates, so that carts with one alone are met; the last is finer than a millionth. */
const TREATMENTS = [
  plain(0, 0), plain(62_500_000, 22_500_000), plain(40_000_000, 48_750_000),
  plain(0, 35_000_000), plain(62_500_500, 22_499_500),
] as const;

interface Drawn {
  readonly treatment: Treatment;
  readonly line: CartLine;
}

const price = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 0n, max: 200_000n }).map((cents) => cents * 10n ** 7n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 18n }) },
);
const quantity = fc.oneof(
  { weight: 5, arbitrary: fc.nat(5).map((units) => units * 10_000) },
  { weight: 1, arbitrary: fc.nat(999_999_999) },
);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  treatment: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(TREATMENTS[1], TREATMENTS[0]) },
    { weight: 1, arbitrary: fc.constantFrom(...TREATMENTS) },
  ),
  line: fc.record({
    index: fc.nat(500), itemId: fc.constant('item'), price, quantity, tic: fc.constant(null),
  }),
});

function exactLine({ treatment, line }: Drawn): TaxedLine {
  const tax = taxTreated(treatment, line.price, BigInt(line.quantity));
  assert.ok(!isUnknown(tax));
  return tax;
}

function amountsOf({ state, local, gross, mixed }: GoodsTotal): readonly unknown[] {
  return [state, local, gross, mixed];
}

test(`${RUNS} random carts come to the same with small lines and without`, () => {
  let small = 0;
  fc.assert(fc.property(fc.array(drawn, { minLength: 1, maxLength: 10 }),
    fc.constantFrom(...ROUNDING_MODES), fc.constantFrom(...ROUNDING_LEVELS),
    fc.constantFrom(2, 5), (items, mode, level, digits) => {
      const exact = items.map(exactLine);
      const quick = items.map((item, at) =>
        smallLine(item.treatment, item.line, null) ?? exact[at]!);
      quick.forEach((line, at) => {
        const { state, local, gross, flat } = exact[at]!;
        assert.deepEqual([line.state, line.local, line.gross, line.flat],
          [state, local, gross, flat]);
        if (gross > 0n) assert.equal(flat, roundRate(exact[at]!));
      });
      const lines = items.map(({ line }) => line);
      const wish = { mode, level, digits };
      assert.deepEqual(roundAmounts(lines, quick, wish), roundAmounts(lines, exact, wish));
      assert.deepEqual(amountsOf(totalOf(quick)), amountsOf(totalOf(exact)));
      if (smallTotal(quick) !== null) small += 1;
    }), { numRuns: RUNS });
  assert.ok(small > RUNS / 20, `${small} carts were small as a whole`);
});

test('sums of small lines that are not small themselves are added up with bigints', () => {
  // 9,000 dollars of tax fit once and not twice.
  const item = {
    treatment: plain(100_000_000, 0),
    line: { index: 0, itemId: 'a', price: 90_000n * 10n ** 9n, quantity: 10_000, tic: null },
  };
  const line = smallLine(item.treatment, item.line, null);
  assert.ok(line !== null);
  assert.ok(smallTotal([line]) !== null);
  assert.equal(smallTotal([line, line]), null);
  const twice = totalOf([exactLine(item), exactLine(item)]);
  assert.deepEqual(amountsOf(totalOf([line, null, line])), amountsOf(twice));
});
