/** Several servers on one store: what is to happen once happens once, whichever is asked. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import { endpointOf } from '../../src/store/endpoint.js';
import { createKey } from '../../src/store/keys.js';
import { listNodes } from '../../src/store/nodes.js';
import { listUsage } from '../../src/store/usage.js';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { Store } from '../../src/store/store.js';
import { startBulkApp } from '../support/bulk-client.js';
import { buildRecipe } from '../support/built-dataset.js';
import { SECRET } from '../support/event-outbox.js';
import { answering, startReceiver } from '../support/event-receivers.js';
import { eventually } from '../support/http-eventually.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';
import {
  activate,
  emptyDataset,
  newVarDir,
  releaseNumber,
  writeRelease,
} from '../support/http-var-dir.js';
import { DOOR, JobClient, table } from '../support/job-service.js';
import {
  ask,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';
import { type ServerProcess, startServer } from '../support/server-process.js';
import { startApp } from '../support/own-app.js';

async function startTwo(
  context: TestContext,
  datasets: string | null = null,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly [MerchantService, MerchantService]> {
  const varDir = await newMerchantDir(datasets);
  const servers = await Promise.all([1, 2].map(() => startMerchants(varDir, {}, environment)));
  context.after(async () => {
    for (const server of servers) await server.stop();
    removeDirs(varDir);
  });
  return [servers[0]!, servers[1]!];
}

test('an Idempotency-Key that two servers get at once is carried out once', async (context) => {
  const both = await startTwo(context);
  const create = (server: MerchantService, number: number, name = 'Acme'): Promise<Answered> =>
    server.post(
      '/merchant/create',
      { merchantName: `${name} ${number}` },
      {
        idempotencyKey: `key ${number}`,
      },
    );
  const made = new Set<unknown>();
  for (let number = 0; number < 30; number += 1) {
    const [first, second] = await Promise.all(both.map((server) => create(server, number)));
    assert.deepEqual([first!.status, second!.status], [201, 201], second!.text);
    assert.equal(first!.body['merchantId'], second!.body['merchantId']);
    const replayed = [first!, second!].map(({ headers }) => headers.get('idempotency-replayed'));
    assert.deepEqual(replayed.sort(), [null, 'true'].sort());
    made.add(first!.body['merchantId']);
  }
  const { text } = await both[1].list();
  assert.equal(text.split('"merchantId"').length - 1, made.size);
  const other = await create(both[1], 3, 'Other');
  assert.equal(other.status, 422);
});

test('what servers count of a key is counted once, and a quota holds over them', async (context) => {
  const both = await startTwo(context);
  const store = await Store.open(both[0].varDir);
  context.after(() => store.close());
  const counted = (): number => {
    store.refresh();
    const month = new Date().toISOString().slice(0, 7).replace('-', '');
    return listUsage(store, month).reduce((sum, { merchant }) => sum + merchant, 0);
  };
  const create = (server: MerchantService, key: string): Promise<Answered> =>
    server.post('/merchant/create', { merchantName: 'Acme' }, { key });
  // Its quota is one operation.
  assert.equal((await create(both[0], KEYS.metered)).status, 201);
  await eventually(() => counted() === 1);
  assert.equal((await create(both[1], KEYS.metered)).status, 405);
  for (let number = 0; number < 20; number += 1) await create(both[number % 2]!, KEYS.alpha);
  await eventually(() => counted() === 21);
});

test('servers that start together on a new store make one first key', async (context) => {
  const varDir = newVarDir(context);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  const apps = await Promise.all(
    [1, 2, 3].map(() => startApp(varDir, {}, { worker: ECHO_WORKER, open: emptyDataset })),
  );
  assert.equal(apps.filter(({ firstKey }) => firstKey !== null).length, 1);
  const store = await Store.open(varDir);
  assert.equal(listNodes(store).length, 3);
  for (const app of apps) await app.stop();
  assert.deepEqual(listNodes(store), []);
  await store.close();
});

/** Makes a merchant and stores credentials of it, which one event tells. */
async function connect({ base }: ServerProcess): Promise<void> {
  const made = await ask(base, 'POST', '/merchant/create', { merchantName: 'Acme' });
  const { merchantId } = made.body;
  const set = await ask(base, 'POST', '/merchant/credentials/set', {
    merchantId,
    apiKey: 'a-key',
    connectionId: randomUUID(),
  });
  assert.equal(set.status, 200, set.text);
}

