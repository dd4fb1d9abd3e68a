/** The data of events in the outbox, which are sealed; records of other versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEventData } from '../../src/store/event-seal.js';
import { outboxKey } from '../../src/store/format.js';
import { addEvent, bury, listOutbox, postpone, sealOldEvents } from '../../src/store/outbox.js';
import { kekOf } from '../../src/store/kek-file.js';
import { parseOutboxRecord, type EventRecord } from '../../src/store/outbox-record.js';
import { rewrapAll, sealedCounts } from '../../src/store/rotation.js';
import type { StoreTransaction } from '../../src/store/store.js';
import { Vault } from '../../src/store/vault.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { event, openStore } from './outbox-store.js';

/** An event as version 1 of the record kept it. */
const PLAIN = {
  v: 1,
  kind: 'event',
  id: 'evt_old',
  account: 'shop',
  type: 'a.b',
  data: '{"connectionId":"c-9"}',
  createdAt: 1,
  dueAt: 1,
  attempts: 0,
  status: null,
  error: null,
};

test('the data of an event are sealed for it alone', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => event(transaction, 1, { connectionId: 'c-9' }));
  const [record] = listOutbox(store, 'waiting', 'event');
  assert.ok(record !== undefined && typeof record.data !== 'string');
  assert.equal(openEventData(EVENT_VAULT, record), '{"connectionId":"c-9"}');
  assert.throws(() => openEventData(EVENT_VAULT, { ...record, id: 'evt_other' }), /belongs to/);
  assert.throws(() => openEventData(EVENT_VAULT, { ...record, account: 'b' }), /belongs to/);
});

test('events that were kept as text are sealed and stay the same', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    transaction.put(outboxKey('waiting', 'event', 1, 'evt_old'), PLAIN);
    transaction.put(outboxKey('dead', 'event', 1, 'evt_old'), PLAIN);
    event(transaction, 2);
  });
  const [plain] = listOutbox(store, 'waiting', 'event');
  assert.equal(plain?.data, PLAIN.data);
  assert.equal(await sealOldEvents(store, EVENT_VAULT), 2);
  assert.equal(await sealOldEvents(store, EVENT_VAULT), 0);
  const [sealed] = listOutbox(store, 'waiting', 'event');
  assert.ok(sealed !== undefined && typeof sealed.data !== 'string');
  assert.equal(openEventData(EVENT_VAULT, sealed), PLAIN.data);
  assert.deepEqual({ ...sealed, v: 1, data: PLAIN.data }, PLAIN);
});

test('an attempt that ends after a rotation leaves the data wrapped anew', async (context) => {
  const store = await openStore(context);
  const [first, second] = [kekOf(Buffer.alloc(32, 1)), kekOf(Buffer.alloc(32, 2))];
  const vault = new Vault(
    { current: () => first, find: () => first, all: () => [first] },
    Buffer.alloc(32),
  );
  const outcomes = [
    (transaction: StoreTransaction, record: EventRecord) =>
      postpone(transaction, record, { status: 500, error: 'answered 500' }, 9),
    (transaction: StoreTransaction, record: EventRecord) =>
      bury(transaction, record, { status: 500, error: 'answered 500' }, 9),
  ];
  for (const outcome of outcomes) {
    await store.write((transaction) =>
      addEvent(transaction, vault, {
        account: 'shop',
        type: 'a.b',
        data: { a: 1 },
        now: 1,
      }),
    );
    const [read] = listOutbox(store, 'waiting', 'event');
    await rewrapAll(
      store,
      {
        current: () => second,
        find: () => first,
        all: () => [second, first],
      },
      () => undefined,
    );
    await store.write((transaction) => outcome(transaction, read!));
    assert.deepEqual([...(await sealedCounts(store)).keys()], [second.id]);
  }
});

test('records of another shape are refused', () => {
  for (const value of [
    undefined,
    null,
    1,
    {},
    { v: 2 },
    { v: 1, kind: 'event' },
    { ...PLAIN, v: 2 },
    { ...PLAIN, v: 3 },
    { ...PLAIN, kind: 'mail', v: 2 },
    {
      v: 1,
      kind: 'fax',
      id: 'a',
      account: 'b',
      createdAt: 1,
      dueAt: 1,
      attempts: 0,
      status: null,
      error: null,
    },
  ]) {
    assert.throws(() => parseOutboxRecord(value), /outbox record/);
  }
});
