/** What is taxed of a line, at which rate, and what cannot be told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CartQuery } from '../../src/engine/cart/outcome.js';
import { formatRate } from '../../src/tax/rate.js';
import { type FactPlace, levies, tableDocument } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  CART_DOCUMENTS,
  cartOf,
  cartWorld,
  refused,
  splitAt,
  type Item,
} from '../support/cart-world.js';

type Percents = NonNullable<FactPlace['percents']>;

const CLOTHING = '20010';
const GROCERIES = '40030';
const DRUGS = '51020';
const MEALS = '41000';
const ORDINARY: Percents = levies('state 4, county 2');

function tax(
  state: string,
  items: readonly Item[],
  percents: Percents = ORDINARY,
  place: Partial<FactPlace> = {},
): readonly string[] {
  const at = splitAt(state, 0);
  return amountsOf(calculated(cartWorld([{ state, percents, ...place }]), cartOf(at, at, items)));
}

function why(
  state: string,
  items: readonly Item[],
  percents: Percents = ORDINARY,
  place: Partial<FactPlace> = {},
): string {
  const at = splitAt(state, 0);
  const answer = refused(cartWorld([{ state, percents, ...place }]), cartOf(at, at, items));
  assert.match(answer.field ?? '', /^lineItems\[\d\]$/);
  assert.equal(answer.failure, 'no-result');
  return answer.detail ?? '';
}

test('clothing: exempt, or taxed above a threshold alone', () => {
  for (const state of ['PA', 'NJ', 'MN', 'VT']) {
    assert.deepEqual(tax(state, [['500', 1, CLOTHING]]), ['0.00'], state);
  }
  assert.deepEqual(
    tax(
      'MA',
      [
        ['175', 1, CLOTHING],
        ['200', 2, CLOTHING],
      ],
      [['state', '6.25']],
    ),
    ['0.00', '3.13'],
  );
  assert.deepEqual(
    tax(
      'RI',
      [
        ['250', 1, CLOTHING],
        ['300', 1, CLOTHING],
      ],
      [['state', '7']],
    ),
    ['0.00', '3.50'],
  );
});

test('groceries: local taxes alone, a rate for the whole, or a reduced state part', () => {
  const grocery: readonly Item[] = [['100', 1, GROCERIES]];
  assert.deepEqual(tax('KS', grocery), ['2.00']);
  assert.deepEqual(tax('NC', grocery), ['2.00']);
  assert.deepEqual(tax('VA', grocery), ['1.00']);
  assert.deepEqual(tax('UT', grocery), ['3.00']);
  assert.deepEqual(tax('TN', grocery, levies('state 7, county 2.25')), ['6.25']);
  assert.deepEqual(tax('GA', grocery, levies('state 4, county 3')), ['3.00']);
  assert.deepEqual(tax('TX', grocery), ['0.00']);
});

test('where local taxes on a product are not held nothing is guessed', () => {
  for (const state of ['AL', 'AZ', 'CO', 'IL', 'SC']) {
    assert.match(why(state, [['100', 1, GROCERIES]]), /differs by place and is not held/, state);
  }
  // Phoenix and Tucson take nothing of food to be eaten at home, and counties what the state does.
  const arizona: Percents = levies('state 5.6, county 0.7, city 2.8');
  for (const placeGeoid of ['0455000', '0477000']) {
    assert.deepEqual(tax('AZ', [['100', 1, GROCERIES], ['100']], arizona, { placeGeoid }), [
      '0.00',
      '9.10',
    ]);
  }
  // Where nothing is levied besides, the state's rule is all there is.
  assert.deepEqual(tax('MS', [['100', 1, GROCERIES]], [['state', '7']]), ['5.00']);
});

test('prescription drugs and digital goods', () => {
  assert.deepEqual(tax('NY', [['100', 1, DRUGS]]), ['0.00']);
  assert.deepEqual(tax('WA', [['100', 1, '31000']]), ['6.00']);
  assert.deepEqual(tax('NV', [['100', 1, '31000']]), ['0.00']);
});

test('codes without a rule and the codes of the provider are general goods', () => {
  for (const tic of ['11010', '11015', '11098', '90103', null]) {
    assert.deepEqual(tax('TX', [['100', 1, tic]]), ['6.00'], String(tic));
  }
});

test('a code that the catalogue lacks is refused at its line', () => {
  assert.match(
    why('TX', [
      ['1', 1, null],
      ['1', 1, '12345'],
    ]),
    /no product code 12345/,
  );
  const at = splitAt('TX', 0);
  const world = cartWorld([{ state: 'TX', percents: ORDINARY }]);
  const refusal = refused(
    world,
    cartOf(at, at, [
      ['1', 1, null],
      ['1', 1, '12345'],
    ]),
  );
  assert.equal(refusal.field, 'lineItems[1]');
});

test("prepared food: a rate in place of the state's, added taxes, and unlisted ones", () => {
  const meal: readonly Item[] = [['100', 1, MEALS]];
  assert.deepEqual(tax('ME', meal, [['state', '5.5']]), ['8.00']);
  assert.deepEqual(tax('DC', meal, [['state', '6']]), ['10.00']);
  const boston: Percents = [['state', '6.25']];
  assert.deepEqual(tax('MA', meal, boston, { placeGeoid: '2507000' }), ['7.00']);
  assert.match(why('MA', meal, boston, { placeGeoid: '2512345' }), /UNMAPPED_SCOPES_IN_STATE/);
  // A tax on the seller is none on the sale.
  assert.deepEqual(tax('NE', meal, [['state', '5.5']], { placeGeoid: '3137000' }), ['5.50']);
  // No list: the ordinary tax, and the explanation says so.
  assert.deepEqual(tax('CA', meal, [['state', '7.25']]), ['7.25']);
});

test('Tennessee: local tax ends at $1,600 an article, a state tax begins there', () => {
  const rates: Percents = levies('state 7, county 2.75');
  assert.deepEqual(tax('TN', [['1600'], ['1600.01'], ['3200'], ['5000'], ['2000', 3]], rates), [
    '156.00',
    '156.00',
    '312.00',
    '438.00',
    '585.00',
  ]);
});

test('Tennessee: digital goods have one local rate, and what is no article has no limit', () => {
  const rates: Percents = levies('state 7, county 2.25');
  const digital: readonly Item[] = [
    ['100', 1, '31000'],
    ['100', 1, '31040'],
    ['2000', 1, '31000'],
  ];
  assert.deepEqual(tax('TN', digital, rates), ['9.50', '9.50', '190.00']);
  // Custom software and services are taxed whole by both.
  const none: readonly Item[] = [
    ['2000', 1, '30015'],
    ['2000', 1, '91011'],
    ['2000', 1, '30040'],
  ];
  assert.deepEqual(tax('TN', none, rates), ['185.00', '185.00', '187.00']);
});

test('Kansas: dietary supplements are food, which local taxes alone are levied on', () => {
  const rates: Percents = levies('state 6.5, county 1');
  assert.deepEqual(tax('KS', [['100', 1, '40020'], ['100', 1, '90011'], ['100']], rates), [
    '1.00',
    '1.00',
    '7.50',
  ]);
});

test('Vermont: the meals tax stands in for the local option sales tax too', () => {
  const percents: Percents = levies('state 6, city 1');
  const burlington = { state: 'VT', county: '007', placeGeoid: '5010675', percents };
  const at = splitAt('VT', 0);
  const on = (month: number, day: number): CartQuery =>
    cartOf(at, at, [['100', 1, MEALS], ['100']], { at: Date.UTC(2026, month - 1, day, 18) });
  const world = cartWorld([burlington]);
  assert.deepEqual(amountsOf(calculated(world, on(6, 30))), ['11.50', '7.00']);
  // The city's rate was raised until the end of June, and no list says what it is since.
  assert.match(refused(world, on(7, 1)).detail ?? '', /meal tax .* cannot be told/);
});

test("delivery: by the state's rule, shipping and handling each", () => {
  const charges: readonly Item[] = [['100'], ['10', 1, '10001'], ['10', 1, '11000']];
  assert.deepEqual(tax('HI', charges), ['6.00', '0.60', '0.60']);
  assert.deepEqual(tax('CA', charges), ['6.00', '0.00', '0.60']);
  assert.deepEqual(tax('FL', charges), ['6.00', '0.00', '0.00']);
  assert.deepEqual(tax('MD', charges), ['6.00', '0.00', '0.60']);
  assert.deepEqual(tax('WA', charges), ['6.00', '0.60', '0.60']);
  const exempt: readonly Item[] = [
    ['100', 1, GROCERIES],
    ['10', 1, '10001'],
  ];
  assert.deepEqual(tax('WA', exempt), ['0.00', '0.00']);
  assert.deepEqual(tax('WA', [['10', 1, '10001']]), ['0.60']);
});

const COLUMNS =
  'state\ttic\ttaxable\tstate_rate\tthreshold_usd\tthreshold_kind\tscope\tas_of' +
  '\tpercent_taxable\tper_volume_usd\tper_volume_unit\tcap_per_unit_usd\n';

/** Tax on $200 twice under one rule; cells separated by commas. */
function ruled(row: string): readonly string[] {
  const products = tableDocument(COLUMNS + row.replaceAll(',', '\t'));
  const at = splitAt('WY', 0);
  const world = cartWorld([{ state: 'WY', percents: ORDINARY }], [], { products });
  return amountsOf(calculated(world, cartOf(at, at, [['200', 2, '20020']])));
}

