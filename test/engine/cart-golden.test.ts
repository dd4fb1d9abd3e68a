/** Cases from real life: each once went wrong somewhere, or is a border where an item tips over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { formatRate } from '../../src/tax/rate.js';
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
} from '../support/cart-world.js';

const NYC: FactPlace = {
  state: 'NY',
  county: '061',
  placeGeoid: '3651000',
  percents: [
    ['state', '4'],
    ['city', '4.5'],
    ['district', '0.375'],
  ],
};
const ALBANY: FactPlace = {
  state: 'NY',
  county: '001',
  percents: [
    ['state', '4'],
    ['county', '4'],
  ],
};

function within(place: FactPlace, items: readonly Item[], wish?: CartWish): readonly string[] {
  const at = splitAt(place.state, 0);
  return amountsOf(calculated(cartWorld([place]), cartOf(at, at, items, wish)));
}

const CLOTHING = '20010';

test('New York: an order of small lines is 1.70 by line and 1.72 by order', () => {
  // 8.875 % of 4.84 four times is 0.42955 each: 0.43 × 4 = 1.72; of 19.36 it is 1.7182.
  const lines: readonly Item[] = [['4.84'], ['4.84'], ['4.84'], ['4.84']];
  assert.deepEqual(within(NYC, lines), ['0.43', '0.43', '0.43', '0.43']);
  // 8.875 % of 4.79 is 0.4251: 0.43 a line makes 1.72, the order comes to 1.70.
  const order: readonly Item[] = [['4.79'], ['4.79'], ['4.79'], ['4.79']];
  assert.deepEqual(within(NYC, order), ['0.43', '0.43', '0.43', '0.43']);
  const at = splitAt('NY', 0);
  const whole = calculated(
    cartWorld([NYC]),
    cartOf(at, at, order, { rounding: { level: 'cart' } }),
  );
  assert.equal(whole.total, 1_700_000_000);
  assert.deepEqual(amountsOf(whole), ['0.43', '0.43', '0.42', '0.42']);
});

test('a rate of 9.375 % is not cut to 9.38', () => {
  const place: FactPlace = {
    state: 'CA',
    county: '001',
    percents: [
      ['state', '7.25'],
      ['county', '2.125'],
    ],
  };
  const at = splitAt('CA', 0);
  const {
    lines: [line],
  } = calculated(cartWorld([place]), cartOf(at, at, [['1000']]));
  assert.equal(line?.amount, 93_750_000_000);
  assert.equal(formatRate(line!.rate), '0.09375');
});

test('15.14 by order is 15.15 by line', () => {
  const place: FactPlace = { state: 'NJ', county: '001', percents: [['state', '6.625']] };
  const items: readonly Item[] = [['76.16'], ['76.16'], ['76.16']];
  assert.deepEqual(within(place, items), ['5.05', '5.05', '5.05']);
  const at = splitAt('NJ', 0);
  const whole = calculated(
    cartWorld([place]),
    cartOf(at, at, items, { rounding: { level: 'cart' } }),
  );
  assert.equal(whole.total, 15_140_000_000);
});

test('a ZIP across two states is never taxed across the line', () => {
  const minnesota: FactPlace = { state: 'MN', county: '117', percents: [['state', '6.875']] };
  const dakota: FactPlace = { state: 'SD', county: '101', percents: [['state', '4.2']] };
  const world = cartWorld([minnesota, dakota], [{ zip: 56164, state: 'MN', places: [0, 1] }]);
  const place = (state: string) =>
    ({
      kind: 'split',
      line1: '99 County Rd',
      line2: '',
      city: 'Shared',
      state,
      zip: '56164',
    }) as const;
  const from = splitAt('MN', 0);
  assert.deepEqual(amountsOf(calculated(world, cartOf(from, place('MN'), [['100']]))), ['6.88']);
  assert.deepEqual(amountsOf(calculated(world, cartOf(from, place('SD'), [['100']]))), ['4.20']);
  const line = { kind: 'line', address: '99 County Rd, Shared 56164' } as const;
  assert.equal(refused(world, cartOf(from, line, [['100']])).field, 'destination');
  assert.equal(refused(world, cartOf(from, place('NE'), [['100']])).field, 'destination');
});

test('New York: a garment of $109.99 is exempt and one of $110.00 is taxed', () => {
  const items: readonly Item[] = [
    ['109.99', 3, CLOTHING],
    ['110', 1, CLOTHING],
  ];
  assert.deepEqual(within(NYC, items), ['0.00', '9.76']);
  // Albany County levies its own 4 % below the threshold too.
  assert.deepEqual(within(ALBANY, items), ['13.20', '8.80']);
});

test('New York: a county that opted in exempts from its first day, and a city may differ', () => {
  const county = (code: string, placeGeoid = ''): FactPlace => ({
    state: 'NY',
    county: code,
    placeGeoid,
    percents: [
      ['state', '4'],
      ['county', '4'],
    ],
  });
  for (const [place, tax] of [
    [county('079'), '0.00'],
    [county('027'), '0.00'],
    [county('017'), '0.00'],
    [county('017', '3653979'), '4.00'],
    [county('119'), '4.00'],
  ] as const) {
    assert.deepEqual(within(place, [['100', 1, CLOTHING]]), [tax], JSON.stringify(place));
  }
});

test('New York: a ZIP across counties that differ on clothing alone is refused for clothing', () => {
  const wayne: FactPlace = {
    state: 'NY',
    county: '117',
    percents: [
      ['state', '4'],
      ['county', '4'],
    ],
  };
  const world = cartWorld([ALBANY, wayne], [{ zip: 14500, state: 'NY', places: [0, 1] }]);
  const shared = {
    kind: 'split',
    line1: '99 County Rd',
    line2: '',
    city: 'Shared',
    state: 'NY',
    zip: '14500',
  } as const;
  assert.deepEqual(amountsOf(calculated(world, cartOf(shared, shared, [['100']]))), ['8.00']);
  const answer = refused(world, cartOf(shared, shared, [['100'], ['100', 1, CLOTHING]]));
  assert.equal(answer.field, 'lineItems[1]');
  assert.match(answer.detail ?? '', /places of New York that tax 20010 differently/);
});

test('delivery of mixed goods: in proportion, whole, or not told', () => {
  const goods: readonly Item[] = [['30', 1, '40030'], ['70'], ['10', 1, '10001']];
  const minnesota: FactPlace = { state: 'MN', county: '053', percents: [['state', '6.875']] };
  // 70 % of the charge is taxed: 7 × 6.875 % = 0.48125.
  assert.deepEqual(within(minnesota, goods), ['0.00', '4.81', '0.48']);
  assert.deepEqual(within(ALBANY, goods), ['0.00', '5.60', '0.80']);
  const texas: FactPlace = { state: 'TX', county: '201', percents: [['state', '6.25']] };
  const at = splitAt('TX', 0);
  const answer = refused(cartWorld([texas]), cartOf(at, at, goods));
  assert.equal(answer.field, 'lineItems[2]');
  assert.match(answer.detail ?? '', /one delivery charge/);
  const pure: readonly Item[] = [['70'], ['10', 1, '10001']];
  assert.deepEqual(within(texas, pure), ['4.38', '0.63']);
});

/** Local time in a zone without daylight saving on the day, as an instant. */
function instant(date: string, time: string, offset: string): number {
  return Date.parse(`${date}T${time}${offset}`);
}

