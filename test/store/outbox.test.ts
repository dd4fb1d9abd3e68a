/** The outbox in the store: order, counts, limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outboxCountKey, outboxKey } from '../../src/store/format.js';
import {
  addInvitation,
  bury,
  DEAD_ACCOUNT_MAX,
  DEAD_MAX,
  EVENT_DATA_BYTES_MAX,
  listOutbox,
  postpone,
  replayDead,
  settle,
  WAITING_ACCOUNT_MAX,
  WAITING_MAX,
} from '../../src/store/outbox.js';
import { countOutbox, countOutboxAccounts, outboxCounts } from '../../src/store/outbox-count.js';
import type { Store, StoreTransaction } from '../../src/store/store.js';
import { event, openStore } from './outbox-store.js';

const NONE = { waiting: 0, dead: 0 };

function mail(transaction: StoreTransaction, now: number): void {
  addInvitation(transaction, {
    account: 'shop',
    merchantId: 'm-1',
    merchantName: 'Acme',
    email: 'jane@acme.example',
    now,
  });
}

test('events are kept with the transaction that tells of them, or not at all', async (context) => {
  const store = await openStore(context);
  await assert.rejects(
    store.write((transaction) => {
      event(transaction, 1);
      throw new Error('the change failed');
    }),
    /the change failed/,
  );
  assert.deepEqual(outboxCounts(store), { events: NONE, mails: NONE });
  await store.write((transaction) => {
    event(transaction, 1);
    mail(transaction, 1);
  });
  assert.deepEqual(outboxCounts(store), {
    events: { waiting: 1, dead: 0 },
    mails: { waiting: 1, dead: 0 },
  });
});

test('the list is in the order of due times', async (context) => {
  const store = await openStore(context);
  // As text, 9 comes after 10; times before and after a digit more are told apart.
  const times = [10, 9, 1_000, 999, 99_999_999_999_999];
  await store.write((transaction) => {
    for (const now of times) event(transaction, now, { now });
  });
  const due = (): readonly number[] =>
    listOutbox(store, 'waiting', 'event').map(({ dueAt }) => dueAt);
  assert.deepEqual(
    due(),
    [...times].sort((left, right) => left - right),
  );
  assert.deepEqual(
    listOutbox(store, 'waiting', 'event', 2).map(({ dueAt }) => dueAt),
    [9, 10],
  );
  const [first] = listOutbox(store, 'waiting', 'event', 1);
  await store.write((transaction) =>
    postpone(transaction, first!, { status: null, error: 'x' }, 1_500),
  );
  assert.deepEqual(due(), [10, 999, 1_000, 1_500, 99_999_999_999_999]);
});

test('a second outcome of one attempt changes nothing', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => event(transaction, 1));
  const record = listOutbox(store, 'waiting', 'event')[0]!;
  const attempt = { status: 500, error: 'answered 500' };
  await store.write((transaction) => {
    assert.equal(settle(transaction, record), true);
    assert.equal(settle(transaction, record), false);
    postpone(transaction, record, attempt, 9);
    bury(transaction, record, attempt, 9);
  });
  assert.deepEqual(outboxCounts(store).events, NONE);
  assert.equal(listOutbox(store, 'dead', 'event').length, 0);
});

test('above the limit an event is given up at once and can be replayed', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    event(transaction, 1);
    transaction.put(outboxCountKey('event'), { v: 1, waiting: WAITING_MAX - 1, dead: 0 });
    event(transaction, 2);
    event(transaction, 3);
  });
  assert.deepEqual(outboxCounts(store).events, { waiting: WAITING_MAX, dead: 1 });
  assert.equal(listOutbox(store, 'dead', 'event')[0]?.error, 'the outbox was full');
  assert.equal(await replayDead(store, 4), 1);
  assert.equal(listOutbox(store, 'waiting', 'event').at(-1)?.createdAt, 3);
});

/** Events of one write: a database that many share has seconds for a write. */
const A_WRITE = 2_500;

async function buryNew(store: Store, from: number, end: number): Promise<void> {
  await store.write((transaction) => {
    for (let now = from; now < end; now += 1) event(transaction, now, {}, `shop${now % 11}`);
  });
  const records = listOutbox(store, 'waiting', 'event');
  await store.write((transaction) => {
    for (const record of records) {
      bury(transaction, record, { status: 500, error: 'x' }, record.createdAt);
    }
  });
}

/** Dead events as `bury` leaves them, put beside the first one: ten thousand by it take seconds. */
async function fillDead(store: Store, first: number, past: number): Promise<void> {
  const [like] = listOutbox(store, 'dead', 'event', 1);
  if (like === undefined) throw new Error('there is none to be like');
  for (let from = first; from < past; from += A_WRITE) {
    await store.write((transaction) => {
      for (let now = from; now < Math.min(from + A_WRITE, past); now += 1) {
        const record = {
          ...like,
          id: `${like.id}${now}`,
          account: `shop${now % 11}`,
          createdAt: now,
          dueAt: now,
        };
        countOutbox(transaction, record, 'dead', 1);
        transaction.put(outboxKey('dead', 'event', now, record.id), record);
      }
    });
  }
}