test('every shape of a product rule', () => {
  assert.deepEqual(ruled('WY,20020,Y,,,,all,20260101,0.5,,,'), ['12.00']);
  assert.deepEqual(ruled('WY,20020,Y,,150,above_exempt,all,20260101,,,,'), ['0.00']);
  assert.deepEqual(ruled('WY,20020,Y,,150,above_exempt,state,20260101,,,,'), ['8.00']);
  assert.deepEqual(ruled('WY,20020,Y,,150,above_excess,all,20260101,,,,'), ['6.00']);
  assert.deepEqual(ruled('WY,20020,Y,,,,all,20260101,,,,5'), ['10.00']);
  assert.deepEqual(ruled('WY,20020,Y,,,,all,20260101,,0.25,gallon,'), ['24.50']);
  assert.deepEqual(ruled('WY,20020,Y,0.01,,,state,20260101,,,,'), ['12.00']);
  assert.deepEqual(ruled('WY,20020,Y,0.01,,,total,20260101,,,,'), ['4.00']);
  assert.deepEqual(ruled('WY,20020,N,,,,state,20260101,,,,'), ['8.00']);
});

test('a rule that is not held for the day, and two rules at once, are refused', () => {
  const at = splitAt('WY', 0);
  const answer = (rows: string, when: number): string => {
    const products = tableDocument(COLUMNS + rows);
    const world = cartWorld([{ state: 'WY', percents: ORDINARY }], [], { products });
    return refused(world, cartOf(at, at, [['200', 1, '20020']], { at: when })).detail ?? '';
  };
  const row = 'WY\t20020\tY\t0.01\t\t\tstate\t20260101\n';
  assert.match(answer(row, Date.UTC(2025, 5, 1)), /held from 2026-01-01/);
  assert.match(answer(row + row, Date.UTC(2026, 5, 1)), /several rules/);
});

