/** Many long orders that wait for a slow provider: nothing that was parsed of them is held. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSitus } from '../../bench/load/situs-server.js';
import { JSON_NESTED_MAX } from '../../src/base/json-scan.js';
import { ServerMemory } from '../../bench/torture/server-memory.js';
import {
  ask,
  askUntilTaken,
  inventedCountry,
  newMerchantDir,
  removeDirs,
} from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID } from '../support/relay-service.js';
import { startSimulator } from '../support/simulated-provider.js';

const MIB = 1_048_576;
const ORDERS = 100;
/** Many wait together, so the last of them waits for seconds. */
const SLOW_MS = 400;
/** Less than the parsed bodies of the 64 MiB that wait for a worker would take. */
const HEAP_MIB = 512;
/** The bodies themselves and their copies on the way, and what an idle server has. */
const GROWTH_BYTES_MAX = 600 * MIB;

test('a hundred of 1 MiB against a slow provider leave the server alive', async (context) => {
  const simulator = await startSimulator(context, { faults: { slow: 1 }, slowMs: SLOW_MS });
  const varDir = await newMerchantDir(inventedCountry());
  const server = await startSitus(inventedCountry(), {
    SITUS_VAR: varDir,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
    SITUS_PROVIDER_URL: simulator.url,
    SITUS_PROVIDER_TIMEOUT_MS: '120000',
    SITUS_WORKERS: '1',
    SITUS_BULK_WORKERS: '1',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  });
  const memory = new ServerMemory(server.pid);
  context.after(async () => {
    memory.end();
    await server.stop();
    removeDirs(varDir);
  });
  const base = `http://127.0.0.1:${server.port}`;
  const made = await ask(base, 'POST', '/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(made.body['merchantId']);
  await ask(base, 'POST', '/merchant/credentials/set', {
    merchantId,
    apiKey: 'simulated-key',
    connectionId: CONNECTION_ID,
  });
  const order = JSON.stringify({ merchantId, ...BODIES['order/create'] });
  // Parsed, it takes more than the heap of the server holds a hundred times.
  const more = `${'{},'.repeat(JSON_NESTED_MAX - 100)}{}]}`;
  const body = Buffer.from(`${order.slice(0, -1)},"more":[${more}`.padEnd(MIB));
  const answers = await Promise.all(
    Array.from({ length: ORDERS }, () =>
      askUntilTaken(base, 'POST', '/merchant/order/create', body),
    ),
  );
  // The provider has the order since the first of them.
  const statuses = new Set(answers.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), [201, 400]);
  assert.equal((await ask(base, 'GET', '/system/health', null)).status, 200);
  const grown = memory.own - memory.idle;
  assert.ok(grown < GROWTH_BYTES_MAX, `${Math.round(grown / MIB)} MiB`);
});
