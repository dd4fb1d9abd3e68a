/** Carts by what cities and boroughs make of the price of an item or of a sale. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FactPlace, levies } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  cartOf,
  cartWorld,
  refused,
  splitAt,
  type Item,
} from '../support/cart-world.js';

function tax(place: FactPlace, items: readonly Item[]): readonly string[] {
  const at = splitAt(place.state, 0);
  return amountsOf(calculated(cartWorld([place]), cartOf(at, at, items)));
}

test('Cascade: an item of $1,000 or more has no city tax; McCall and Ketchum exclude groceries', () => {
  const cascade: FactPlace = {
    state: 'ID',
    county: '085',
    placeGeoid: '1613150',
    percents: levies('state 6, city 1'),
  };
  assert.deepEqual(tax(cascade, [['999.99'], ['1000'], ['600', 2], ['100', 1, '40030']]), [
    '70.00',
    '60.00',
    '84.00',
    '7.00',
  ]);
  const at = splitAt('ID', 0);
  for (const placeGeoid of ['1648790', '1643030', '1678850']) {
    const city = { ...cascade, placeGeoid };
    assert.deepEqual(tax(city, [['1000']]), ['70.00']);
    assert.match(
      refused(cartWorld([city]), cartOf(at, at, [['100', 1, '40030']])).detail ?? '',
      /differs by place and is not held/,
    );
  }
});

test('Alaska: a sale above the most that is taxed is refused, and delivery where goods are taxed', () => {
  const kenai: FactPlace = {
    state: 'AK',
    county: '122',
    placeGeoid: '0238420',
    percents: levies('state 0, county 3, city 3'),
  };
  assert.deepEqual(tax(kenai, [['250', 2]]), ['30.00']);
  const at = splitAt('AK', 0);
  const sold = (place: FactPlace, items: readonly Item[]): string =>
    refused(cartWorld([place]), cartOf(at, at, items)).detail ?? '';
  assert.match(sold(kenai, [['250', 2], ['0.01']]), /^How much of a sale above \$500 local taxes/);
  const northPole: FactPlace = {
    ...kenai,
    county: '090',
    placeGeoid: '0255910',
    percents: levies('state 0, city 5.5'),
  };
  assert.deepEqual(tax(northPole, [['145']]), ['7.98']);
  assert.match(sold(northPole, [['145.01']]), /above \$145/);
  const juneau: FactPlace = { ...northPole, county: '110', placeGeoid: '0236400' };
  assert.deepEqual(tax(juneau, [['12000']]), ['660.00']);
  assert.match(sold(juneau, [['7000'], ['5001']]), /above \$12000/);
  assert.match(sold(juneau, [['10'], ['5', 1, '10001']]), /tax delivery charges is not held/);
  const none: FactPlace = { ...juneau, placeGeoid: '', percents: [['state', '0']] };
  assert.deepEqual(tax(none, [['20000'], ['5', 1, '10001']]), ['0.00', '0.00']);
});
