/** Carts by the law of a state: what its statute, rule or notice says of an amount. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FactPlace, levies } from '../support/product-facts.js';
import {
  cartOf,
  cartWorld,
  type Item,
  noon,
  refused,
  splitAt,
  taxAt,
} from '../support/cart-world.js';

type Percents = NonNullable<FactPlace['percents']>;

/** States whose law names no digital goods, with what a place of theirs levies. */
const INTANGIBLE = {
  CA: levies('state 7.25, county 2.5'),
  NY: levies('state 4, county 4'),
  FL: levies('state 6, county 1'),
  MA: levies('state 6.25'),
  IL: levies('state 6.25, county 1'),
  KS: levies('state 6.5, county 1'),
  ND: levies('state 5, city 2'),
  WV: levies('state 6, city 1'),
  OK: levies('state 4.5, city 3'),
};

test('digital goods: taxed where a statute names them, else no tangible property', () => {
  const at = (state: string, percents: Percents): readonly string[] =>
    taxAt({ state, percents }, [['100', 1, '31000']]);
  for (const [state, percents] of Object.entries(INTANGIBLE)) {
    assert.deepEqual(at(state, percents), ['0.00'], state);
  }
  assert.deepEqual(at('WY', levies('state 4, county 1')), ['5.00']);
  assert.deepEqual(at('PA', [['state', '6']]), ['6.00']);
});

const CLOTHING = '20010';

test('custom software: 3 percent in Maryland since July 2025, in full in Washington since October', () => {
  const at = (state: string, day: number, percents: Percents): readonly string[] =>
    taxAt(
      { state, percents },
      [
        ['100', 1, '30015'],
        ['100', 1, '30025'],
      ],
      noon(day),
    );
  assert.deepEqual(at('MD', 20250630, [['state', '6']]), ['0.00', '0.00']);
  assert.deepEqual(at('MD', 20250701, [['state', '6']]), ['3.00', '3.00']);
  const seattle: Percents = levies('state 6.5, city 3.85');
  assert.deepEqual(at('WA', 20250930, seattle), ['0.00', '0.00']);
  assert.deepEqual(at('WA', 20251001, seattle), ['10.35', '10.35']);
});

test('hygiene: where and since when the law exempts it, of local taxes too', () => {
  const local: Percents = levies('state 4, county 2');
  for (const [state, tic, first] of [
    ['MO', '20011', 20250828],
    ['MO', '20012', 20250828],
    ['MO', '51175', 20250828],
    ['NY', '20011', 20221201],
    ['NY', '20012', 20221201],
    ['ND', '20012', 20230701],
    ['NM', '51175', 20220701],
    ['SC', '92019', 20240513],
    ['FL', '20011', 20230701],
  ] as const) {
    const wish = noon(first);
    assert.deepEqual(
      taxAt({ state, percents: local }, [['100', 1, tic]], wish),
      ['0.00'],
      `${state} ${tic}`,
    );
  }
  assert.deepEqual(taxAt({ state: 'ND', percents: local }, [['100', 1, '20011']]), ['0.00']);
});

test('Texas exempts firearm safety devices, Maine taxes streams since 2026', () => {
  const texas = { state: 'TX', percents: levies('state 6.25, city 2') };
  assert.deepEqual(taxAt(texas, [['100', 1, '70010']]), ['0.00']);
  const streams: readonly Item[] = [
    ['100', 1, '31060'],
    ['100', 1, '31090'],
  ];
  const maine = { state: 'ME', percents: [['state', '5.5']] } as const;
  assert.deepEqual(taxAt(maine, streams, noon(20260101)), ['5.50', '5.50']);
});

test('Missouri: textbooks are exempt of the tax of the state alone', () => {
  const percents = levies('state 4.225, county 2, city 1');
  assert.deepEqual(taxAt({ state: 'MO', percents }, [['100', 1, '92090']]), ['3.00']);
});