test('events are sent by one server, and by another when that is killed', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(503);
  const varDir = await newMerchantDir(inventedCountry());
  context.after(() => removeDirs(varDir));
  const environment = {
    SITUS_WEBHOOK_URL: receiver.url,
    SITUS_WEBHOOK_SECRET: SECRET,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
  };
  const first = await startServer(context, varDir, environment);
  const second = await startServer(context, varDir, environment);
  const health = await ask(second.base, 'GET', '/system/health', null);
  assert.equal(health.body['servers'], 2);
  await connect(second);
  await eventually(() => receiver.got.length > 0);
  // Nobody else tries what is under way at the one that has the lease.
  assert.equal(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size, 1);
  await first.kill();
  receiver.answer = answering(204);
  await connect(second);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const ids = (): number => new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size;
  await eventually(() => {
    store.refresh();
    return ids() === 2 && outboxCounts(store).events.waiting <= 1;
  });
  assert.equal(await second.stop(), 0);
});

test('events go to the endpoint of the server that was started last', async (context) => {
  const [before, after] = [await startReceiver(context), await startReceiver(context)];
  const varDir = await newMerchantDir(inventedCountry());
  context.after(() => removeDirs(varDir));
  const environment = ({ url }: { readonly url: string }): Record<string, string> => ({
    SITUS_WEBHOOK_URL: url,
    SITUS_WEBHOOK_SECRET: SECRET,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
  });
  const old = await startServer(context, varDir, environment(before));
  let answer: () => void = () => undefined;
  before.answer = (response) => {
    answer = () => response.writeHead(410).end();
  };
  await connect(old);
  await eventually(() => before.got.length === 1);
  const next = await startServer(context, varDir, environment(after));
  // What the one before says of itself says nothing of the one after.
  answer();
  await connect(old);
  await connect(next);
  const ids = (): number => new Set(after.got.map(({ headers }) => headers['webhook-id'])).size;
  await eventually(() => ids() >= 2);
  assert.equal(before.got.length, 1);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  assert.equal(endpointOf(store)?.disabledAt, null);
  // The one that was refused waits for its second attempt.
  await eventually(() => ids() === 3, 30_000);
  assert.equal(await old.stop(), 0);
  assert.equal(await next.stop(), 0);
});

test('any server tells of a job and cancels it; one that is killed leaves it to another', async (context) => {
  const built = buildRecipe('fixture');
  const { app, port } = await startBulkApp(built.varDir);
  context.after(async () => {
    await app.stop();
    built.remove();
  });
  const other = await startServer(context, built.varDir);
  const [here, there] = [new JobClient(port), new JobClient(Number(new URL(other.base).port))];
  const small = await there.create(table(50));
  await here.until(small.id, 'done');
  assert.deepEqual((await here.result(small.id)).body, (await there.result(small.id)).body);
  assert.match((await here.result(small.id)).body.toString(), /0\.0/);
  const cancelled = await there.create(table(40_000));
  const answer = await here.ask(`/bulk/jobs/${cancelled.id}`, { method: 'DELETE' });
  assert.equal(answer.status, 200, answer.body.toString());
  assert.equal((JSON.parse(answer.body.toString()) as { state: string }).state, 'cancelled');
  const killed = await there.create(table(10_000));
  await eventually(async () => (await here.job(killed.id)).rows.done > 0);
  await other.kill();
  const done = await here.until(killed.id, 'done', 'failed');
  assert.equal(done.state, 'done', String(done.reason));
  assert.equal(done.rows.done, 10_000);
  const whole = (await here.result(killed.id)).body;
  const again = await here.create(table(10_000));
  await here.until(again.id, 'done');
  assert.ok(whole.equals((await here.result(again.id)).body), `an answer to ${DOOR} differs`);
  assert.ok(existsSync(`${built.varDir}/jobs/${small.id}/output`));
});

test('a server that starts removes nothing that another is being sent', async (context) => {
  const varDir = newVarDir(context);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  const start = (): Promise<App> =>
    startApp(varDir, {}, { worker: ECHO_WORKER, open: emptyDataset });
  const first = await start();
  await first.listen();
  const store = await Store.open(varDir);
  await createKey(store, { plan: 'pro', text: 'a-key-of-the-test' });
  const [node] = listNodes(store);
  await store.close();
  const { space } = first.jobs.options;
  space.make('job_of_first', 'default', node!.id);
  space.make('job_of_none', 'default', 'gone');
  const second = await start();
  await second.listen();
  assert.ok(existsSync(`${varDir}/jobs/job_of_first`));
  assert.ok(!existsSync(`${varDir}/jobs/job_of_none`));
  await Promise.all([first.stop(), second.stop()]);
});
