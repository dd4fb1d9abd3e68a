/** The outbox as time passes: retries, giving up, replay, slowing down, stopping. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SLOW_MS, SLOW_MS_MAX, UNDER_WAY_MAX } from '../../src/event/deliverer.js';
import { Delivery } from '../../src/event/delivery.js';
import { RETRY_AFTER_MS_MAX, RETRY_MS } from '../../src/event/attempt.js';
import { SILENT } from '../../src/log.js';
import { enableEndpoint, endpointOf, setEndpoint } from '../../src/store/endpoint.js';
import { openEventData } from '../../src/store/event-seal.js';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { bury, listOutbox, replay, replayDead } from '../../src/store/outbox.js';
import type { EventRecord } from '../../src/store/outbox-record.js';
import { openOutbox, toEndpoint, type Outbox } from '../support/event-outbox.js';
import { answering, startReceiver } from '../support/event-receivers.js';
import { eventually } from '../support/http-eventually.js';

const DAY_MS = 86_400_000;

function waiting({ store }: Outbox): readonly EventRecord[] {
  return listOutbox(store, 'waiting', 'event');
}

function dead({ store }: Outbox): readonly EventRecord[] {
  return listOutbox(store, 'dead', 'event');
}

test('ten attempts at their times, then the dead-letter list', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(500);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  outbox.random = 0.5;
  await outbox.addEvent();
  const [{ id }] = waiting(outbox) as readonly [EventRecord];
  for (const [index, wait] of RETRY_MS.entries()) {
    const due = Math.round(wait * 1.05);
    assert.equal(waiting(outbox)[0]?.dueAt, outbox.now + due);
    if (due > 0) await outbox.pass(due - 1);
    assert.equal(receiver.got.length, index, 'not before its time');
    await outbox.pass(due > 0 ? 1 : 0);
    assert.equal(receiver.got.length, index + 1);
  }
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 1 });
  const [letter] = dead(outbox);
  assert.equal(letter?.id, id);
  assert.equal(letter.attempts, RETRY_MS.length);
  assert.equal(letter.status, 500);
  assert.equal(letter.error, 'answered 500');
  await outbox.pass(10 * DAY_MS);
  assert.equal(receiver.got.length, RETRY_MS.length, 'the dead are left alone');
  assert.match(outbox.lines.at(-1) ?? '', /"level":"warn","event":"given up"/);
});

test('a replay begins anew with the same id', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(500);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  for (const connection of ['c-1', 'c-2', 'c-3']) await outbox.addEvent(connection);
  for (const wait of RETRY_MS) await outbox.pass(wait);
  assert.equal(dead(outbox).length, 3);
  const { id } = dead(outbox)[0]!;
  assert.equal(await replay(outbox.store, 'evt_unknown', outbox.now), false);
  assert.equal(await replay(outbox.store, id, outbox.now), true);
  assert.equal(waiting(outbox)[0]?.attempts, 0);
  await outbox.pass(0);
  assert.equal(receiver.got.at(-1)?.headers['webhook-id'], id);
  assert.equal(waiting(outbox)[0]?.attempts, 1, 'it waits for its second attempt');
  receiver.answer = answering(204);
  assert.equal(await replay(outbox.store, id, outbox.now), true, 'nor need it wait for that');
  assert.equal(await replayDead(outbox.store, outbox.now), 2);
  await outbox.pass(0);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
  assert.equal(await replayDead(outbox.store, outbox.now), 0);
});

test('410 disables the endpoint over restarts until it is enabled', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(410);
  const settings = toEndpoint(receiver.url);
  const outbox = await openOutbox(context, settings);
  await outbox.addEvent();
  await outbox.pass(0);
  assert.equal(receiver.got.length, 1);
  assert.equal(endpointOf(outbox.store)?.disabledAt, outbox.now);
  assert.equal(waiting(outbox)[0]?.status, 410);
  await outbox.addEvent();
  await outbox.pass(DAY_MS);
  assert.equal(receiver.got.length, 1, 'nothing is sent, and all is kept');
  assert.equal(waiting(outbox).length, 2);
  await setEndpoint(outbox.store, receiver.url);
  await outbox.pass(0);
  assert.equal(receiver.got.length, 1, 'the same endpoint stays disabled');
  receiver.answer = answering(200);
  assert.equal(await enableEndpoint(outbox.store), true);
  assert.equal(await enableEndpoint(outbox.store), false);
  await outbox.pass(0);
  assert.equal(receiver.got.length, 3);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('another URL is in use at once', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(410);
  const first = await openOutbox(context, toEndpoint(receiver.url));
  await first.addEvent();
  await first.pass(0);
  assert.notEqual(endpointOf(first.store)?.disabledAt, null);
  await setEndpoint(first.store, `${receiver.url}&new`);
  assert.equal(endpointOf(first.store)?.disabledAt, null);
});

test('without an endpoint there are no events, and those from before wait', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent();
  await setEndpoint(outbox.store, null);
  await outbox.addEvent();
  assert.equal(waiting(outbox).length, 1);
  await outbox.pass(0);
  assert.equal(receiver.got.length, 0);
});

test('an overloaded receiver is left alone, then asked one at a time', async (context) => {
  for (const status of [429, 502, 504]) {
    const receiver = await startReceiver(context);
    receiver.answer = answering(status);
    const outbox = await openOutbox(context, toEndpoint(receiver.url));
    await outbox.addEvent();
    await outbox.pass(0);
    for (let index = 0; index < 3; index += 1) await outbox.addEvent();
    await outbox.pass(SLOW_MS - 1);
    assert.equal(receiver.got.length, 1, `${status} is waited out`);
    const held: ServerResponse[] = [];
    receiver.answer = (response, { method }) => {
      if (method === 'POST') held.push(response);
      else response.end();
    };
    const passed = outbox.pass(1);
    await eventually(() => held.length === 1);
    outbox.delivery.look();
    // Whatever was begun would arrive before this.
    await fetch(receiver.url);
    assert.equal(held.length, 1, 'one at a time');
    receiver.answer = answering(204);
    held[0]!.writeHead(204).end();
    await passed;
    assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
  }
});

test('Retry-After puts off the next attempt', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(503, { 'retry-after': '120' });
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent();
  await outbox.pass(0);
  await outbox.pass(119_999);
  assert.equal(receiver.got.length, 1);
  await outbox.pass(1);
  assert.equal(receiver.got.length, 2);
});

test('an overloaded receiver that asks for a day gets it for the event, an hour for all', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(429, { 'retry-after': '1000000' });
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent('first');
  await outbox.pass(0);
  const from = outbox.now;
  await outbox.addEvent('second');
  await outbox.pass(SLOW_MS_MAX - 1);
  assert.equal(receiver.got.length, 1);
  receiver.answer = answering(204);
  await outbox.pass(1);
  assert.equal(receiver.got.length, 2);
  assert.match(receiver.got[1]!.body, /second/);
  assert.deepEqual(
    waiting(outbox).map(({ dueAt }) => dueAt),
    [from + RETRY_AFTER_MS_MAX],
  );
});

test('so many attempts are under way at once, and no event is sent twice', async (context) => {
  const receiver = await startReceiver(context);
  const held: ServerResponse[] = [];
  receiver.answer = (response) => held.push(response);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  const events = 3 * UNDER_WAY_MAX;
  for (let index = 0; index < events; index += 1) await outbox.addEvent(`c-${index}`);
  const passed = outbox.pass(0);
  await eventually(() => held.length === UNDER_WAY_MAX);
  outbox.delivery.look();
  assert.equal(receiver.got.length, UNDER_WAY_MAX);
  let most = 0;
  receiver.answer = (response) => {
    held.push(response);
    most = Math.max(most, held.length);
    setImmediate(() => held.pop()?.writeHead(204).end());
  };
  for (const response of held.splice(0)) response.writeHead(204).end();
  await passed;
  assert.ok(most <= UNDER_WAY_MAX, `${most} at once`);
  assert.equal(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size, events);
  assert.equal(receiver.got.length, events);
});

test('a stop lets attempts end, and forgets those it has to cut short', async (context) => {
  const receiver = await startReceiver(context);
  const held: ServerResponse[] = [];
  receiver.answer = (response) => held.push(response);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent('ends');
  await outbox.addEvent('hangs');
  outbox.delivery.look();
  await eventually(() => held.length === 2);
  await outbox.addEvent('comes too late');
  const ends = receiver.got.findIndex(({ body }) => body.includes('ends'));
  held[ends]!.writeHead(204).end();
  await outbox.delivery.close(500);
  const left = waiting(outbox);
  assert.deepEqual(
    left.map(({ attempts }) => attempts),
    [0, 0],
  );
  assert.ok(left.every((record) => !openEventData(outbox.vault, record).includes('ends')));
  assert.equal(receiver.got.length, 2);

  receiver.answer = answering(204);
  const settings = toEndpoint(receiver.url);
  const next = await Delivery.open({
    store: outbox.store,
    vault: outbox.vault,
    log: SILENT,
    settings,
  });
  next.start();
  await eventually(() => receiver.got.length === 4);
  await next.close(1_000);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('a damaged record is told once, and ends nothing', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.store.write(({ put }) =>
    put(['outbox', 'waiting', 'event', '000000000000001', 'evt_bad'], { v: 2 }),
  );
  await outbox.pass(0);
  await outbox.pass(0);
  const told = outbox.lines.filter((line) => line.includes('outbox unreadable'));
  assert.equal(told.length, 1);
  await outbox.store.write(({ remove }) =>
    remove(['outbox', 'waiting', 'event', '000000000000001', 'evt_bad']),
  );
  await outbox.addEvent();
  await outbox.pass(0);
  assert.equal(receiver.got.length, 1);
});

test('a clock that was a year ahead puts nothing off for a year', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(503);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  const right = outbox.now;
  outbox.now += 365 * DAY_MS;
  await outbox.addEvent();
  await outbox.pass(0);
  assert.equal(receiver.got.length, 1);
  receiver.answer = answering(500);
  // The clock is set right; an event of now waits for its own time.
  outbox.now = right;
  await outbox.addEvent('c-2');
  await outbox.pass(0);
  assert.equal(receiver.got.length, 3);
  receiver.answer = answering(200);
  await outbox.pass(600_000);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('what died last is not what makes room, whatever the clock says', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  const { store } = outbox;
  for (let count = 0; count < 2; count += 1) await outbox.addEvent(`c-${count}`);
  const [first, second] = waiting(outbox) as readonly [EventRecord, EventRecord];
  const attempt = { status: 500, error: 'x' };
  await store.write((transaction) => bury(transaction, first, attempt, outbox.now));
  await store.write((transaction) => bury(transaction, second, attempt, outbox.now - 365 * DAY_MS));
  assert.deepEqual(
    dead(outbox).map(({ id }) => id),
    [first.id, second.id],
  );
});
