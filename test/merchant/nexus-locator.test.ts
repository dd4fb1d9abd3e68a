/** The budget of time for addresses, and what is billed when it is over. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { fail } from '../../src/failure.js';
import { FLAG_GEO, type AnswerSlice } from '../../src/pool/types.js';
import {
  locateAll,
  LOCATE_MS_MAX,
  type LocateServices,
} from '../../src/api/merchant/nexus-locator.js';
import type { PoolRequest } from '../../src/pool.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import {
  type LocatedAddress,
  type LocateOutcome,
  packLocated,
} from '../../src/api/lookup/located.js';
import { stubKey } from '../support/http-stub-server.js';
import { newVarDir } from '../support/http-var-dir.js';

const RELEASE = { id: '2026-11-21-000000000000', dir: '/nowhere' };
const FOUND: LocatedAddress = {
  normalizedAddress: '1 Main St',
  state: 'QA',
  postalCode: '91010',
  lat: 1,
  lng: 2,
};

function slice(status: number, told: LocateOutcome): AnswerSlice {
  return { status, code: 100, precision: 1, flags: FLAG_GEO, body: packLocated(told) };
}

interface Bench {
  readonly services: LocateServices;
  readonly usage: UsageBook;
  /** What was sent to the pool and is not answered yet. */
  readonly asked: PoolRequest[];
  /** Ends the time. */
  fire(): void;
  stopped(): boolean;
}

async function bench(context: TestContext): Promise<Bench> {
  const store = await Store.open(newVarDir(context));
  const usage = new UsageBook(store);
  context.after(async () => {
    await usage.close();
    await store.close();
  });
  const asked: PoolRequest[] = [];
  let fire = (): void => undefined;
  let stopped = false;
  return {
    usage,
    asked,
    fire: () => fire(),
    stopped: () => stopped,
    services: {
      locator: { loaded: () => true, submit: (request) => void asked.push(request) },
      geocoding: usage,
      timer: (milliseconds, given) => {
        assert.equal(milliseconds, LOCATE_MS_MAX);
        fire = given;
        return () => {
          stopped = true;
        };
      },
    },
  };
}

const KEY = { ...stubKey('a-key', 100), geoLimit: 4 };
const ADDRESSES = ['one', 'two', 'three'];

test('answers in any order come out in the order asked', async (context) => {
  const { services, asked, usage, stopped } = await bench(context);
  const all = locateAll(services, KEY, ADDRESSES);
  assert.deepEqual(
    asked.map(({ kind, payload }) => [kind, payload]),
    ADDRESSES.map((address) => ['locate', address]),
  );
  asked[2]?.answered(slice(422, fail('no-result', 'it is nowhere')), RELEASE);
  asked[0]?.answered(slice(200, FOUND), RELEASE);
  asked[1]?.answered(slice(200, { ...FOUND, state: 'QB' }), RELEASE);
  assert.deepEqual(await all, {
    outcomes: [FOUND, { ...FOUND, state: 'QB' }, fail('no-result', 'it is nowhere')],
  });
  assert.deepEqual(usage.counts('a-key'), { core: 2, geo: 2, merchant: 0 });
  assert.ok(stopped());
});

test('when the time is over, what was found by then is billed and nothing later', async (context) => {
  const { services, asked, usage, fire } = await bench(context);
  const all = locateAll(services, KEY, ADDRESSES);
  asked[0]?.answered(slice(200, FOUND), RELEASE);
  fire();
  assert.equal(await all, 'late');
  asked[1]?.answered(slice(200, FOUND), RELEASE);
  asked[2]?.failed('internal');
  assert.deepEqual(usage.counts('a-key'), { core: 1, geo: 1, merchant: 0 });
  // Places that were held are given back: three more are let through.
  const more = locateAll(services, KEY, ADDRESSES);
  for (const request of asked.slice(3)) request.answered(slice(422, fail('no-result')), RELEASE);
  assert.notEqual(await more, 'not-enabled');
  assert.equal(await locateAll(services, KEY, [...ADDRESSES, 'four']), 'not-enabled');
});

test('a fault of a worker or an overloaded pool ends the request', async (context) => {
  const { services, asked, usage } = await bench(context);
  const faulty = locateAll(services, KEY, ADDRESSES);
  asked[1]?.answered(slice(500, fail('internal')), RELEASE);
  assert.equal(await faulty, 'internal');
  const busy = locateAll(services, KEY, ['one']);
  asked[3]?.failed('overloaded');
  assert.equal(await busy, 'overloaded');
  assert.deepEqual(usage.counts('a-key'), { core: 0, geo: 0, merchant: 0 });
});

test('a key that may not geocode finds nothing', async (context) => {
  const { services, asked } = await bench(context);
  assert.equal(await locateAll(services, { ...KEY, grants: 0 }, ADDRESSES), 'not-enabled');
  assert.equal(asked.length, 0);
});
