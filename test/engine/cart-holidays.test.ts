/** Carts on days without tax: which days and goods, up to which price, and what cannot be told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { CartQuery } from '../../src/engine/cart/outcome.js';
import { type FactPlace, levies } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  cartOf,
  cartWorld,
  type Item,
  noon,
  refused,
  splitAt,
  taxAt,
} from '../support/cart-world.js';

const CLOTHING = '20010';
const ORDINARY = levies('state 4, county 2');

test('holidays: Tennessee the last weekend of July that begins in it, West Virginia to Monday', () => {
  const tennessee: FactPlace = { state: 'TN', percents: levies('state 7, county 2.25') };
  const virginia: FactPlace = { state: 'WV', percents: levies('state 6, city 1') };
  const shirt: readonly Item[] = [['100', 1, CLOTHING]];
  for (const [place, day, amount] of [
    [tennessee, 20260724, '9.25'],
    [tennessee, 20260730, '9.25'],
    [tennessee, 20260731, '0.00'],
    [tennessee, 20260802, '0.00'],
    [tennessee, 20260803, '9.25'],
    [tennessee, 20270730, '0.00'],
    [virginia, 20260730, '7.00'],
    [virginia, 20260731, '0.00'],
    [virginia, 20260803, '0.00'],
    [virginia, 20260804, '7.00'],
    [virginia, 20260807, '7.00'],
    [virginia, 20270802, '0.00'],
  ] as const)
    assert.deepEqual(taxAt(place, shirt, noon(day)), [amount], `${place.state} ${day}`);
});

test('holidays: Alabama in 2026 by its adjusted limits, in February and in July', () => {
  const alabama: FactPlace = { state: 'AL', percents: [['state', '4']] };
  const july = (price: string, code: string): string =>
    taxAt(alabama, [[price, 1, code]], noon(20260718))[0] ?? '';
  assert.deepEqual([july('156', CLOTHING), july('156.01', CLOTHING)], ['0.00', '6.24']);
  assert.deepEqual([july('1172', '30100'), july('1172.01', '30100')], ['0.00', '46.88']);
  assert.deepEqual([july('78', '20070'), july('78.01', '20070')], ['0.00', '3.12']);
  assert.deepEqual([july('47', '92090'), july('47.01', '92090')], ['0.00', '1.88']);
  const february = (price: string, code: string, day: number): string =>
    taxAt(alabama, [[price, 1, code]], noon(day))[0] ?? '';
  assert.deepEqual(
    [february('94', '20150', 20260220), february('94.01', '20150', 20260222)],
    ['0.00', '3.76'],
  );
  assert.deepEqual(
    [february('1564', '20161', 20260221), february('1564.01', '20161', 20260221)],
    ['0.00', '62.56'],
  );
  assert.equal(february('94', '20150', 20260227), '3.76');
});

test('holidays: Florida in August alone', () => {
  const florida: FactPlace = { state: 'FL', percents: levies('state 6, county 1') };
  for (const [day, amount] of [
    [20260601, '3.50'],
    [20260701, '3.50'],
    [20260731, '3.50'],
    [20260801, '0.00'],
    [20260831, '0.00'],
    [20260905, '3.50'],
    [20270815, '0.00'],
  ] as const)
    assert.deepEqual(taxAt(florida, [['50', 1, CLOTHING]], noon(day)), [amount], String(day));
});

test('holidays: in Missouri local taxes take part, since none can opt out any more', () => {
  const missouri: FactPlace = { state: 'MO', percents: levies('state 4.225, city 4') };
  for (const [day, amount] of [
    [20260806, '8.23'],
    [20260807, '0.00'],
    [20260809, '0.00'],
    [20260810, '8.23'],
  ] as const) {
    assert.deepEqual(taxAt(missouri, [['100', 1, CLOTHING]], noon(day)), [amount], String(day));
  }
  assert.deepEqual(taxAt(missouri, [['100.01', 1, CLOTHING]], noon(20260807)), ['8.23']);
});

test('holidays that are not held well enough refuse what they may concern', () => {
  const at = splitAt('TX', 0);
  const world = cartWorld([{ state: 'TX', percents: ORDINARY }]);
  const inMay = { at: Date.UTC(2026, 4, 24, 18) };
  assert.match(
    refused(world, cartOf(at, at, [['100', 1, '20060']], inMay)).detail ?? '',
    /price limits of .* are not held/,
  );
  const alabama = splitAt('AL', 0);
  const inJuly = { at: Date.UTC(2026, 6, 18, 18) };
  assert.match(
    refused(
      cartWorld([{ state: 'AL', percents: ORDINARY }]),
      cartOf(alabama, alabama, [['50', 1, CLOTHING]], inJuly),
    ).detail ?? '',
    /take part/,
  );
});

test('a code that a holiday may be for is refused within its limit and taxed above', () => {
  const at = (state: string, month: number, day: number) => (items: readonly Item[]) => {
    const world = cartWorld([{ state, percents: [['state', '6']] }]);
    const place = splitAt(state, 0);
    const at = Date.UTC(2026, month - 1, day, 18);
    return [world, cartOf(place, place, items, { at })] as const;
  };
  const texas = at('TX', 8, 8);
  assert.deepEqual(
    amountsOf(
      calculated(
        ...texas([
          ['99', 1, '20013'],
          ['150', 1, '92005'],
        ]),
      ),
    ),
    ['0.00', '9.00'],
  );
  assert.match(refused(...texas([['99', 1, '92005']])).detail ?? '', /is for 92005 is not held/);
  const massachusetts = at('MA', 8, 8);
  assert.deepEqual(
    amountsOf(
      calculated(
        ...massachusetts([
          ['100'],
          ['100', 1, '20021'],
          ['100', 1, '91010'],
          ['2500.01', 1, '93011'],
          ['0', 1, '93011'],
        ]),
      ),
    ),
    ['0.00', '0.00', '6.00', '150.00', '0.00'],
  );
  assert.match(refused(...massachusetts([['100', 1, '93011']])).detail ?? '', /93011/);
});

/** A cart in a state at midday of a day. */
function sold(state: string, day: number, items: readonly Item[]): readonly [Dataset, CartQuery] {
  const place = splitAt(state, 0);
  return [
    cartWorld([{ state, percents: [['state', '6']] }]),
    cartOf(place, place, items, noon(day)),
  ];
}

