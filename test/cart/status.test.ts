/** Statuses of carts that need a service of their own: faults, rates, limits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SMALL_CART_BYTES_MAX } from '../../src/api/cart/cart-pool.js';
import { CART_BODY_BYTES_MAX } from '../../src/api/cart/handler.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { BODIES, postRaw, startRelay } from '../support/relay-service.js';
import { sentCalculation, sentCart } from '../support/sent-carts.js';
import { startSimulator } from '../support/simulated-provider.js';

/** Only what is slow on purpose may take longer. */
const TIMEOUT_MS = 2_000;
const CART = '/merchant/cart/calculate';
const ONE = '/calculate/cart';
const ECHO_WORKER = new URL('../support/http-echo-worker.js', import.meta.url);

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

async function end(service: MerchantService): Promise<void> {
  await service.stop();
  removeDirs(service.varDir);
}

test('a provider that does not answer in time is 504', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url, timeoutMs: TIMEOUT_MS });
  simulator.plan('slow');
  const body = JSON.stringify({ merchantId: service.connected, ...BODIES['cart/calculate'] });
  const late = await postRaw(service, CART, body);
  assert.equal(late.status, 504);
  assert.equal(late.headers.get('content-type'), 'application/problem+json');
});

test('a worker that fails is 500, on both ways to it, and the next request is answered', async () => {
  const service = await startMerchants(await newMerchantDir(built.varDir), { worker: ECHO_WORKER });
  try {
    for (const body of ['throw', 'exit']) {
      const { status, headers } = await service.post(ONE, body);
      assert.equal(status, 500, body);
      assert.equal(headers.get('content-type'), 'application/problem+json');
      assert.notEqual(headers.get('x-ratelimit-limit'), null);
    }
    assert.equal((await service.post(ONE, JSON.stringify('fine'))).status, 200);
  } finally {
    await end(service);
  }
});

test("more requests than the rate are 429 for a merchant's carts too", async () => {
  const service = await startMerchants(await newMerchantDir(built.varDir));
  try {
    const options = { key: KEYS.slow };
    const made = await service.post(
      '/merchant/create',
      { merchantName: 'A', merchantType: 'self-managed' },
      options,
    );
    assert.equal(made.status, 201);
    const body = { merchantId: made.body['merchantId'], items: [sentCart()] };
    const limited = await service.post(CART, body, options);
    assert.deepEqual([limited.status, limited.headers.get('x-ratelimit-remaining')], [429, '0']);
  } finally {
    await end(service);
  }
});

test('a body of 8 MiB is read by both, a byte more is 413', async () => {
  const service = await startMerchants(await newMerchantDir(built.varDir));
  try {
    for (const path of [CART, ONE]) {
      const body = JSON.stringify(sentCalculation());
      const fits = body.padEnd(CART_BODY_BYTES_MAX);
      assert.notEqual((await service.post(path, fits)).status, 413, path);
      const over = await service.post(path, `${fits} `);
      assert.equal(over.status, 413, path);
      assert.equal(over.headers.get('content-type'), 'application/problem+json');
    }
  } finally {
    await end(service);
  }
});

test('each of many that are answered at once tells what remained for it', async () => {
  const service = await startMerchants(await newMerchantDir(built.varDir));
  try {
    const made = await service.post('/merchant/create', {
      merchantName: 'Acme',
      merchantType: 'self-managed',
    });
    const { merchantId } = made.body;
    const place = { line1: '5 Border Ave', city: 'Elmton', state: 'QA', zip: '91011' };
    const items = [sentCart({ origin: place, destination: place })];
    const text = JSON.stringify({ merchantId, items });
    for (const body of [text, text + ' '.repeat(SMALL_CART_BYTES_MAX)]) {
      const answers = await Promise.all(Array.from({ length: 24 }, () => service.post(CART, body)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      left.sort((a, b) => b - a);
      assert.deepEqual(
        left,
        left.map((_count, index) => left[0]! - index),
      );
    }
  } finally {
    await end(service);
  }
});
