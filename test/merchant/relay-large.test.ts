/** Large carts of provider-connected merchants: looked at in a worker, or here without one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SMALL_CART_BYTES_MAX } from '../../src/api/cart/cart-pool.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID, postRaw } from '../support/relay-service.js';
import { startSimulator } from '../support/simulated-provider.js';

const PATH = '/merchant/cart/calculate';
const [CART] = BODIES['cart/calculate'].items;

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

function lines(price: unknown): readonly object[] {
  return Array.from({ length: 250 }, (_line, index) => ({
    index,
    itemId: `item-${index}`,
    price,
    quantity: 1.5,
    tic: 0,
  }));
}

/** A body of some carts, without its first brace. */
function cartsOf(price: unknown): string {
  const items = Array.from({ length: 8 }, (_cart, index) => ({
    ...CART,
    cartId: `cart-${index}`,
    lineItems: lines(price),
  }));
  return JSON.stringify({ items }).slice(1);
}

async function connect(service: MerchantService): Promise<string> {
  const { body } = await service.post('/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(body['merchantId']);
  const set = await service.post('/merchant/credentials/set', {
    merchantId,
    apiKey: 'simulated-key',
    connectionId: CONNECTION_ID,
  });
  assert.equal(set.status, 200, set.text);
  return merchantId;
}

for (const [title, hasDataset] of [
  ['in a worker', true],
  ['without a dataset', false],
] as const) {
  test(`a large cart is relayed byte for byte, or refused, ${title}`, async (t) => {
    const simulator = await startSimulator(t);
    const varDir = await newMerchantDir(hasDataset ? built.varDir : null);
    const service = await startMerchants(
      varDir,
      {},
      {
        SITUS_ALLOW_PRIVATE_NETWORK: '1',
        SITUS_PROVIDER_URL: simulator.url,
      },
    );
    t.after(async () => {
      await service.stop();
      removeDirs(varDir);
    });
    const merchantId = await connect(service);
    const carts = cartsOf(10.75).replace('10.75', '10.750');
    const sent = `{ "merchantId" : "${merchantId}", ${carts}`;
    assert.ok(sent.length > SMALL_CART_BYTES_MAX);
    const made = await postRaw(service, PATH, sent);
    assert.equal(made.status, 201, made.text);
    assert.equal(simulator.received.at(-1)?.body.toString(), `{ ${carts}`);
    const calls = simulator.received.length;
    const wrong = await postRaw(service, PATH, `{"merchantId":"${merchantId}",${cartsOf('1')}`);
    assert.equal(wrong.status, 422);
    const { errors } = JSON.parse(wrong.text) as { errors: { location: string }[] };
    assert.equal(errors[0]?.location, 'body.items[0].lineItems[0].price');
    const deep = `{"merchantId":"${merchantId}","more":${'['.repeat(100)}${']'.repeat(100)},`;
    for (const body of [`${sent.slice(0, -1)},`, deep + carts]) {
      assert.equal((await postRaw(service, PATH, body)).status, 400);
    }
    assert.equal((await postRaw(service, PATH, sent, { key: KEYS.beta })).status, 403);
    assert.equal(simulator.received.length, calls);
  });
}
