/** `situs events` beside a running delivery. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runCommand } from '../../src/cli/program.js';
import { UsageError } from '../../src/cli/command-line.js';
import { RETRY_MS } from '../../src/event/attempt.js';
import { endpointOf } from '../../src/store/endpoint.js';
import { CommandProcess } from '../support/command-process.js';
import { openOutbox, toEndpoint, type Outbox } from '../support/event-outbox.js';
import { answering, startReceiver } from '../support/event-receivers.js';
import { eventually } from '../support/http-eventually.js';
import type { Ran } from '../support/run-command.js';

const commands = new CommandProcess();
after(() => commands.end());

/** Runs in another process, while this one serves. */
function run({ varDir }: Pick<Outbox, 'varDir'>, args: readonly string[]): Promise<Ran> {
  return commands.run(['events', ...args], { SITUS_VAR: varDir });
}

test('list shows what waits and what is dead, replay sends it again', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(500);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent('c-1');
  await outbox.addEvent('c-2');
  for (const wait of RETRY_MS) await outbox.pass(wait);
  await outbox.addEvent('c-3');
  await outbox.addInvitation();
  const all = JSON.parse((await run(outbox, ['list', '--json'])).out) as {
    id: string;
    list: string;
    kind: string;
    error: string | null;
    attempts: number;
  }[];
  assert.deepEqual(
    all.map(({ list, kind }) => `${list} ${kind}`),
    ['waiting event', 'waiting mail', 'dead event', 'dead event'],
  );
  assert.deepEqual([all[2]?.error, all[2]?.attempts], ['answered 500', RETRY_MS.length]);
  assert.ok(!JSON.stringify(all).includes('c-1'), 'no connection is shown');
  assert.equal((await run(outbox, ['list', '--all'])).out.trim().split('\n').length, 4);
  const dead = (await run(outbox, ['list', '--dead'])).out.trim().split('\n');
  assert.equal(dead.length, 2);
  assert.match(dead[0]!, /^evt_\S+ {2}dead {2}merchant\.credentials\.set {2}shop .* answered 500$/);
  const waiting = (await run(outbox, ['list', '--waiting'])).out;
  assert.match(waiting, /invitation m-1/);
  assert.ok(!waiting.includes('jane@'), 'no address is shown');

  receiver.answer = answering(204);
  const before = receiver.got.length;
  outbox.now = Date.now();
  outbox.delivery.start();
  const { id } = all[2]!;
  assert.deepEqual(await run(outbox, ['replay', id]), {
    code: 0,
    out: `${id} to be sent again\n`,
    err: '',
  });
  outbox.now = Date.now();
  const sent = (): readonly unknown[] =>
    receiver.got.slice(before).map(({ headers }) => headers['webhook-id']);
  await eventually(() => sent().includes(id));
  assert.equal((await run(outbox, ['replay', '--dead'])).out, '1 to be sent again\n');
  outbox.now = Date.now();
  await eventually(() => sent().includes(all[3]!.id));
  assert.equal((await run(outbox, ['list', '--dead'])).out, '');
});

test('enable puts an endpoint back that said it was gone', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(410);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  outbox.delivery.start();
  await outbox.addEvent();
  await eventually(() => endpointOf(outbox.store)?.disabledAt !== null);
  await outbox.delivery.idle();
  assert.match((await run(outbox, ['list'])).err, /said at .* that it is gone/);
  receiver.answer = answering(204);
  assert.equal((await run(outbox, ['enable'])).out, 'the endpoint is in use again\n');
  assert.equal((await run(outbox, ['enable'])).out, 'it was in use\n');
  outbox.now += 5_000;
  await eventually(() => receiver.got.length === 2);
  await outbox.delivery.idle();
  assert.equal((await run(outbox, ['list', '--json'])).out, '[]\n');
});

test('bad usage is refused before the store is opened', async () => {
  for (const args of [
    ['nonsense'],
    ['list', 'x'],
    ['replay'],
    ['enable', 'x'],
    ['list', '--nonsense'],
    ['replay', 'evt_a', '--dead'],
    ['replay', 'evt_a', 'evt_b'],
    ['enable', '--dead'],
    ['enable', '--json'],
    ['replay', 'evt_a', '--all'],
  ]) {
    await assert.rejects(runCommand(['events', ...args]), UsageError, args.join(' '));
  }
});

test('bad usage exits with 2, an unknown id with 1', async (context) => {
  const outbox = await openOutbox(context, { webhook: null, mail: null });
  assert.equal((await run(outbox, [])).code, 2);
  assert.equal((await run(outbox, ['replay'])).code, 2);
  const unknown = await run(outbox, ['replay', 'evt_a']);
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'situs: no such event or mail; situs events list shows them\n'],
  );
});