test("Texas: the holiday begins and ends at midnight in the place's own zone", () => {
  const texas: FactPlace = {
    state: 'TX',
    county: '201',
    percents: [
      ['state', '6.25'],
      ['city', '2'],
    ],
  };
  const world: Dataset = cartWorld([texas]);
  const at = splitAt('TX', 0);
  const tax = (when: number): readonly string[] =>
    amountsOf(calculated(world, cartOf(at, at, [['99.99', 1, CLOTHING]], { at: when })));
  assert.deepEqual(tax(instant('2026-08-06', '23:59:59', '-05:00')), ['8.25']);
  assert.deepEqual(tax(instant('2026-08-07', '00:00:00', '-05:00')), ['0.00']);
  assert.deepEqual(tax(instant('2026-08-09', '23:59:59', '-05:00')), ['0.00']);
  assert.deepEqual(tax(instant('2026-08-10', '00:00:00', '-05:00')), ['8.25']);
});

test("El Paso's midnight is an hour after Austin's, Pensacola's after Miami's", () => {
  const tax = (place: FactPlace, when: number): readonly string[] =>
    within(place, [['50', 1, CLOTHING]], { at: when });
  const elPaso: FactPlace = { state: 'TX', county: '141', percents: [['state', '6.25']] };
  assert.deepEqual(tax(elPaso, instant('2026-08-06', '23:59:59', '-06:00')), ['3.13']);
  assert.deepEqual(tax(elPaso, instant('2026-08-07', '00:00:00', '-06:00')), ['0.00']);
  assert.deepEqual(tax(elPaso, instant('2026-08-09', '23:59:59', '-06:00')), ['0.00']);
  assert.deepEqual(tax(elPaso, instant('2026-08-10', '00:00:00', '-06:00')), ['3.13']);
  const pensacola: FactPlace = { state: 'FL', county: '033', percents: [['state', '6']] };
  const miami: FactPlace = { ...pensacola, county: '086' };
  const first = instant('2026-08-01', '00:00:00', '-04:00');
  assert.deepEqual([tax(miami, first), tax(pensacola, first)], [['0.00'], ['3.00']]);
  const at = splitAt('TX', 0);
  const told = calculated(cartWorld([elPaso]), cartOf(at, at, [['50']], { explain: true }));
  assert.equal(told.explain?.timeZone, 'America/Denver');
});