test('handling: by a rule of its own, where shipping is exempt', () => {
  const charges = (goods: string): readonly Item[] => [
    ['100', 1, goods],
    ['10', 1, '10001'],
    ['10', 1, '11000'],
  ];
  const at = (state: string): FactPlace => ({ state, percents: [['state', '6']] });
  for (const state of ['CA', 'NV', 'VA']) {
    assert.deepEqual(taxAt(at(state), charges('00000')), ['6.00', '0.00', '0.60'], state);
    // It is part of the price of the goods, so it is as exempt as they are.
    assert.deepEqual(taxAt(at(state), charges('51020')), ['0.00', '0.00', '0.00'], state);
  }
  for (const state of ['FL', 'KS', 'MI', 'UT']) {
    assert.deepEqual(taxAt(at(state), charges('00000')), ['6.00', '0.00', '0.00'], state);
  }
  // Nevada shares the charge out by price.
  assert.deepEqual(taxAt(at('NV'), [['30', 1, '51020'], ['70'], ['10', 1, '11000']]), [
    '0.00',
    '4.20',
    '0.42',
  ]);
  for (const state of ['AL', 'AZ', 'CO', 'IA', 'ID', 'IL', 'MA', 'ME', 'MO', 'OK', 'WY']) {
    const from = splitAt(state, 0);
    const world = cartWorld([at(state)]);
    assert.match(
      refused(world, cartOf(from, from, [['10', 1, '11000']])).detail ?? '',
      /taxes charges for handling is not held/,
      state,
    );
    assert.deepEqual(taxAt(at(state), [['10', 1, '10001']]), ['0.00'], state);
  }
});

const MEALS = '41000';

test('meals: Denver 8.0 in all, Flagstaff 2 more, Roanoke 6.5 more since July 2025', () => {
  const meal: readonly Item[] = [['100', 1, MEALS], ['100']];
  // Denver's 4 percent stands in its own 5.15; state and districts are levied besides.
  const denver: FactPlace = {
    state: 'CO',
    county: '031',
    placeGeoid: '0820000',
    percents: levies('state 2.9, city 5.15, district 1, district 0.1'),
  };
  assert.deepEqual(taxAt(denver, meal), ['8.00', '9.15']);
  const flagstaff: FactPlace = {
    state: 'AZ',
    county: '005',
    placeGeoid: '0423620',
    percents: levies('state 5.6, county 1.3, city 2.486'),
  };
  assert.deepEqual(taxAt(flagstaff, meal), ['11.39', '9.39']);
  const roanoke: FactPlace = {
    state: 'VA',
    county: '770',
    placeGeoid: '5168000',
    percents: levies('state 4.3, county 1'),
  };
  assert.deepEqual(taxAt(roanoke, meal), ['11.80', '5.30']);
  // The other cities of the two states have rates for meals that are not held.
  for (const [state, placeGeoid] of [
    ['CO', '0812815'],
    ['AZ', '0455000'],
  ] as const) {
    const from = splitAt(state, 0);
    const world = cartWorld([{ state, placeGeoid, percents: [['state', '5']] }]);
    assert.match(
      refused(world, cartOf(from, from, [['10', 1, MEALS]])).detail ?? '',
      /meal tax .* cannot be told/,
      state,
    );
  }
});

test("a county's meal tax says nothing of the taxes of cities in it", () => {
  const meal: readonly Item[] = [['100', 1, MEALS]];
  const hamilton: FactPlace = { state: 'IN', county: '057', percents: [['state', '7']] };
  assert.deepEqual(taxAt(hamilton, meal), ['8.00']);
  // An independent city is in no county.
  const norfolk: FactPlace = {
    state: 'VA',
    county: '710',
    placeGeoid: '5157000',
    percents: levies('state 4.3, county 1, district 0.7'),
  };
  assert.deepEqual(taxAt(norfolk, meal), ['12.50']);
  const untold: readonly FactPlace[] = [
    { ...hamilton, placeGeoid: '1810342' },
    // Chicago's own tax is held, but not where in it the exposition authority levies another.
    { state: 'IL', county: '031', placeGeoid: '1714000', percents: levies('state 6.25, city 4') },
    { state: 'IN', county: '089', percents: [['state', '7']] },
    { state: 'FL', county: '086', percents: levies('state 6, county 1') },
    { state: 'FL', county: '086', placeGeoid: '1245025', percents: levies('state 6, county 1') },
  ];
  for (const place of untold) {
    const at = splitAt(place.state, 0);
    assert.match(
      refused(cartWorld([place]), cartOf(at, at, meal)).detail ?? '',
      /meal tax .* cannot be told \(UNMAPPED_SCOPES_IN_STATE\)/,
      `${place.state} ${place.county} ${place.placeGeoid}`,
    );
  }
});

