/** The whole service with a worker and a dataset that hold nothing. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Environment } from '../../src/config.js';
import { type EchoService, startEcho } from '../support/echo-service.js';
import { ask, RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { activate, releaseNumber, writeRelease } from '../support/http-var-dir.js';

const KEY = 'bootstrap-key-of-the-test';
const HEADER = { 'X-API-KEY': KEY };
const DISABLE = fileURLToPath(new URL('../support/http-disable-key.js', import.meta.url));

function startApp(context: TestContext, environment: Environment = {}): Promise<EchoService> {
  return startEcho(context, { SITUS_BOOTSTRAP_KEY: KEY, ...environment });
}

test('the first key answers, health is public', async (context) => {
  const { app, port } = await startApp(context, { SITUS_BOOTSTRAP_RATE: '123' });
  assert.equal(app.firstKey, null, 'a given key is not shown');
  const lookup = await ask(port, '/request/v60?echo', HEADER);
  assert.equal(lookup.body, 'echo');
  assert.equal(lookup.headers.get('x-ratelimit-limit'), '123');
  assert.equal((await ask(port, '/request/v60?echo')).status, 401);
  const health = await ask(port, '/system/health/');
  assert.deepEqual(JSON.parse(health.body), {
    status: 'ok',
    components: { dynamo: 'ok', taxdata: 'ok', taxdata_count: 7, store: 'ok' },
    dataset: releaseNumber(1),
    stale: ['WA state a-list'],
  });
});

test('without a given key a random one is made and shown', async (context) => {
  const { app, port } = await startApp(context, { SITUS_BOOTSTRAP_KEY: '' });
  assert.ok(app.firstKey);
  assert.equal((await ask(port, `/request/v60?echo&key=${app.firstKey}`)).status, 200);
});

test('a key disabled by another process is refused soon', async (context) => {
  const { port, varDir } = await startApp(context);
  assert.equal((await ask(port, '/request/v60?echo', HEADER)).status, 200);
  await promisify(execFile)(process.execPath, [DISABLE, varDir, KEY]);
  const refused = async (): Promise<boolean> =>
    (await ask(port, '/request/v60?echo', HEADER)).status === 401;
  await eventually(refused);
});

test('datasets change under load without one error or mixed answer', async (context) => {
  const { app, port, varDir } = await startApp(context, { SITUS_BOOTSTRAP_RATE: '100000000' });
  const releases = 30;
  let loading = true;
  const seen = new Set<string>();
  const load = async (): Promise<number> => {
    const client = await RawClient.open(port);
    let answers = 0;
    while (loading) {
      client.get('/request/v60?dataset', HEADER);
      const answer = await client.answer();
      assert.equal(answer?.status, 200);
      assert.equal(answer.headers.get('x-situs-dataset'), answer.body);
      seen.add(answer.body);
      answers += 1;
    }
    client.close();
    return answers;
  };
  const clients = Array.from({ length: 8 }, load);
  await eventually(() => seen.size === 1);
  for (let number = 2; number <= releases; number += 1) {
    const name = releaseNumber(number);
    writeRelease(varDir, name);
    activate(varDir, name);
    await eventually(() => app.live.release?.id === name);
    await eventually(() => seen.has(name));
  }
  loading = false;
  const answers = await Promise.all(clients);
  assert.ok(answers.every((count) => count > 0));
  assert.equal(seen.size, releases);
  assert.equal(app.live.openCount, 2);
});

test('stopping finishes what is under way and refuses new connections', async (context) => {
  const { app, port } = await startApp(context);
  const client = await RawClient.open(port);
  client.get('/request/v60?sleep', HEADER);
  await eventually(() => app.router.traffic.open === 1);
  const stopped = app.stop();
  const answer = await client.answer();
  assert.equal(answer?.status, 200);
  await client.closed();
  await stopped;
  await assert.rejects(ask(port, '/system/health'));
});

test('a taken port is said in a sentence', async (context) => {
  const taken = createServer().listen(0, '127.0.0.1');
  context.after(() => taken.close());
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(address !== null && typeof address === 'object');
  await assert.rejects(startApp(context, { PORT: String(address.port) }), /port is taken/);
  const { port } = await startApp(context);
  await assert.rejects(startApp(context, { PORT: String(port) }), /port is taken/);
});
