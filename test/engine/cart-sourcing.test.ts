/** Which place taxes a sale: every state's rule with a source, and the mixed ones by example. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SOURCING_RULES } from '../../src/engine/cart/cart-facts.js';
import type { FactPlace } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  CART_DOCUMENTS,
  cartOf,
  cartWorld,
  refused,
  splitAt,
} from '../support/cart-world.js';

type Percents = NonNullable<FactPlace['percents']>;

function place(state: string, county: string, percents: Percents): FactPlace {
  return { state, county, percents };
}

const LOW: Percents = [
  ['state', '4'],
  ['county', '1'],
];
const HIGH: Percents = [
  ['state', '4'],
  ['county', '3'],
];

/** Tax on $100 from a place at 5 % to one at 7 % of the same state. */
function within(state: string): readonly [string, string] {
  const world = cartWorld([place(state, '001', LOW), place(state, '003', HIGH)]);
  const {
    lines: [line],
    marks,
  } = calculated(world, cartOf(splitAt(state, 0), splitAt(state, 1), [['100']]));
  return [(Number(line?.amount) / 1e9).toFixed(2), marks.sourcing];
}

test('sales within an origin state are taxed where they are sent from', () => {
  for (const state of ['AZ', 'IL', 'MO', 'MS', 'OH', 'PA', 'TN', 'UT', 'VA']) {
    assert.deepEqual(within(state), ['5.00', 'origin'], state);
  }
});

test('sales within a destination state are taxed where they are delivered', () => {
  for (const state of ['AL', 'CO', 'FL', 'GA', 'KS', 'MN', 'NM', 'NY', 'NC', 'WA', 'WI']) {
    assert.deepEqual(within(state), ['7.00', 'destination'], state);
  }
});

test('sales from another state are taxed at the destination, in origin states too', () => {
  for (const state of ['AZ', 'CA', 'IL', 'MO', 'OH', 'PA', 'TN', 'TX', 'UT', 'VA']) {
    const world = cartWorld([place('NV', '003', LOW), place(state, '003', HIGH)]);
    const outcome = calculated(world, cartOf(splitAt('NV', 0), splitAt(state, 1), [['100']]));
    assert.deepEqual(
      [amountsOf(outcome), outcome.marks.sourcing],
      [['7.00'], 'destination'],
      state,
    );
  }
});

test('California: the base is that of the place of sale, district taxes those of the delivery', () => {
  const world = cartWorld([
    place('CA', '059', [
      ['state', '7.25'],
      ['county', '0.5'],
    ]),
    place('CA', '037', [
      ['state', '7.25'],
      ['county', '2.25'],
    ]),
  ]);
  const cart = cartOf(splitAt('CA', 0), splitAt('CA', 1), [['100']], { explain: true });
  const {
    lines: [line],
    marks,
    explain,
  } = calculated(world, cart);
  assert.equal(marks.sourcing, 'mixed');
  assert.equal(line?.amount, 9_500_000_000);
  assert.deepEqual(
    line?.explain?.parts.map(({ level, place: side }) => [level, side]),
    [
      ['state', 'origin'],
      ['county', 'destination'],
    ],
  );
  assert.equal(explain?.sourcing.rule, 'sourcing: base-at-origin');
  assert.match(explain?.sourcing.source?.citation ?? '', /1802 and 1823/);
});

const TEXAS = '6.25';

const ACROSS = cartOf(splitAt('TX', 0), splitAt('TX', 1), [['100']]);

function texasWorld(origin: Percents, destination: Percents): ReturnType<typeof cartWorld> {
  return cartWorld([
    place('TX', '001', [['state', TEXAS], ...origin]),
    place('TX', '003', [['state', TEXAS], ...destination]),
  ]);
}

test('Texas: at the origin, topped up from the destination below two per cent', () => {
  for (const [origin, destination, tax] of [
    // At the cap nothing is added.
    [[['city', '2']], [['city', '1.5']], '8.25'],
    // The kinds that the origin lacks are added, each whole or not at all.
    [[], [['city', '1.5']], '7.75'],
    [[['city', '1']], [['county', '0.5']], '7.75'],
    [
      [['city', '1']],
      [
        ['city', '1.5'],
        ['county', '0.5'],
      ],
      '7.75',
    ],
    [[['city', '1.75']], [['county', '0.5']], '8.00'],
    [[['city', '1']], [['district', '1']], '8.25'],
    [[['city', '1.5']], [['district', '1']], '7.75'],
  ] as readonly (readonly [Percents, Percents, string])[]) {
    const outcome = calculated(texasWorld(origin, destination), ACROSS);
    assert.deepEqual(amountsOf(outcome), [tax], JSON.stringify([origin, destination]));
  }
});

test('Texas: which districts exclude each other is not held, and is not guessed', () => {
  for (const [origin, destination] of [
    [[['district', '1']], [['district', '0.5']]],
    [
      [],
      [
        ['district', '1.5'],
        ['district', '1'],
      ],
    ],
  ] as readonly (readonly [Percents, Percents])[]) {
    const answer = refused(texasWorld(origin, destination), ACROSS);
    assert.equal(answer.field, null);
    assert.match(answer.detail ?? '', /depends on their kind/);
  }
});

test('every special rule is one the engine knows, with its law', () => {
  const rows = CART_DOCUMENTS['sourcing-cases'];
  assert.ok(Array.isArray(rows) && rows.length > 0);
  for (const row of rows as readonly Record<string, string>[]) {
    assert.ok(
      SOURCING_RULES.some((rule) => rule === row['rule']),
      row['state'],
    );
    assert.notEqual(row['citation'], '', row['state']);
    assert.notEqual(row['source'], '', row['state']);
  }
});
