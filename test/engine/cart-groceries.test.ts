/** Groceries where the state leaves local taxes on them to the places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FactPlace } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  cartOf,
  cartWorld,
  refused,
  splitAt,
  type CartWish,
  type Item,
  type WorldZip,
} from '../support/cart-world.js';

const FOOD: readonly Item[] = [['100', 1, '40030']];
type Percents = NonNullable<FactPlace['percents']>;

function tax(place: FactPlace, items: readonly Item[] = FOOD, wish: CartWish = {}): string {
  const at = splitAt(place.state, 0);
  return amountsOf(calculated(cartWorld([place]), cartOf(at, at, items, wish))).join(' ');
}

function refusal(
  place: FactPlace,
  items: readonly Item[] = FOOD,
  wish: CartWish = {},
  documents: Readonly<Record<string, object>> = {},
): string {
  const at = splitAt(place.state, 0);
  return refused(cartWorld([place], [], documents), cartOf(at, at, items, wish)).detail ?? '';
}

const NOT_HELD = /for 40030 differs by place and is not held/;

function arizona(placeGeoid: string, city: string, county = '013'): FactPlace {
  const levels: Percents = [
    ['state', '5.6'],
    ['county', '0.7'],
  ];
  const percents: Percents = placeGeoid === '' ? levels : [...levels, ['city', city]];
  return { state: 'AZ', county, placeGeoid, percents };
}

test('Arizona: no county taxes food, a city at its own rate for it, or not at all', () => {
  for (const county of [
    '001',
    '003',
    '005',
    '007',
    '009',
    '011',
    '012',
    '013',
    '015',
    '017',
    '019',
    '021',
    '023',
    '025',
    '027',
  ])
    assert.equal(tax(arizona('', '', county)), '0.00', county);
  for (const [geoid, general, amount] of [
    ['0446000', '2', '0.00'],
    ['0471510', '2.8', '0.00'],
    ['0455000', '2.8', '0.00'],
    ['0427400', '2', '2.00'],
    ['0427820', '2.9', '2.50'],
    ['0454050', '1.8', '1.60'],
    ['0473000', '1.8', '1.80'],
    ['0453700', '3.88', '3.88'],
    ['0465000', '1.7', '1.70'],
    ['0428380', '2.5', '2.00'],
    ['0407940', '3', '3.00'],
    ['0404720', '2.5', '2.50'],
    ['0485540', '1.7', '1.70'],
    ['0423620', '2.486', '0.00'],
    ['0412000', '1.5', '1.50'],
    ['0458150', '2.25', '2.25'],
    ['0439370', '2', '0.00'],
  ] as const)
    assert.equal(tax(arizona(geoid, general)), amount, geoid);
  // Soft drinks, candy and bottled water for home use are food there.
  assert.equal(
    tax(arizona('0427820', '2.9'), [['100', 1, '40010'], ['100', 1, '40050'], ['100']]),
    '2.50 2.50 9.20',
  );
});

test('Arizona: what a county does settles nothing for a city, and other goods are as ever', () => {
  const sedona = arizona('0465350', '3.5', '025');
  assert.match(refusal(sedona), NOT_HELD);
  assert.equal(tax(sedona, [['100']]), '9.80');
});

test('a rate on food has no second level above a price, as that on other goods has', () => {
  const glendale = arizona('0427820', '2.9');
  assert.equal(tax(glendale, [['6000', 1, '40030']]), '150.00');
  assert.match(refusal(glendale, [['6000']]), /above \$5000 an item is not held/);
});

function carolina(county: string, percent: string): FactPlace {
  return {
    state: 'SC',
    county,
    percents: [
      ['state', '6'],
      ['county', percent],
      ['city', '0'],
    ],
  };
}

test('South Carolina: local option and transportation tax food, capital projects and schools not', () => {
  for (const [county, local, amount] of [
    ['077', '1', '1.00'],
    ['041', '2', '1.00'],
    ['085', '2', '1.00'],
    ['087', '1', '1.00'],
    ['083', '1', '0.00'],
    ['091', '1', '0.00'],
    ['051', '2', '0.00'],
    ['043', '1', '0.00'],
    ['045', '0', '0.00'],
    ['019', '3', '2.00'],
  ] as const)
    assert.equal(tax(carolina(county, local)), amount, county);
  // Richland renewed its tax for transportation in 2024; that of Aiken for schools is not read yet.
  for (const county of ['079', '003']) assert.match(refusal(carolina(county, '2')), NOT_HELD);
});

test('Colorado: Fort Collins and Loveland have a rate for food, Larimer County does not tax it', () => {
  const larimer = (placeGeoid: string, city: string): FactPlace => ({
    state: 'CO',
    county: '069',
    placeGeoid,
    percents: [
      ['state', '2.9'],
      ['county', '0.8'],
      ['city', city],
    ],
  });
  assert.equal(tax(larimer('0827425', '4.35')), '2.25');
  assert.equal(tax(larimer('0846465', '3')), '0.00');
  assert.equal(
    tax({
      state: 'CO',
      county: '069',
      percents: [
        ['state', '2.9'],
        ['county', '0.8'],
      ],
    }),
    '0.00',
  );
  assert.match(refusal(larimer('0825115', '5')), NOT_HELD);
});

test('Illinois: since 2026 a place without other taxes may tax food, so it is not told', () => {
  const village: FactPlace = {
    state: 'IL',
    county: '167',
    placeGeoid: '1700113',
    percents: [
      ['state', '6.25'],
      ['county', '0'],
      ['city', '0'],
    ],
  };
  const noon = { at: Date.UTC(2026, 0, 1, 18) };
  assert.match(refusal(village, FOOD, noon), NOT_HELD);
  assert.match(refusal({ ...village, placeGeoid: '', percents: [['state', '6.25']] }), NOT_HELD);
  assert.equal(tax(village, FOOD, { at: Date.UTC(2025, 11, 31, 18) }), '1.00');
  assert.equal(tax(village, [['100']], noon), '6.25');
});

interface Row {
  readonly code: string;
  readonly locals: string;
  readonly rate?: string;
}

function documentsOf(rows: readonly Row[]): Readonly<Record<string, object>> {
  const base = { state: 'AZ', tic: '40030', citation: 'invented', source: 'invented' };
  return {
    'product-localities': rows.map(({ code, locals, rate = '' }) => ({
      ...base,
      jurisdiction_code: code,
      jurisdiction_name: code,
      locals,
      rate,
      as_of: '20260101',
    })),
  };
}

function invented(place: FactPlace, rows: readonly Row[]): string {
  const at = splitAt(place.state, 0);
  const world = cartWorld([place], [], documentsOf(rows));
  return amountsOf(calculated(world, cartOf(at, at, FOOD))).join(' ');
}

test("a jurisdiction's own rate goes before what is said of all taxes at the place", () => {
  const place = arizona('0400001', '3');
  const own = { code: '0400001', locals: 'own', rate: '0.0125' };
  assert.equal(invented(place, [{ code: '04', locals: 'follow' }, own]), '1.25');
  assert.equal(invented(place, [{ code: '04', locals: 'ordinary' }, own]), '1.95');
  assert.equal(invented(place, [{ code: '04013', locals: 'own' }, own]), '1.95');
  assert.match(refusal(place, FOOD, {}, documentsOf([own])), NOT_HELD);
  // A district is named by its label where its list has no codes.
  const district = {
    ...place,
    percents: [
      ['state', '5.6'],
      ['district', '1'],
    ],
  } as const;
  assert.equal(
    invented(district, [
      { code: '04', locals: 'follow' },
      { code: '04#district', locals: 'own', rate: '0.005' },
    ]),
    '0.50',
  );
});

test('a city that taxes food alone is refused where the dataset has no row of its to show it on', () => {
  const place: FactPlace = { ...arizona('0400001', '3'), percents: [['state', '5.6']] };
  const rows = (rate: string): readonly Row[] => [
    { code: '04', locals: 'follow' },
    { code: '0400001', locals: 'own', rate },
  ];
  assert.match(refusal(place, FOOD, {}, documentsOf(rows('0.01'))), NOT_HELD);
  assert.equal(invented(place, rows('0')), '0.00');
});

test('a ZIP across places of which one is not held is refused, even at the same rate', () => {
  const zip: WorldZip = { zip: 85990, state: 'AZ', places: [0, 1] };
  const shared = {
    kind: 'split',
    line1: '99 County Rd',
    line2: '',
    city: 'Shared',
    state: 'AZ',
    zip: '85990',
  } as const;
  const taxed = documentsOf([{ code: '04013', locals: 'own' }]);
  const world = cartWorld([arizona('', ''), arizona('', '', '099')], [zip], taxed);
  assert.match(
    refused(world, cartOf(shared, shared, FOOD)).detail ?? '',
    /places of Arizona that tax 40030 differently/,
  );
  assert.deepEqual(amountsOf(calculated(world, cartOf(shared, shared, [['100']]))), ['6.30']);
});

test('an explanation names the fact on each jurisdiction, and its rate', () => {
  const at = splitAt('AZ', 0);
  const {
    lines: [line],
  } = calculated(cartWorld([arizona('0427820', '2.9')]), cartOf(at, at, FOOD, { explain: true }));
  const text = JSON.stringify(line?.explain);
  assert.match(text, /local taxes on 40030: Maricopa County","applied":true,"why":"levies nothing/);
  assert.match(text, /local taxes on 40030: Glendale","applied":true,"why":"levies 2\.5 % on it/);
  const general = calculated(
    cartWorld([arizona('0465000', '1.7')]),
    cartOf(at, at, FOOD, { explain: true }),
  );
  assert.match(
    JSON.stringify(general.lines[0]?.explain),
    /Scottsdale","applied":true,"why":"levies its rate on general goods/,
  );
});

test('a rate or a word of the table that cannot be read ends the start', () => {
  for (const row of [
    { code: '04', locals: 'some' },
    { code: '04', locals: 'own', rate: '2 %' },
  ]) {
    assert.throws(() => invented(arizona('0400001', '3'), [row]), /product-localities, row 1/);
  }
});

test('Tennessee: food is an article too, of which nothing is told above $1,600', () => {
  const percents: Percents = [
    ['state', '7'],
    ['county', '2.75'],
  ];
  const place: FactPlace = { state: 'TN', percents };
  assert.equal(tax(place, [['1600', 2, '40030']]), '216.00');
  assert.match(refusal(place, [['1600.01', 1, '40030']]), /taxes 40030 above \$1600 an article/);
  // Where nothing is levied there is nothing to tell.
  assert.equal(tax(place, [['5000', 1, '51020']]), '0.00');
});