test('the oldest dead make room', async (context) => {
  const store = await openStore(context);
  await buryNew(store, 0, 10);
  await fillDead(store, 10, DEAD_MAX - 10);
  await buryNew(store, DEAD_MAX - 10, DEAD_MAX + 2);
  assert.deepEqual(outboxCounts(store).events, { waiting: 0, dead: DEAD_MAX });
  const dead = listOutbox(store, 'dead', 'event');
  assert.equal(dead.length, DEAD_MAX);
  assert.equal(dead[0]?.createdAt, 2);
});

test('an account has a share of what waits, and another has its own', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    event(transaction, 1);
    for (const account of [undefined, 'shop']) {
      const waiting = WAITING_ACCOUNT_MAX;
      transaction.put(outboxCountKey('event', account), { v: 1, waiting, dead: 0 });
    }
    event(transaction, 2);
    event(transaction, 3, {}, 'other');
    mail(transaction, 4);
  });
  assert.deepEqual(
    listOutbox(store, 'dead', 'event').map(({ account, error }) => [account, error]),
    [['shop', 'the account had its share of the outbox']],
  );
  assert.deepEqual(outboxCounts(store).events, { waiting: WAITING_ACCOUNT_MAX + 1, dead: 1 });
  assert.equal(outboxCounts(store).mails.waiting, 1, 'each kind by itself');
});

test('the dead of an account make room among themselves', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    event(transaction, 0, {}, 'other');
    for (let now = 1; now <= DEAD_ACCOUNT_MAX + 5; now += 1) event(transaction, now);
  });
  const records = listOutbox(store, 'waiting', 'event');
  await store.write((transaction) => {
    for (const record of records) {
      bury(transaction, record, { status: 500, error: 'x' }, record.createdAt);
    }
  });
  const dead = listOutbox(store, 'dead', 'event');
  assert.deepEqual(outboxCounts(store).events, { waiting: 0, dead: DEAD_ACCOUNT_MAX + 1 });
  assert.deepEqual(
    dead.slice(0, 2).map(({ account, createdAt }) => [account, createdAt]),
    [
      ['other', 0],
      ['shop', 6],
    ],
  );
  assert.equal(await replayDead(store, 9), DEAD_ACCOUNT_MAX + 1);
  assert.deepEqual(store.list(['outbox-dead']), []);
  assert.deepEqual(store.get(outboxCountKey('event', 'shop')), {
    v: 1,
    waiting: DEAD_ACCOUNT_MAX,
    dead: 0,
  });
});

test('accounts of a store of an earlier version are counted once', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    for (let now = 1; now <= 3; now += 1) event(transaction, now);
    event(transaction, 4, {}, 'other');
  });
  const [record] = listOutbox(store, 'waiting', 'event');
  const failure = { status: 500, error: 'x' };
  await store.write((transaction) => bury(transaction, record!, failure, 5));
  await store.write((transaction) => {
    for (const account of ['shop', 'other']) transaction.remove(outboxCountKey('event', account));
    for (const key of store.keys(['outbox-dead'])) transaction.remove(key);
  });
  const counts = (): readonly unknown[] =>
    ['shop', 'other'].map((account) => store.get(outboxCountKey('event', account)));
  for (let round = 0; round < 2; round += 1) {
    await countOutboxAccounts(store);
    assert.deepEqual(counts(), [
      { v: 1, waiting: 2, dead: 1 },
      { v: 1, waiting: 1, dead: 0 },
    ]);
    assert.equal(store.list(['outbox-dead', 'event', 'shop']).length, 1);
  }
});

test('an event is smaller than 20 kB', async (context) => {
  const store = await openStore(context);
  const brackets = JSON.stringify({ text: '' }).length;
  const text = 'x'.repeat(EVENT_DATA_BYTES_MAX - brackets);
  await store.write((transaction) => event(transaction, 1, { text }));
  await assert.rejects(
    store.write((transaction) => event(transaction, 1, { text: `${text}x` })),
    /at most 19000 bytes/,
  );
  assert.equal(outboxCounts(store).events.waiting, 1);
});

test('ids are one word each, without dots', async (context) => {
  const store = await openStore(context);
  await store.write((transaction) => {
    for (let time = 0; time < 100; time += 1) event(transaction, time);
  });
  const ids = listOutbox(store, 'waiting', 'event').map(({ id }) => id);
  assert.equal(new Set(ids).size, 100);
  for (const id of ids) assert.match(id, /^evt_[A-Za-z0-9_-]{24}$/);
});
