/** Carts by what cities and boroughs make of the price of an item or of a sale. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FactPlace, levies } from '../support/product-facts.js';
import { cartOf, cartWorld, type Item, refused, splitAt, taxAt } from '../support/cart-world.js';

test('Cascade: an item of $1,000 or more has no city tax; McCall and Ketchum exclude groceries', () => {
  const cascade: FactPlace = {
    state: 'ID',
    county: '085',
    placeGeoid: '1613150',
    percents: levies('state 6, city 1'),
  };
  assert.deepEqual(taxAt(cascade, [['999.99'], ['1000'], ['600', 2], ['100', 1, '40030']]), [
    '70.00',
    '60.00',
    '84.00',
    '7.00',
  ]);
  const at = splitAt('ID', 0);
  for (const placeGeoid of ['1648790', '1643030', '1678850']) {
    const city = { ...cascade, placeGeoid };
    assert.deepEqual(taxAt(city, [['1000']]), ['70.00']);
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
  assert.deepEqual(taxAt(kenai, [['250', 2]]), ['30.00']);
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
  assert.deepEqual(taxAt(northPole, [['145']]), ['7.98']);
  assert.match(sold(northPole, [['145.01']]), /above \$145/);
  const juneau: FactPlace = { ...northPole, county: '110', placeGeoid: '0236400' };
  assert.deepEqual(taxAt(juneau, [['12000']]), ['660.00']);
  assert.match(sold(juneau, [['7000'], ['5001']]), /above \$12000/);
  assert.match(sold(juneau, [['10'], ['5', 1, '10001']]), /tax delivery charges is not held/);
  const none: FactPlace = { ...juneau, placeGeoid: '', percents: [['state', '0']] };
  assert.deepEqual(taxAt(none, [['20000'], ['5', 1, '10001']]), ['0.00', '0.00']);
});

test('delivery in the price of an item of which another share is taxed above a threshold', () => {
  const at = (state: string): ReturnType<typeof splitAt> => splitAt(state, 0);
  const why = (place: FactPlace, items: readonly Item[]): readonly string[] => {
    const { field, detail } = refused(
      cartWorld([place]),
      cartOf(at(place.state), at(place.state), items),
    );
    return [field ?? '', detail ?? ''];
  };
  const ship: Item = ['10', 1, '10001'];
  const rhodeIsland: FactPlace = { state: 'RI', county: '007', percents: [['state', '7']] };
  // 280 R.I. Code R. 20-70-6.6: $225, $60 and a delivery of $20 are taxed above $250.
  for (const price of ['300', '245', '240.01']) {
    const [field, detail] = why(rhodeIsland, [['30', 1, '20010'], [price, 2, '20010'], ship]);
    assert.equal(field, 'lineItems[1]');
    assert.match(detail ?? '', /^How an item at \$[\d.]+ is taxed cannot be told: .*\(\$10\)/);
  }
  assert.deepEqual(taxAt(rhodeIsland, [['240', 2, '20010'], ship]), ['0.00', '0.00']);
  assert.deepEqual(
    taxAt(rhodeIsland, [
      ['300', 1, '20010'],
      ['0', 1, '10001'],
    ]),
    ['3.50', '0.00'],
  );
  assert.deepEqual(taxAt(rhodeIsland, [['1000'], ship]), ['70.00', '0.70']);
  const tennessee: FactPlace = {
    state: 'TN',
    county: '037',
    percents: levies('state 7, county 2.75'),
  };
  assert.match(why(tennessee, [['5000'], ['100', 1, '10001']])[1] ?? '', /another share of it/);
  assert.match(why(tennessee, [['3150'], ['100', 1, '10001']])[1] ?? '', /another share of it/);
  // Up to $3,200 the additional tax has the rate that the local one had.
  assert.deepEqual(taxAt(tennessee, [['3100'], ['100', 1, '10001']]), ['302.25', '9.75']);
  const connecticut: FactPlace = { state: 'CT', percents: [['state', '6.35']] };
  assert.match(why(connecticut, [['995', 1, '20010'], ship])[1] ?? '', /another share of it/);
  assert.match(why(connecticut, [['995', 1, '20020'], ship])[1] ?? '', /another share of it/);
  assert.deepEqual(taxAt(connecticut, [['1001', 1, '20010'], ship]), ['77.58', '0.78']);
  const massachusetts: FactPlace = { state: 'MA', percents: [['state', '6.25']] };
  assert.deepEqual(taxAt(massachusetts, [['200', 1, '20010'], ship]), ['1.56', '0.00']);
});
