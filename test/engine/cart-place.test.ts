/** Where a cart's two places lie, how they are looked for, and what refuses them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CartPlace } from '../../src/engine/cart/outcome.js';
import { isFailure } from '../../src/failure.js';
import type { FactPlace } from '../support/product-facts.js';
import {
  amountsOf,
  calculated,
  cartOf,
  cartWorld,
  NOW,
  refused,
  splitAt,
} from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';

const OHIO: FactPlace = {
  state: 'OH',
  county: '049',
  percents: [
    ['state', '5.75'],
    ['county', '1.75'],
  ],
};
const LAKE: FactPlace = {
  state: 'OH',
  county: '085',
  percents: [
    ['state', '5.75'],
    ['county', '1.5'],
  ],
};
const KANSAS: FactPlace = {
  state: 'KS',
  county: '091',
  percents: [
    ['state', '6.5'],
    ['county', '1'],
  ],
};
const WORLD = cartWorld(
  [OHIO, LAKE, KANSAS],
  [
    { zip: 44000, state: 'OH', places: [0, 1] },
    { zip: 44001, state: 'OH', places: [1] },
  ],
);

function split(line1: string, zip: string, state = 'OH', line2 = ''): CartPlace {
  return { kind: 'split', line1, line2, city: 'Shared', state, zip };
}

const HERE = splitAt('OH', 0);

function precision(place: CartPlace): string {
  return calculated(WORLD, cartOf(place, place, [['100']])).marks.precision;
}

test('an address falls to the weakest rung that cannot be wrong', () => {
  assert.equal(precision(HERE), 'point');
  assert.equal(precision({ kind: 'line', address: '1 Main St, Ashford, OH 10001' }), 'point');
  assert.equal(precision(split('99 Elsewhere Ave', '44001')), 'postal');
  assert.equal(precision(split('PO Box 12', '44001')), 'postal');
  assert.equal(precision(split('Elsewhere Ave', '44001')), 'postal');
  // A box has what a door has that is not found.
  for (const line of ['99 Elsewhere Ave', 'PO Box 12']) {
    const several = split(line, '44000');
    const vague = refused(WORLD, cartOf(several, several, [['1']]));
    assert.deepEqual([vague.field, vague.failure], ['origin', 'address-incomplete'], line);
  }
});

test('the street may stand on the second line', () => {
  const place: CartPlace = {
    kind: 'split',
    line1: 'Acme Stores',
    line2: '1 Main St',
    city: 'Ashford',
    state: 'Ohio',
    zip: '10001-1234',
  };
  assert.equal(precision(place), 'point');
});

test('an interstate sale needs no more of its origin than the state', () => {
  const origin = split('99 Elsewhere Ave', '44000');
  const outcome = calculated(WORLD, cartOf(origin, splitAt('KS', 2), [['100']], { explain: true }));
  assert.deepEqual(amountsOf(outcome), ['7.50']);
  assert.deepEqual(
    [outcome.explain?.origin.state, outcome.explain?.origin.precision],
    ['OH', 'state'],
  );
  assert.equal(outcome.explain?.destination.precision, 'point');
});

test('a sale within a state needs the place its rule points to', () => {
  const nowhere = split('99 Elsewhere Ave', '44000');
  // Ohio taxes at the origin: where in Ohio the goods go does not matter.
  assert.deepEqual(amountsOf(calculated(WORLD, cartOf(HERE, nowhere, [['100']]))), ['7.50']);
  assert.equal(refused(WORLD, cartOf(nowhere, HERE, [['100']])).field, 'origin');
  assert.equal(
    refused(WORLD, cartOf(HERE, split('1 Main St', '99999', 'KS'), [['1']])).field,
    'destination',
  );
  const unclear: CartPlace = { kind: 'line', address: 'somewhere' };
  assert.equal(refused(WORLD, cartOf(unclear, splitAt('KS', 2), [['1']])).field, 'origin');
});

test('a place less precise than the server asks for is refused where the tax rests on it', () => {
  const vague = split('99 Elsewhere Ave', '44001');
  const answer = (origin: CartPlace, destination: CartPlace): string => {
    const outcome = engineOf(WORLD).calculate(cartOf(origin, destination, [['1']]), NOW, 'range');
    return isFailure(outcome) ? (outcome.field ?? '') : outcome.marks.precision;
  };
  assert.equal(answer(HERE, vague), 'point');
  assert.equal(answer(vague, HERE), 'origin');
});

test('the same cart gives the same answer, whatever was asked before', () => {
  const cart = cartOf(
    HERE,
    splitAt('OH', 1),
    [
      ['19.99', 3],
      ['5', 1, '10001'],
    ],
    { explain: true },
  );
  const fresh = cartWorld([OHIO, LAKE, KANSAS]);
  assert.deepEqual(calculated(fresh, cart), calculated(WORLD, cart));
  assert.deepEqual(calculated(WORLD, cart), calculated(WORLD, cart));
});

test('carts to one door from several places, in turns, are answered as each alone', () => {
  const world = (): typeof WORLD =>
    cartWorld(
      [OHIO, LAKE, KANSAS],
      [
        { zip: 44001, state: 'OH', places: [1] },
        { zip: 44002, state: 'OH', places: [1] },
      ],
    );
  const kept = engineOf(world());
  const unfound = ['44001', '44002'].map((zip) => split('99 Elsewhere Ave', zip));
  const places = [HERE, splitAt('OH', 1), splitAt('KS', 2), ...unfound];
  for (let turn = 0; turn < 3; turn += 1) {
    for (const destination of places) {
      for (const origin of places) {
        const cart = cartOf(origin, destination, [
          ['19.99', 3],
          ['5', 1, '10001'],
        ]);
        for (const precisionMin of ['city', 'range', 'point'] as const) {
          assert.deepEqual(
            kept.calculate(cart, NOW, precisionMin),
            engineOf(world()).calculate(cart, NOW, precisionMin),
          );
        }
      }
    }
  }
});

test('a lookup explains its rows with their sources, and how it was found', () => {
  const options = NO_OPTIONS;
  const found = engineOf(WORLD).lookup(
    {
      kind: 'address',
      address: '1 Main St, Ashford, OH 10001',
      options,
    },
    NOW,
  );
  assert.ok(!isFailure(found));
  const explained = engineOf(WORLD).explain(found);
  assert.deepEqual(
    [explained.dataset, explained.precision, explained.boundary],
    [WORLD.id, 'point', 'address point'],
  );
  const [area] = explained.areas;
  assert.equal(area?.sales, '0.075');
  assert.deepEqual(
    area?.rows.map(({ level, sales, source }) => [level, sales, source?.name]),
    [
      ['state', '0.0575', 'invented'],
      ['county', '0.0175', 'invented'],
    ],
  );
  const listed = engineOf(WORLD).lookup(
    {
      kind: 'postal',
      zip: '44000',
      state: '',
      stateCode: '',
      city: '',
      county: '',
      options,
    },
    NOW,
  );
  assert.ok(!isFailure(listed));
  assert.deepEqual(
    engineOf(WORLD)
      .explain(listed)
      .areas.map(({ sales }) => sales),
    ['0.075', '0.0725'],
  );
});

test('meals within a state rest on the origin too, since its seller may owe a tax on them', () => {
  const maine = (county: string): FactPlace => ({
    state: 'ME',
    county,
    percents: [['state', '5.5']],
  });
  const zips = [{ zip: 44001, state: 'ME', places: [1] }];
  const world = cartWorld([maine('001'), maine('003')], zips);
  const door = splitAt('ME', 0);
  const cart = (tic: string, from: CartPlace): ReturnType<typeof cartOf> =>
    cartOf(from, door, [
      ['100', 1, '00000'],
      ['100', 1, tic],
    ]);
  const vague = split('99 Elsewhere Ave', '44001', 'ME');
  const precisionOf = (tic: string, from: CartPlace): string =>
    calculated(world, cart(tic, from)).marks.precision;
  assert.equal(precisionOf('41000', vague), 'postal');
  assert.equal(precisionOf('41000', door), 'point');
  assert.equal(precisionOf('20010', vague), 'point');
  const engine = engineOf(world);
  const strict = engine.calculate(cart('41000', vague), NOW, 'range');
  assert.ok(isFailure(strict));
  assert.equal(strict.field, 'origin');
  assert.ok(!isFailure(engine.calculate(cart('20010', vague), NOW, 'range')));
});