test('delivery charges that may carry an item over the limit of a holiday are refused', () => {
  const jeans: Item = ['95', 1, CLOTHING];
  // biome-ignore format: a cart, and the line that is at fault, are read in a row
  const carts: readonly (readonly [items: readonly Item[], field: string])[] = [
    [[jeans, ['10', 1, '10001']], 'lineItems[0]'],
    [[['5', 1, '11000'], ['60', 1, CLOTHING], ['95', 3, CLOTHING]], 'lineItems[2]'],
    [[jeans, ['2.5', 2, '11010']], 'lineItems[0]'],
  ];
  for (const [items, field] of carts) {
    const { detail, field: named } = refused(...sold('TX', 20260808, items));
    assert.match(detail ?? '', /"Back-to-School" .* cannot be told: delivery charges count/);
    assert.equal(named, field);
  }
  // Nobody says what Florida does; in Connecticut the charges do not count.
  const shipped = [jeans, ['10', 1, '10001']] as const;
  assert.match(
    refused(...sold('FL', 20260808, shipped)).detail ?? '',
    /whether delivery charges count in the price is not held/,
  );
  assert.deepEqual(amountsOf(calculated(...sold('CT', 20260820, shipped))), ['0.00', '0.00']);
});

test('delivery charges change nothing where all fits the limit, or the item is above it', () => {
  const answered = (item: Item, charge: Item): readonly string[] =>
    amountsOf(calculated(...sold('TX', 20260808, [item, charge])));
  assert.deepEqual(answered(['95', 1, CLOTHING], ['4.99', 1, '10001']), ['0.00', '0.00']);
  assert.deepEqual(answered(['95', 2, CLOTHING], ['0', 1, '10001']), ['0.00', '0.00']);
  assert.deepEqual(answered(['100', 1, CLOTHING], ['10', 1, '10001']), ['6.00', '0.60']);
  assert.equal(answered(['0', 1, CLOTHING], ['100', 1, '10001'])[0], '0.00');
});

