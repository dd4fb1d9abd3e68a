/**
 * A provider that takes longer than the native server lets an idle connection have: its answer is
 * relayed whatever the length of the request, which decides whether the connection was held before.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { PARSED_BYTES_MAX } from '../../src/http/json-body.js';
import {
  inventedCountry,
  newMerchantDir,
  removeDirs,
  startMerchants,
} from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID, postRaw } from '../support/relay-service.js';

/** Ten seconds, and the four that the native server counts by. */
const LATE_MS = 15_000;
const ANSWER = '{"late":true}';

test('an answer of the provider that comes late is relayed to requests of any length', async (t) => {
  const provider = createServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => response.setHeader('Content-Type', 'application/json').end(ANSWER), LATE_MS);
    });
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const dir = await newMerchantDir(inventedCountry());
  const service = await startMerchants(
    dir,
    {},
    {
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
      SITUS_PROVIDER_TIMEOUT_MS: String(8 * LATE_MS),
    },
  );
  t.after(async () => {
    await service.stop();
    provider.close();
    removeDirs(dir);
  });
  const made = await service.post('/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(made.body['merchantId']);
  await service.post('/merchant/credentials/set', {
    merchantId,
    apiKey: 'k',
    connectionId: CONNECTION_ID,
  });
  const short = { merchantId, ...BODIES['order/create'] };
  const [line] = short.lineItems;
  const itemId = 'x'.repeat(50);
  const lineItems = Array.from({ length: 500 }, (_line, index) => ({ ...line, index, itemId }));
  const long = { ...short, lineItems };
  const cart = { merchantId, ...BODIES['cart/calculate'] };
  const items = Array.from({ length: 100 }, () => cart.items[0]);
  const sent = [
    ['/merchant/order/create', JSON.stringify(short)],
    ['/merchant/order/create', JSON.stringify(long)],
    ['/merchant/cart/calculate', JSON.stringify({ ...cart, items })],
  ] as const;
  assert.ok(sent[1][1].length > PARSED_BYTES_MAX);
  for (const answer of sent.map(([path, body]) => postRaw(service, path, body))) {
    const { status, text } = await answer;
    assert.deepEqual([status, text], [200, ANSWER]);
  }
});
