/**
 * What a provider carried out is told, whatever the store says, and is carried out once, whatever
 * happens between the call and the store.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import type { MerchantParts } from '../../src/api/merchant/routes.js';
import { relayRoutes } from '../../src/api/merchant/relay-handler.js';
import type { Simulator } from '../../src/provider/simulator/server.js';
import { StoreFault } from '../../src/store/fault.js';
import { createKey } from '../../src/store/keys.js';
import type { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { serveMerchants } from '../support/merchant-routes.js';
import {
  ask,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  type Answered,
} from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID, type RelayName } from '../support/relay-service.js';
import { clientOf, startSimulator } from '../support/simulated-provider.js';
import { fill as fillDisk, release, smallDisk } from '../support/small-disk.js';
import { LATER_OPTIMIZED, MAIN } from '../support/program.js';

const STORE_BYTES = 300_000;
const CREATES_MAX = 1_000;
const SLOW_MS = 5_000;

interface Relay {
  readonly store: Store;
  readonly simulator: Simulator;
  readonly merchants: MerchantParts;
  readonly base: string;
  send(name: RelayName, key?: string, change?: object): Promise<Answered>;
}

async function connect(base: string): Promise<string> {
  const made = await ask(base, 'POST', '/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(made.body['merchantId']);
  const set = await ask(base, 'POST', '/merchant/credentials/set', {
    merchantId,
    apiKey: 'simulated-key',
    connectionId: CONNECTION_ID,
  });
  assert.equal(set.status, 200, set.text);
  return merchantId;
}

function sender(base: string, merchantId: string): Relay['send'] {
  return (name, key, change = {}) =>
    ask(
      base,
      'POST',
      `/merchant/${name}`,
      { merchantId, ...BODIES[name], ...change },
      key === undefined ? {} : { idempotencyKey: key },
    );
}

/** The routes over a small store, in front of a simulated provider. */
async function openRelay(context: TestContext, varDir: string | null = null): Promise<Relay> {
  varDir ??= await newMerchantDir(null);
  const simulator = await startSimulator(context, { slowMs: SLOW_MS });
  const provider = clientOf(context, simulator.url);
  const { store, merchants, base } = await serveMerchants(context, varDir, {
    bytesMax: STORE_BYTES,
    also: ({ services }) => relayRoutes({ ...services, provider, timeoutMs: 120_000 }),
  });
  await createKey(store, { text: KEYS.alpha, plan: 'enterprise', rate: 1_000_000 }).catch(
    () => undefined,
  );
  return { store, simulator, merchants, base, send: sender(base, await connect(base)) };
}

