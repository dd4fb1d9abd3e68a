/** Kept answers: with the write or not at all, for a day, and swept after it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SWEEP_BATCH_MAX } from '../../src/store/idempotency-sweep.js';
import { AGE_PREFIX, KEPT_PREFIX } from '../../src/store/idempotency-record.js';
import {
  IdempotencyBook,
  KEPT_MS_MAX,
  KeyTaken,
  type Claim,
  type Intent,
  type KeptAnswer,
} from '../../src/store/idempotency.js';
import { StoreFault } from '../../src/store/fault.js';
import { Membership } from '../../src/store/membership.js';
import { shareBytes } from '../../src/store/share.js';
import { Store } from '../../src/store/store.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';

const INTENT: Intent = {
  account: 'alpha',
  key: 'a-key',
  path: '/merchant/create',
  body: Buffer.from('{}'),
};
const ANSWER: KeptAnswer = {
  status: 201,
  fields: { 'content-type': 'application/json' },
  body: '{"done":true}',
};

interface Opened {
  readonly store: Store;
  readonly book: IdempotencyBook;
  readonly clock: { now: number };
}

async function open(context: TestContext): Promise<Opened> {
  const store = await Store.open(newVarDir(context));
  const clock = { now: 1_800_000_000_000 };
  const book = new IdempotencyBook(store, {
    vault: EVENT_VAULT,
    now: () => clock.now,
  });
  context.after(async () => {
    await book.close();
    await store.close();
  });
  return { store, book, clock };
}

function fresh(book: IdempotencyBook, intent = INTENT): Claim {
  const claimed = book.claim(intent);
  assert.equal(claimed.kind, 'fresh');
  if (claimed.kind !== 'fresh') throw new Error('not fresh');
  return claimed.claim;
}

async function keep({ store, book }: Opened, intent = INTENT): Promise<void> {
  const claim = fresh(book, intent);
  await store.write((transaction) => claim.keep(transaction, ANSWER));
  claim.end();
}

test('a claim lasts until it is ended, kept or not', async (context) => {
  const { book } = await open(context);
  const claim = fresh(book);
  assert.equal(book.claim(INTENT).kind, 'running');
  assert.equal(book.claim({ ...INTENT, path: '/merchant/delete' }).kind, 'running');
  fresh(book, { ...INTENT, account: 'beta' });
  claim.end();
  fresh(book);
});

test('an answer is sealed for its key, and one of an earlier version is read', async (context) => {
  const opened = await open(context);
  await keep(opened);
  const [[record]] = [opened.store.list([KEPT_PREFIX])];
  assert.ok(!JSON.stringify(record).includes('done'));
  const key = opened.store.scan(null, 100).find((entry) => entry.key[0] === KEPT_PREFIX)!.key;
  const claimed = opened.book.claim(INTENT);
  assert.deepEqual(claimed, { kind: 'kept', answer: ANSWER });
  const { fingerprint, at } = record as { fingerprint: string; at: number };
  await opened.store.write(({ put }) => put(key, { v: 1, ...ANSWER, fingerprint, at }));
  assert.deepEqual(opened.book.claim(INTENT), { kind: 'kept', answer: ANSWER });
  const other = [KEPT_PREFIX, 'alpha', 'f'.repeat(64)];
  await opened.store.write(({ put }) =>
    put(key, {
      ...(record as object),
      answer: {
        ...(record as { answer: object }).answer,
        tag: new Uint8Array(16),
      },
    }),
  );
  assert.throws(() => opened.book.claim(INTENT), /changed or belongs/);
  assert.notDeepEqual(key, other);
});

test('a transaction that fails keeps no answer', async (context) => {
  const { store, book } = await open(context);
  const claim = fresh(book);
  await assert.rejects(
    store.write((transaction) => {
      claim.keep(transaction, ANSWER);
      throw new Error('the write failed');
    }),
    /the write failed/,
  );
  claim.end();
  fresh(book);
  assert.deepEqual(store.list([KEPT_PREFIX]), []);
});

test('an answer is kept for a day, bytes as bytes', async (context) => {
  const opened = await open(context);
  const claim = fresh(opened.book);
  const body = Uint8Array.of(1, 2, 255);
  await opened.store.write((transaction) => claim.keep(transaction, { ...ANSWER, body }));
  claim.end();
  opened.clock.now += KEPT_MS_MAX - 1;
  const again = opened.book.claim(INTENT);
  assert.equal(again.kind, 'kept');
  if (again.kind !== 'kept') return;
  assert.equal(again.answer.status, 201);
  assert.deepEqual(again.answer.fields, ANSWER.fields);
  assert.deepEqual(Buffer.from(again.answer.body), Buffer.from(body));
  assert.equal(opened.book.claim({ ...INTENT, body: Buffer.from('{ }') }).kind, 'other');
  opened.clock.now += 1;
  fresh(opened.book);
});

/** Results of one write: a commit for each takes most of the time. */
const KEPT_AT_ONCE = 100;

