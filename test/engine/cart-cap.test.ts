/** Texas: at the cap nothing rests on the destination but its state (34 TAC 3.334(c)). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CartPlace } from '../../src/engine/cart/outcome.js';
import {
  amountsOf,
  calculated,
  cartOf,
  cartWorld,
  refused,
  splitAt,
} from '../support/cart-world.js';

const world = cartWorld(
  [
    {
      state: 'TX',
      county: '201',
      percents: [
        ['state', '6.25'],
        ['city', '1'],
        ['district', '1'],
      ],
    },
    {
      state: 'TX',
      county: '113',
      percents: [
        ['state', '6.25'],
        ['city', '1'],
      ],
    },
    {
      state: 'TX',
      county: '037',
      percents: [
        ['state', '6.25'],
        ['city', '1.5'],
      ],
    },
    { state: 'TX', county: '401', percents: [['state', '6.25']] },
  ],
  [{ zip: 10_099, state: 'TX', places: [2, 3] }],
);

function shared(zip: string): CartPlace {
  return { kind: 'split', line1: '9 Nowhere Ln', line2: '', city: 'Nowhere', state: 'TX', zip };
}

test('a seller at the cap charges the local taxes of the place of sale wherever it ships', () => {
  const outcome = calculated(world, cartOf(splitAt('TX', 0), shared('10099'), [['100']]));
  assert.deepEqual([amountsOf(outcome), outcome.marks.sourcing], [['8.25'], 'origin']);
  assert.equal(outcome.marks.precision, 'point');
});

test('below the cap the destination is asked for', () => {
  const refusal = refused(world, cartOf(splitAt('TX', 1), shared('10099'), [['100']]));
  assert.equal(refusal.field, 'destination');
});

test('a ZIP that is none and a state that is none are refused, not read as something else', () => {
  const place = splitAt('TX', 0);
  assert.ok(place.kind === 'split');
  for (const wrong of [
    { zip: '10001-10002' },
    { zip: '1000' },
    { zip: '10001-12' },
    { state: 'XX' },
  ]) {
    const refusal = refused(world, cartOf(place, { ...place, ...wrong }, [['100']]));
    assert.equal(refusal.field, 'destination', JSON.stringify(wrong));
    assert.match(refusal.detail ?? '', /is no (?:ZIP code|state)/);
  }
  for (const right of [{ zip: ' 10001 ' }, { zip: '10001-0001' }, { state: 'texas' }]) {
    calculated(world, cartOf(place, { ...place, ...right }, [['100']]));
  }
});
