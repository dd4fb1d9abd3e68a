/** The rate of a line that comes to nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRate } from '../../src/tax/rate.js';
import { calculated, cartOf, cartWorld, type Item, splitAt } from '../support/cart-world.js';
import { levies } from '../support/product-facts.js';

test('a delivery charge of nothing has the rate of the goods that it follows', () => {
  const at = splitAt('NY', 0);
  const rates = (items: readonly Item[]): readonly string[] =>
    calculated(
      cartWorld([{ state: 'NY', percents: levies('state 4, county 2') }]),
      cartOf(at, at, items),
    ).lines.map(({ rate }) => formatRate(rate));
  for (const price of ['0', '9.99']) {
    const charge: Item = [price, 1, '10001'];
    assert.deepEqual(rates([['50', 1, '40030'], charge]), ['0', '0'], price);
    assert.deepEqual(rates([charge, ['50']]), ['0.06', '0.06'], price);
  }
  assert.deepEqual(rates([['0', 1, '10001']]), ['0.06']);
});
