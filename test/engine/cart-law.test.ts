/** Carts by the law of a state: what its statute, rule or notice says of an amount. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FactPlace } from '../support/product-facts.js';
import {
  amountsOf, calculated, cartOf, cartWorld, splitAt, type CartWish, type Item,
} from '../support/cart-world.js';

type Percents = NonNullable<FactPlace['percents']>;

function tax(
  place: FactPlace, items: readonly Item[], wish: CartWish = {},
): readonly string[] {
  const at = splitAt(place.state, 0);
  return amountsOf(calculated(cartWorld([place]), cartOf(at, at, items, wish)));
}

test('digital goods: taxed where a statute names them, else no tangible property', () => {
  const at = (state: string, percents: Percents): readonly string[] =>
    tax({ state, percents }, [['100', 1, '31000']]);
  for (const [state, percents] of [
    ['CA', [['state', '7.25'], ['county', '2.5']]], ['NY', [['state', '4'], ['county', '4']]],
    ['FL', [['state', '6'], ['county', '1']]], ['MA', [['state', '6.25']]],
    ['IL', [['state', '6.25'], ['county', '1']]], ['KS', [['state', '6.5'], ['county', '1']]],
    ['ND', [['state', '5'], ['city', '2']]], ['WV', [['state', '6'], ['city', '1']]],
    ['OK', [['state', '4.5'], ['city', '3']]],
  ] as const) assert.deepEqual(at(state, percents), ['0.00'], state);
  assert.deepEqual(at('WY', [['state', '4'], ['county', '1']]), ['5.00']);
  assert.deepEqual(at('PA', [['state', '6']]), ['6.00']);
});
