/** What the simulated provider says to requests that it cannot read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIMULATED_KEY } from '../../src/provider/simulator/server.js';
import { startSimulator } from '../support/simulated-provider.js';

const ASK_MS_MAX = 10_000;

test('a path or a number that cannot be read is refused, not left without an answer', async (t) => {
  const { url } = await startSimulator(t);
  const statusOf = async (path: string, body?: string): Promise<number> => {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'X-API-KEY': SIMULATED_KEY },
      signal: AbortSignal.timeout(ASK_MS_MAX),
      ...(body === undefined ? {} : { body }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  for (const path of ['/tax/connections/%zz/carts', '/tax/connections/c-1/orders/%zz', '//']) {
    assert.equal(await statusOf(path), 400, path);
  }
  for (const price of ['1e400', '1e30']) {
    const line = `{"index":0,"itemId":"item-1","price":${price},"quantity":1}`;
    const body = `{"items":[{"lineItems":[${line}]}]}`;
    assert.equal(await statusOf('/tax/connections/c-1/carts', body), 400, price);
  }
});