/** Writes of the store fail from the given one on; returns what lets them succeed again. */
function failFrom(store: Store, first: number): () => void {
  const write = store.write.bind(store);
  let count = 0;
  store.write = (action, options) => {
    // Usage is counted beside the requests.
    if (!/#keep|remove\(/.test(String(action))) return write(action, options);
    count += 1;
    return count < first ? write(action, options) : Promise.reject(new StoreFault('unwritable'));
  };
  return () => {
    store.write = write;
  };
}

/** Creates merchants until the store is full. */
async function fill(base: string): Promise<void> {
  const long = '\u{1f9fe}'.repeat(255);
  let status = 201;
  for (let count = 0; status === 201 && count < CREATES_MAX; count += 1) {
    ({ status } = await ask(base, 'POST', '/merchant/create', {
      merchantName: long,
      contactFirst: long,
      contactLast: long,
    }));
  }
  assert.equal(status, 503, 'the store is full');
}

const WRITING = [
  'order/create',
  'order/update',
  'refund/create',
  'cert/create',
] as const satisfies readonly RelayName[];

test('what was carried out is told although it cannot be stored, and once', async (context) => {
  const { store, simulator, merchants, send } = await openRelay(context);
  for (const name of WRITING) {
    const before = simulator.received.length;
    const heal = failFrom(store, 2);
    const first = await send(name, name);
    assert.equal(first.status, name === 'order/update' ? 200 : 201, `${name} ${first.text}`);
    const again = await send(name, name);
    assert.equal(again.text, first.text, name);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.equal((await send(name, name, { batchId: 'another' })).status, 422);
    assert.equal(simulator.received.length, before + 1, 'asked once');
    heal();
  }
  // What is remembered is stored when the store takes it, at the latest at the end.
  const answers = (): readonly unknown[] =>
    (store.list(['idempotency']) as readonly { answer: unknown }[]).map(({ answer }) => answer);
  assert.deepEqual(
    answers(),
    WRITING.map(() => null),
  );
  await merchants.close();
  assert.equal(answers().includes(null), false);
});

test('a refusal that cannot be stored leaves the key free', async (context) => {
  const { store, simulator, send } = await openRelay(context);
  simulator.plan('429');
  const heal = failFrom(store, 2);
  assert.equal((await send('order/create', 'k')).status, 429);
  heal();
  assert.equal((await send('order/create', 'k')).status, 201);
  assert.equal(simulator.received.length, 2);
});

test('nothing is sent when it could not be stored', async (context) => {
  const { store, simulator, base, send } = await openRelay(context);
  const heal = failFrom(store, 1);
  for (const name of WRITING) {
    const { status, text } = await send(name, name);
    assert.equal(status, 503, name);
    assert.match(text, /nothing was done/);
  }
  assert.equal(simulator.received.length, 0);
  heal();
  await fill(base);
  assert.equal((await send('order/create', 'k')).status, 503);
  assert.equal(simulator.received.length, 0);
  // Without a key there is nothing to store.
  const placed = await send('order/create');
  assert.equal(placed.status, 201, placed.text);
  assert.equal(simulator.received.length, 1);
});

test('a store that fills up during a call still takes its answer', async (context) => {
  const { store, simulator, base, send } = await openRelay(context);
  simulator.plan('slow');
  const slow = send('cert/create', 'slow');
  await eventually(() => simulator.received.length === 1);
  await fill(base);
  const placed = await slow;
  assert.equal(placed.status, 201, placed.text);
  const again = await send('cert/create', 'slow');
  assert.equal(again.text, placed.text);
  const [record] = store.list(['idempotency']) as readonly { answer: unknown }[];
  assert.notEqual(record?.answer, null, 'it is in the store');
});

test('a disk that fills up during a call keeps no answer from the caller', async (context) => {
  const dir = smallDisk(context, 6_000_000);
  if (dir === null) return;
  const { store, simulator, merchants, base, send } = await openRelay(context, join(dir, 'var'));
  simulator.plan('slow');
  const slow = send('cert/create', 'slow');
  await eventually(() => simulator.received.length === 1);
  fillDisk(dir);
  await fill(base);
  for (let failed = 0, count = 0; failed < 5; count += 1) {
    await store
      .write(({ put }) => put(['small', String(count)], { v: 1 }))
      .catch(() => {
        failed += 1;
      });
  }
  const placed = await slow;
  assert.equal(placed.status, 201, placed.text);
  const again = await send('cert/create', 'slow');
  assert.equal(again.text, placed.text);
  release(dir);
  await merchants.close();
  const [record] = store.list(['idempotency']) as readonly { answer: unknown }[];
  assert.notEqual(record?.answer, null, 'stored when there was room');
});

interface Served {
  readonly base: string;
  readonly child: ChildProcess;
}

async function serve(context: TestContext, varDir: string, providerUrl: string): Promise<Served> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SITUS_VAR: varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_WORKERS: '1',
      SITUS_PROVIDER_URL: providerUrl,
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
    },
  });
  context.after(() => child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /(http:\/\/\S+:\d+)$/.exec(line);
    if (found !== null) return { base: found[1] ?? '', child };
  }
  throw new Error('the server did not start');
}

test('a kill between the call and its answer does not lead to a second order', async (context) => {
  const varDir = await newMerchantDir(inventedCountry());
  context.after(() => removeDirs(varDir));
  const simulator = await startSimulator(context);
  let { base, child } = await serve(context, varDir, simulator.url);
  const merchantId = await connect(base);
  simulator.plan('slow');
  const cut = sender(base, merchantId)('cert/create', 'k').catch(() => null);
  await eventually(() => simulator.received.length === 1);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  assert.equal(await cut, null);
  ({ base, child } = await serve(context, varDir, simulator.url));
  const again = await sender(base, merchantId)('cert/create', 'k');
  assert.equal(again.status, 409, again.text);
  assert.match(again.text, /whether it was carried out is not known/);
  assert.equal(simulator.received.length, 1);
  assert.equal((await sender(base, merchantId)('cert/create', 'k2')).status, 201);
  child.kill('SIGKILL');
});
