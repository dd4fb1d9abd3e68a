/** Carts on the fixture dataset as the real build makes it: they agree with its lookups. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { openDataset } from '../../src/dataset/open.js';
import { isFailure } from '../../src/failure.js';
import { buildRecipe } from '../support/built-dataset.js';
import { cartLine, NOW, refused, ROUNDING } from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';

const built = buildRecipe('fixture');
const dataset = openDataset(built.dir);

after(() => {
  dataset.close();
  built.remove();
});

const ADDRESSES = [
  '200 County Highway 12, Birchwood, QA 91020',
  '5 Border Ave, Elmton, QA 91011',
  '2 Alder Way, Elmton, QA 91010',
  '1 High St, St. Hazel, QB 92010',
  '9 Nowhere Ln, Juniper, QB 92020',
  '1 Shore Rd, Kelp Harbor, QC 93010',
  '1 Fir St, Firton, QD 94010',
] as const;

function cart(origin: string, destination: string, price: string, tic: string | null = null) {
  return {
    instantMs: null,
    rounding: ROUNDING,
    explain: false,
    lines: [cartLine([price, 1, tic], 0)],
    origin: { kind: 'line', address: origin },
    destination: { kind: 'line', address: destination },
  } as const;
}

function salesRate(address: string): number | null {
  const found = engineOf(dataset).lookup(
    {
      kind: 'address',
      address,
      options: NO_OPTIONS,
    },
    NOW,
  );
  return isFailure(found) || found.kind !== 'situs' ? null : found.rates.sales;
}

function stateOf(address: string): string {
  return /(\w\w) \d{5}$/.exec(address)?.[1] ?? '';
}

test('a cart has the rate of a lookup at the place that its sourcing points to', () => {
  let answered = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...ADDRESSES),
      fc.constantFrom(...ADDRESSES),
      fc.integer({ min: 1, max: 1_000_000 }),
      (origin, destination, cents) => {
        const outcome = engineOf(dataset).calculate(
          cart(origin, destination, (cents / 100).toFixed(2)),
          NOW,
        );
        const within = stateOf(origin) === stateOf(destination);
        const taxing = within && stateOf(origin) === 'QB' ? origin : destination;
        const expected = salesRate(taxing);
        assert.equal(isFailure(outcome), expected === null);
        if (isFailure(outcome) || expected === null) return;
        answered += 1;
        const [line] = outcome.lines;
        assert.ok(Math.abs((line?.rate ?? 0) - expected) <= 5_000);
        const exact = BigInt(cents) * BigInt(expected) * 10n;
        const amount = BigInt(line?.amount ?? 0) * 1_000n;
        assert.ok(amount - exact <= 5_000_000_000n && exact - amount <= 5_000_000_000n);
      },
    ),
    { numRuns: 1_000 },
  );
  assert.ok(answered > 500);
});

test('a rule of a scope that is not held is refused where local taxes depend on it', () => {
  const [, elmton] = ADDRESSES;
  const answer = refused(dataset, cart(elmton, elmton, '109.99', '20010'));
  assert.equal(answer.field, 'lineItems[0]');
  assert.match(answer.detail ?? '', /Aldermark follow the state's rule for 20010/);
});