test('a price or quantity of zero has no tax, and the rate its rules would take', () => {
  const at = splitAt('TX', 0);
  const world = cartWorld([{ state: 'TX', percents: ORDINARY }]);
  const items: readonly Item[] = [['0'], ['100', 0], ['0', 0, GROCERIES]];
  const { lines, total } = calculated(world, cartOf(at, at, items));
  assert.equal(total, 0);
  assert.deepEqual(
    lines.map(({ rate }) => formatRate(rate)),
    ['0.06', '0.06', '0'],
  );
});

test('every new fact has a source, and every holiday a category that is known or none', () => {
  for (const [name, rows] of Object.entries(CART_DOCUMENTS)) {
    for (const row of rows as readonly Record<string, string>[]) {
      assert.notEqual(row['source'], '', name);
      assert.match(row['as_of'] ?? '', /^\d{4}-?\d\d-?\d\d$/, name);
    }
  }
});

test('an explanation has a part for every jurisdiction, with what it taxes', () => {
  const at = splitAt('KS', 0);
  const world = cartWorld([{ state: 'KS', percents: ORDINARY }]);
  const items: readonly Item[] = [
    ['100', 1, GROCERIES],
    ['100', 1, DRUGS],
    ['50', 2],
  ];
  const { lines } = calculated(world, cartOf(at, at, items, { explain: true }));
  assert.deepEqual(
    lines.map(({ explain }) =>
      explain?.parts.map(({ level, base, rate, tax: due }) => [level, base, rate, due]),
    ),
    [
      [
        ['state', '100', '0', '0'],
        ['county', '100', '0.02', '2'],
      ],
      [
        ['state', '0', '0', '0'],
        ['county', '0', '0', '0'],
      ],
      [
        ['state', '100', '0.04', '4'],
        ['county', '100', '0.02', '2'],
      ],
    ],
  );
  const [grocery] = lines;
  assert.equal(grocery?.explain?.rules[0]?.source?.citation, 'K.S.A. section 79-3603d');
});