test('sweeping takes what is a day old, however much, and nothing else', async (context) => {
  const opened = await open(context);
  const claim = fresh(opened.book);
  const many = SWEEP_BATCH_MAX + 7;
  for (let first = 0; first < many; first += KEPT_AT_ONCE) {
    const claims = Array.from({ length: Math.min(KEPT_AT_ONCE, many - first) }, (_, index) =>
      fresh(opened.book, { ...INTENT, key: `old ${first + index}` }),
    );
    await opened.store.write(
      (transaction) => {
        for (const each of claims) each.keep(transaction, ANSWER);
      },
      { quiet: true },
    );
  }
  claim.end();
  opened.clock.now += 10;
  await keep(opened, { ...INTENT, key: 'younger' });
  opened.clock.now += KEPT_MS_MAX - 10;
  assert.equal(await opened.book.sweep(), many);
  assert.equal(opened.store.list([KEPT_PREFIX]).length, 1);
  assert.equal(opened.store.list([AGE_PREFIX]).length, 1);
  assert.equal(opened.book.claim({ ...INTENT, key: 'younger' }).kind, 'kept');
  assert.equal(await opened.book.sweep(), 0);
});

test('a key that was used again outlives the sweep of its first use', async (context) => {
  const opened = await open(context);
  await keep(opened);
  opened.clock.now += KEPT_MS_MAX;
  await keep(opened);
  assert.equal(await opened.book.sweep(), 1);
  assert.equal(opened.book.claim(INTENT).kind, 'kept');
});

test(
  'two servers begin a request once; what the other has under way is told apart from what ' +
    'nobody waits for any more',
  async (context) => {
    const store = await Store.open(newVarDir(context));
    const servers = [await Membership.join(store), await Membership.join(store)] as const;
    const [first, second] = servers.map(
      ({ id }) => new IdempotencyBook(store, { vault: EVENT_VAULT, node: id }),
    ) as [IdempotencyBook, IdempotencyBook];
    context.after(async () => {
      for (const each of [first, second, servers[1]])
        await ('close' in each ? each.close() : each.leave());
      await store.close();
    });
    // Both asked before either had begun.
    const [mine, yours] = [fresh(first), fresh(second)];
    await mine.begin();
    await assert.rejects(
      yours.begin(),
      (error) => error instanceof KeyTaken && error.claimed.kind === 'running',
    );
    yours.end();
    assert.equal(second.claim(INTENT).kind, 'running');
    await mine.settle(ANSWER);
    mine.end();
    assert.deepEqual(second.claim(INTENT), { kind: 'kept', answer: ANSWER });
    // One that nobody knows the end of, and one whose server has gone.
    const [lost, killed] = [
      { ...INTENT, key: 'lost' },
      { ...INTENT, key: 'killed' },
    ];
    const unknown = fresh(first, lost);
    await unknown.begin();
    unknown.end();
    await eventually(() => second.claim(lost).kind === 'unknown');
    await fresh(first, killed).begin();
    assert.equal(second.claim(killed).kind, 'running');
    await servers[0].leave();
    assert.equal(second.claim(killed).kind, 'unknown');
  },
);

test('what two servers find expired at once is taken from its account once', async (context) => {
  const opened = await open(context);
  const { store, book, clock } = opened;
  const other = new IdempotencyBook(store, { vault: EVENT_VAULT, now: () => clock.now });
  await keep(opened);
  clock.now += KEPT_MS_MAX;
  await keep(opened, { ...INTENT, key: 'newer' });
  const before = shareBytes(store, 'kept', INTENT.account);
  await Promise.all([book.sweep(), other.sweep()]);
  await other.close();
  assert.equal(shareBytes(store, 'kept', INTENT.account), before / 2);
});

test('a request that changed nothing may be sent again, though neither was stored', async (t) => {
  const { store, book } = await open(t);
  const write = store.write.bind(store);
  const first = fresh(book);
  await first.begin();
  store.write = () => Promise.reject(new StoreFault('unwritable'));
  await first.settle(null);
  first.end();
  for (const body of [INTENT.body, Buffer.from('another')]) {
    const again = fresh(book, { ...INTENT, body });
    await assert.rejects(again.begin(), StoreFault);
    again.end();
  }
  store.write = write;
  // With another body too, as what changed nothing may be tried with.
  const other = { ...INTENT, body: Buffer.from('another') };
  const last = fresh(book, other);
  await last.begin();
  last.end();
  // This one was sent, and nobody knows its end.
  assert.equal(book.claim(other).kind, 'unknown');
});

test('storing that a request changed nothing removes no answer of a later one', async (t) => {
  const { store, book, clock } = await open(t);
  const write = store.write.bind(store);
  const first = fresh(book);
  await first.begin();
  store.write = () => Promise.reject(new StoreFault('unwritable'));
  await first.settle(null);
  first.end();
  store.write = write;
  clock.now += 1;
  await keep({ store, book, clock });
  await book.close();
  assert.deepEqual(book.claim(INTENT), { kind: 'kept', answer: ANSWER });
});

test('a request whose record may be stored, but was not sent, may be sent again', async (t) => {
  const { store, book } = await open(t);
  const write = store.write.bind(store);
  let isStored = false;
  store.write = async (action, options) => {
    if (!isStored) await write(action, options);
    isStored = true;
    throw new StoreFault('unknown');
  };
  const first = fresh(book);
  await assert.rejects(first.begin(), StoreFault);
  first.end();
  store.write = write;
  const again = fresh(book);
  await again.begin();
  await again.settle(ANSWER);
  again.end();
  assert.deepEqual(book.claim(INTENT), { kind: 'kept', answer: ANSWER });
});