test('counties on the other clock of their state: day and zone of a sale are theirs', () => {
  // Half an hour after midnight of the state's main zone, before midnight in these counties.
  for (const [state, county, zone, when] of [
    ['SD', '103', 'America/Denver', instant('2027-01-01', '00:30:00', '-06:00')],
    ['NE', '157', 'America/Denver', instant('2027-01-01', '00:30:00', '-06:00')],
    ['ND', '089', 'America/Denver', instant('2027-01-01', '00:30:00', '-06:00')],
    ['KY', '227', 'America/Chicago', instant('2027-01-01', '00:30:00', '-05:00')],
    ['ID', '055', 'America/Los_Angeles', instant('2027-01-01', '00:30:00', '-07:00')],
  ] as const) {
    const world = cartWorld([{ state, county, percents: [['state', '5']] }]);
    const at = splitAt(state, 0);
    const told = calculated(world, cartOf(at, at, [['50']], { explain: true, at: when }));
    assert.deepEqual([told.explain?.timeZone, told.marks.date], [zone, 20261231], state);
  }
});

test("a holiday's limit is part of it or not, as the law says", () => {
  const noon = instant('2026-08-08', '12:00:00', '-05:00');
  const state = (code: string): FactPlace => ({ state: code, percents: [['state', '5']] });
  const tax = (code: string, price: string): readonly string[] =>
    within(state(code), [[price, 1, CLOTHING]], { at: noon });
  // Texas: less than $100. Virginia: $100 or less.
  assert.deepEqual(tax('TX', '100'), ['5.00']);
  assert.deepEqual(tax('TX', '99.99'), ['0.00']);
  assert.deepEqual(tax('VA', '100'), ['0.00']);
  assert.deepEqual(tax('VA', '100.01'), ['5.00']);
});
