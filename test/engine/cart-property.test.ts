/** What holds for every cart: the oracle's amounts, sums, order, splitting, and lookups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seeded } from '../../bench/case/case.js';
import type { CartLine, CartOutcome } from '../../src/engine/cart/outcome.js';
import { isFailure } from '../../src/failure.js';
import { cartOf, NOW } from '../support/cart-world.js';
import { RandomCarts } from '../support/random-carts.js';
import { recompute } from '../support/recompute-explain.js';
import { engineOf } from '../support/engine-of.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';

/** Random carts that CI compares with the oracle. */
const CARTS = 10_000;
const CARTS_EACH = 1_000;
const UNIT_TOLERANCE = 2n;

const world = new RandomCarts();
const draws = fc.integer({ min: 0, max: 0xffff_ffff }).map((seed) => seeded(seed));

test(`${CARTS} random carts come to what the oracle says`, () => {
  fc.assert(
    fc.property(draws, (next) => {
      assert.equal(world.compare(world.cart(next)), '');
    }),
    { numRuns: CARTS },
  );
});

test('an explanation recomputes every amount', () => {
  fc.assert(
    fc.property(draws, (next) => {
      const { asked } = world.cart(next, true);
      const outcome = engineOf(world.dataset).calculate(asked, NOW);
      if (isFailure(outcome)) return;
      const plain = JSON.stringify({
        cart: outcome.explain,
        lines: outcome.lines.map(({ explain }) => explain),
      });
      assert.deepEqual(recompute(JSON.parse(plain)), []);
      const quiet = engineOf(world.dataset).calculate({ ...asked, explain: false }, NOW);
      assert.ok(!isFailure(quiet));
      assert.equal(quiet.explain, null);
      assert.deepEqual(
        quiet.lines.map(({ amount }) => amount),
        outcome.lines.map(({ amount }) => amount),
      );
    }),
    { numRuns: CARTS_EACH },
  );
});

test('the order of lines does not matter, and amounts add up to the total', () => {
  fc.assert(
    fc.property(draws, fc.nat(), (next, turn) => {
      const { asked } = world.cart(next);
      const one = engineOf(world.dataset).calculate(asked, NOW);
      const at = turn % asked.lines.length;
      const lines = [...asked.lines.slice(at), ...asked.lines.slice(0, at)].reverse();
      const other = engineOf(world.dataset).calculate({ ...asked, lines }, NOW);
      if (isFailure(one)) {
        assert.ok(isFailure(other));
        return;
      }
      assert.ok(!isFailure(other));
      const byIndex = (answer: CartOutcome): readonly (readonly unknown[])[] =>
        [...answer.lines]
          .sort((left, right) => left.index - right.index)
          .map(({ index, amount, rate }) => [index, amount, rate]);
      assert.deepEqual(byIndex(other), byIndex(one));
      assert.equal(
        one.lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        BigInt(one.total),
      );
      assert.equal(other.total, one.total);
    }),
    { numRuns: CARTS_EACH },
  );
});

function split(line: CartLine, index: number): readonly CartLine[] {
  const first = Math.floor(line.quantity / 2);
  return [
    { ...line, quantity: first },
    { ...line, index, quantity: line.quantity - first },
  ];
}

test('splitting a quantity changes tax by rounding alone', () => {
  fc.assert(
    fc.property(draws, (next) => {
      const { asked, told } = world.cart(next);
      const lines = asked.lines.flatMap((line, at) =>
        at === 0 ? split(line, asked.lines.length) : [line],
      );
      const whole = engineOf(world.dataset).calculate(asked, NOW);
      const parts = engineOf(world.dataset).calculate({ ...asked, lines }, NOW);
      assert.equal(isFailure(parts), isFailure(whole));
      if (isFailure(whole) || isFailure(parts)) return;
      const unit = 10n ** BigInt(9 - told.digits);
      const difference = BigInt(whole.total) - BigInt(parts.total);
      const most = told.level === 'cart' ? 0n : UNIT_TOLERANCE * unit;
      assert.ok(difference <= most && -difference <= most, `${difference} ${JSON.stringify(told)}`);
    }),
    { numRuns: CARTS_EACH },
  );
});

test('a line of general goods has the rate of a lookup at the place that taxes it', () => {
  fc.assert(
    fc.property(draws, (next) => {
      const { asked } = world.cart(next);
      const { destination } = asked;
      assert.ok(destination.kind === 'split');
      const { line1, city, state, zip } = destination;
      const address = `${line1}, ${city}, ${state} ${zip}`;
      const found = engineOf(world.dataset).lookup(
        {
          kind: 'address',
          address,
          options: NO_OPTIONS,
        },
        NOW,
      );
      assert.ok(!isFailure(found) && found.kind === 'situs');
      const outcome = engineOf(world.dataset).calculate(
        cartOf(destination, destination, [['100']]),
        NOW,
      );
      assert.ok(!isFailure(outcome));
      const [line] = outcome.lines;
      const exact = Number(found.rates.sales);
      assert.ok(Math.abs(Number(line?.rate) - exact) <= 5_000);
      assert.equal(outcome.marks.precision, found.situs.precision);
    }),
    { numRuns: CARTS_EACH },
  );
});