test('general goods are taxed on a holiday of other goods, and the explanation says so', () => {
  const place = splitAt('NM', 0);
  const world = cartWorld([{ state: 'NM', percents: [['state', '5']] }]);
  const {
    lines: [line],
  } = calculated(
    world,
    cartOf(place, place, [['10']], {
      at: Date.UTC(2026, 7, 1, 18),
      explain: true,
    }),
  );
  assert.equal(line?.amount, 500_000_000);
  const notes = line?.explain?.rules.filter(({ rule }) => rule.startsWith('holiday: ')) ?? [];
  assert.ok(notes.every(({ applied }) => !applied));
  const whyOf = (name: RegExp): string => notes.find(({ rule }) => name.test(rule))?.why ?? '';
  assert.match(whyOf(/Bookbags/), /no product code names them/);
  assert.match(whyOf(/Clothing/), /under their own code alone/);
});

test('a holiday is held for every year but those its row does not speak for', () => {
  const cartOn = (state: string, code: string, day: number) => {
    const at = splitAt(state, 0);
    return [
      cartWorld([{ state, percents: [['state', '6']] }]),
      cartOf(at, at, [['50', 1, code]], noon(day)),
    ] as const;
  };
  assert.deepEqual(amountsOf(calculated(...cartOn('TX', CLOTHING, 20270806))), ['0.00']);
  assert.deepEqual(amountsOf(calculated(...cartOn('TX', CLOTHING, 20270805))), ['3.00']);
  // Massachusetts sets its days year by year, and Alabama's limits are adjusted for 2031.
  for (const [state, code, day] of [
    ['MA', '20021', 20270807],
    ['AL', CLOTHING, 20310719],
    ['TX', CLOTHING, 20250808],
  ] as const) {
    const why = refused(...cartOn(state, code, day)).detail ?? '';
    assert.match(why, new RegExp(`${Math.floor(day / 10_000)} are not held|held from 2026`), state);
  }
  assert.deepEqual(amountsOf(calculated(...cartOn('MA', '20021', 20271107))), ['3.00']);
});

test('days that a circular names for one season tell nothing of the other one of a year', () => {
  const SUPPLIES = '20070';
  const place: FactPlace = { state: 'PR', percents: levies('state 10.5, county 1') };
  const at = splitAt('PR', 0);
  const why = (day: number): string =>
    refused(cartWorld([place]), cartOf(at, at, [['100', 1, SUPPLIES]], noon(day))).detail ?? '';
  // January 2026 is told, July 2026 and January 2027 are not.
  assert.match(why(20260102), /Whether local taxes take part in .* is not held/);
  assert.match(why(20260717), /holidays of 2026 are not held/);
  assert.match(why(20270108), /holidays of 2027 are not held/);
  for (const day of [20260101, 20260104, 20260301, 20261121])
    assert.deepEqual(taxAt(place, [['100', 1, SUPPLIES]], noon(day)), ['11.50'], String(day));
});

test('what is exempt anyway is so near a holiday whose days are not held', () => {
  const place: FactPlace = { state: 'MA', percents: [['state', '6.25']] };
  const goods: readonly Item[] = [
    ['19', 1, '40030'],
    ['50', 1, '20010'],
  ];
  for (const day of [20270720, 20270807, 20270910]) {
    assert.deepEqual(taxAt(place, goods, noon(day)), ['0.00', '0.00'], String(day));
  }
});
