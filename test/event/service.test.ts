/** Delivery within the running service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { after, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { App } from '../../src/app.js';
import type { Environment } from '../../src/config.js';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { Store } from '../../src/store/store.js';
import { LATER_OPTIMIZED } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { SECRET } from '../support/event-outbox.js';
import { answering, startReceiver } from '../support/event-receivers.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';
import {
  activate,
  emptyDataset,
  newVarDir,
  releaseNumber,
  writeRelease,
} from '../support/http-var-dir.js';
import { startApp } from '../support/own-app.js';

const SENDER = fileURLToPath(new URL('../support/event-sender.js', import.meta.url));

const commands = new CommandProcess();
after(() => commands.end());

function startEcho(varDir: string, environment: Environment): Promise<App> {
  return startApp(
    varDir,
    { SITUS_BOOTSTRAP_KEY: 'key-of-the-test', ...environment },
    { worker: ECHO_WORKER, open: emptyDataset },
  );
}

function release(context: TestContext): string {
  const varDir = newVarDir(context);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  return varDir;
}

function endpoint(url: string): Environment {
  return {
    SITUS_WEBHOOK_URL: url,
    SITUS_WEBHOOK_SECRET: SECRET,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
  };
}

/** Another process that leaves one event behind. */
async function leaveEvent(varDir: string, url: string): Promise<void> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, SENDER, varDir, url, 'commit'], {
    stdio: ['ignore', 'pipe', 2],
  });
  await once(child.stdout!, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
}

async function counts(varDir: string): Promise<object> {
  const store = await Store.open(varDir);
  const { events } = outboxCounts(store);
  await store.close();
  return events;
}

test('the server sends what waits, and ends attempts under way when it stops', async (context) => {
  const receiver = await startReceiver(context);
  const varDir = release(context);
  await leaveEvent(varDir, receiver.url);
  const held: ServerResponse[] = [];
  receiver.answer = (response) => held.push(response);
  const app = await startEcho(varDir, endpoint(receiver.url));
  assert.equal(receiver.got.length, 0, 'nothing is sent before it listens');
  await app.listen();
  await eventually(() => held.length === 1);
  const stopped = app.stop();
  held[0]!.writeHead(204).end();
  await stopped;
  assert.deepEqual(await counts(varDir), { waiting: 0, dead: 0 });
});

test('an endpoint that fails changes nothing about health, and can be replayed', async (context) => {
  const receiver = await startReceiver(context);
  // Long enough that only a replay can be the second attempt.
  receiver.answer = answering(500, { 'retry-after': '3600' });
  const varDir = release(context);
  const app = await startEcho(varDir, endpoint(receiver.url));
  context.after(() => app.stop());
  const port = await app.listen();
  await leaveEvent(varDir, receiver.url);
  await eventually(() => receiver.got.length === 1);
  assert.equal((await ask(port, '/system/health/')).status, 200);
  receiver.answer = answering(204);
  const id = String(receiver.got[0]!.headers['webhook-id']);
  const events = async (...words: readonly string[]): Promise<string> => {
    const { code, out, err } = await commands.run(['events', ...words], { SITUS_VAR: varDir });
    assert.equal(code, 0, err);
    return out;
  };
  await eventually(async () => (await events('list')).includes('answered 500'), 20_000);
  await events('replay', id);
  await eventually(() => receiver.got.length === 2);
});

test('the server does not start with settings that cannot be', async (context) => {
  const varDir = release(context);
  await assert.rejects(
    startEcho(varDir, { SITUS_WEBHOOK_URL: 'https://shop.example/' }),
    /SITUS_WEBHOOK_URL needs SITUS_WEBHOOK_SECRET/,
  );
});