test('meals in Myrtle Beach: the fees of the city and, within it, of its county', () => {
  const beach: FactPlace = {
    state: 'SC',
    county: '051',
    placeGeoid: '4549075',
    percents: levies('state 6, county 1'),
  };
  assert.deepEqual(taxAt(beach, [['100', 1, MEALS]]), ['9.50']);
});

test('Florida: the surtax ends at $5,000 of one item', () => {
  const miami: FactPlace = {
    state: 'FL',
    county: '086',
    percents: levies('state 6, county 1'),
  };
  assert.deepEqual(taxAt(miami, [['5000'], ['5000.01'], ['12000', 2], ['2500', 4]]), [
    '350.00',
    '350.00',
    '1540.00',
    '700.00',
  ]);
  // A service is no item of tangible property.
  assert.deepEqual(taxAt(miami, [['10000', 1, '91090']]), ['700.00']);
});

test('Phoenix: 2.8 percent to $14,338 of one item and 2 percent above; Goodyear 1.2 on the whole', () => {
  const percents: Percents = levies('state 5.6, county 0.7, city 2.8');
  const phoenix: FactPlace = { state: 'AZ', county: '013', placeGeoid: '0455000', percents };
  // 14338 × 2.8 % + 5662 × 2 % = 514.704, and 20000 × 6.3 % = 1260.
  assert.deepEqual(taxAt(phoenix, [['14338'], ['20000']]), ['1304.76', '1774.70']);
  // 5000 × 8.8 % = 440, and 10000 × 7.5 % = 750; 2,000 is below the level that Goodyear has.
  const goodyear: FactPlace = {
    ...phoenix,
    placeGeoid: '0428380',
    percents: levies('state 5.6, county 0.7, city 2.5'),
  };
  assert.deepEqual(taxAt(goodyear, [['5000'], ['10000'], ['2600', 2]]), [
    '440.00',
    '750.00',
    '457.60',
  ]);
  // Glendale has a second level too, others may: what it is now is not held.
  const at = splitAt('AZ', 0);
  for (const placeGeoid of ['0427820', '0473000']) {
    const city = { ...phoenix, placeGeoid };
    assert.deepEqual(taxAt(city, [['5000'], ['2600', 2]]), ['455.00', '473.20']);
    assert.match(
      refused(cartWorld([city]), cartOf(at, at, [['5000.01']])).detail ?? '',
      /above \$5000 an item is not held/,
    );
  }
  const county = levies('state 5.6, county 0.7');
  assert.deepEqual(taxAt({ state: 'AZ', county: '013', percents: county }, [['20000']]), [
    '1260.00',
  ]);
});

test('Connecticut: 7.75 percent on clothing above $1,000 and jewelry above $5,000, on the whole', () => {
  const hartford: FactPlace = { state: 'CT', percents: [['state', '6.35']] };
  assert.deepEqual(
    taxAt(hartford, [
      ['1000', 1, CLOTHING],
      ['1000.01', 1, CLOTHING],
      ['600', 2, CLOTHING],
    ]),
    ['63.50', '77.50', '76.20'],
  );
  assert.deepEqual(
    taxAt(hartford, [
      ['2000', 1, '92001'],
      ['5000', 1, '92100'],
      ['6000', 1, '92100'],
    ]),
    ['155.00', '317.50', '465.00'],
  );
  assert.deepEqual(taxAt(hartford, [['2000'], ['1000', 1, '20020']]), ['127.00', '63.50']);
  const at = splitAt('CT', 0);
  assert.match(
    refused(cartWorld([hartford]), cartOf(at, at, [['1000.01', 1, '20020']])).detail ?? '',
    /above \$1000 an item is not held/,
  );
});
