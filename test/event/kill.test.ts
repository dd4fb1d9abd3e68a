/** Processes that are killed without warning between the commit of an event and its delivery. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { listOutbox } from '../../src/store/outbox.js';
import { openOutbox, toEndpoint } from '../support/event-outbox.js';
import { answering, startReceiver } from '../support/event-receivers.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';

const SENDER = fileURLToPath(new URL('../support/event-sender.js', import.meta.url));

test('an event committed before a kill is delivered after the restart', async (context) => {
  const receiver = await startReceiver(context);
  const varDir = newVarDir(context);
  const child = spawn(process.execPath, [SENDER, varDir, receiver.url, 'commit'], {
    stdio: ['ignore', 'pipe', 2],
  });
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(receiver.got.length, 0);
  const outbox = await openOutbox(context, toEndpoint(receiver.url), varDir);
  await outbox.pass(0);
  assert.deepEqual(
    receiver.got.map(({ headers }) => headers['webhook-id']),
    [said.toString().trim()],
  );
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('an attempt cut by a kill is made again with the same id and bytes', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = () => undefined;
  const varDir = newVarDir(context);
  const child = spawn(process.execPath, [SENDER, varDir, receiver.url, 'send'], {
    stdio: ['ignore', 'ignore', 2],
  });
  await eventually(() => receiver.got.length === 1);
  child.kill('SIGKILL');
  await once(child, 'close');
  receiver.answer = answering(200);
  const outbox = await openOutbox(context, toEndpoint(receiver.url), varDir);
  assert.equal(listOutbox(outbox.store, 'waiting', 'event')[0]?.attempts, 0);
  await outbox.pass(0);
  const [first, second] = receiver.got;
  assert.equal(receiver.got.length, 2);
  assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.equal(second?.body, first?.body);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});
