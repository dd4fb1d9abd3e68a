import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Store } from '../../src/store/store.js';
import { listUsage, UsageBook } from '../../src/store/usage.js';
import {
  type Metered,
  monthAt,
  NO_COUNTS,
  type UsageOptions,
} from '../../src/store/usage-meter.js';
import { newStore } from '../support/filled-store.js';

const NOVEMBER = Date.UTC(2026, 10, 21, 5);
const DECEMBER = Date.UTC(2026, 11, 1);
/** Flushed by the tests themselves. */
const NEVER_MS = 1_000_000;

function keyOf(id: string, limits: Partial<Metered> = {}): Metered {
  return {
    id,
    account: 'shop',
    grants: 15,
    coreLimit: 0,
    geoLimit: 0,
    merchantLimit: 0,
    ...limits,
  };
}

function openBook(context: TestContext, store: Store, options: UsageOptions = {}): UsageBook {
  const book = new UsageBook(store, { now: () => NOVEMBER, flushMs: NEVER_MS, ...options });
  context.after(() => book.close());
  return book;
}

/** One lookup from its beginning to its end; false when it was refused. */
function look(book: UsageBook, key: Metered, geo = false, counted = true): boolean {
  const admission = book.admit(key, geo);
  if (admission === null) return false;
  const geocoded = geo && (admission.grants & 1) !== 0;
  book.settle(admission, counted && (geocoded || !geo), geocoded);
  return true;
}

test('lookups count core, geocoded ones geo as well, refused ones nothing', async (context) => {
  const book = openBook(context, await newStore(context));
  const key = keyOf('a');
  look(book, key);
  look(book, key, true);
  look(book, key, true, false);
  assert.deepEqual(book.counts('a'), { core: 2, geo: 1, merchant: 0 });
  assert.deepEqual(book.counts('b'), NO_COUNTS);
  const operation = book.admitMerchant(key);
  assert.ok(operation);
  book.settleMerchant(operation, true);
  assert.deepEqual(book.counts('a'), { core: 2, geo: 1, merchant: 1 });
});

test('counts are stored with month, key and account, and read at the start', async (context) => {
  const store = await newStore(context);
  const before = openBook(context, store);
  look(before, keyOf('a'), true);
  look(before, keyOf('b'));
  await before.flush();
  await before.flush();
  assert.deepEqual(listUsage(store, '202611'), [
    { v: 1, id: 'a', account: 'shop', month: '202611', core: 1, geo: 1, merchant: 0 },
    { v: 1, id: 'b', account: 'shop', month: '202611', core: 1, geo: 0, merchant: 0 },
  ]);
  const after = openBook(context, store);
  look(after, keyOf('a'));
  assert.deepEqual(after.counts('a'), { core: 2, geo: 1, merchant: 0 });
});

test('each key has counts and limits of its own, whatever slots they have', async (context) => {
  const book = openBook(context, await newStore(context));
  const keys = [
    keyOf('a', { coreLimit: 9 }),
    keyOf('b', { coreLimit: 4, slot: 3 }),
    keyOf('c', { slot: 3 }),
    keyOf('d', { slot: 0 }),
  ];
  for (let round = 0; round < 6; round += 1) for (const key of keys) look(book, key);
  // The same keys with other limits are other objects, in other slots.
  const later = [keyOf('a', { coreLimit: 7, slot: 3 }), keyOf('b', { coreLimit: 6 })];
  for (let round = 0; round < 3; round += 1) for (const key of later) look(book, key);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => book.counts(id).core),
    [7, 6, 6, 6],
  );
});

test('closing stores what was counted last', async (context) => {
  const store = await newStore(context);
  const book = openBook(context, store);
  look(book, keyOf('a'));
  const flushing = book.flush();
  look(book, keyOf('a'));
  await Promise.all([flushing, book.close()]);
  assert.equal(listUsage(store, '202611')[0]?.core, 2);
});

test('two books on one store add up and learn of each other', async (context) => {
  const store = await newStore(context);
  const [one, other] = [openBook(context, store), openBook(context, store)];
  for (let turn = 0; turn < 3; turn += 1) look(one, keyOf('a'));
  for (let turn = 0; turn < 4; turn += 1) look(other, keyOf('a'), true);
  await Promise.all([one.flush(), other.flush()]);
  assert.deepEqual(
    listUsage(store, '202611').map(({ core, geo }) => [core, geo]),
    [[7, 4]],
  );
  look(one, keyOf('a'));
  await one.flush();
  assert.equal(one.counts('a').core, 8);
});

test('counters and limits begin anew with the month of UTC', async (context) => {
  const store = await newStore(context);
  let now = DECEMBER - 1;
  const book = openBook(context, store, { now: () => now });
  const key = keyOf('a', { coreLimit: 2 });
  assert.ok(look(book, key) && look(book, key) && !look(book, key));
  const late = book.admit(keyOf('b'), false);
  now = DECEMBER;
  assert.deepEqual(book.counts('a'), NO_COUNTS);
  assert.ok(look(book, key));
  assert.ok(late);
  book.settle(late, true, false);
  await book.flush();
  const month = (name: string): readonly [string, number][] =>
    listUsage(store, name).map(({ id, core }) => [id, core]);
  assert.deepEqual(month('202611'), [['a', 2]]);
  assert.deepEqual(month('202612'), [
    ['a', 1],
    ['b', 1],
  ]);
  now = DECEMBER - 5;
  assert.equal(book.counts('a').core, 1, 'a clock set back does not reopen a month');
});

test('a clock that was a year ahead and is set right counts in the right month again', async (context) => {
  const store = await newStore(context);
  const year = 365 * 86_400_000;
  let now = DECEMBER + year;
  const book = openBook(context, store, { now: () => now });
  const key = keyOf('a');
  assert.ok(look(book, key));
  await book.flush();
  now = DECEMBER;
  await book.flush();
  assert.ok(look(book, key) && look(book, key));
  await book.flush();
  const counted = (month: string): number | undefined => listUsage(store, month)[0]?.core;
  assert.deepEqual([counted('202612'), counted('202712')], [2, 1]);
  assert.equal(book.counts('a').core, 2);
});

test('a month that ends between two batches ends with the first request', async (context) => {
  const store = await newStore(context);
  let now = DECEMBER - 2_000;
  const book = openBook(context, store, { now: () => now, flushMs: 500 });
  const key = keyOf('a', { coreLimit: 1 });
  assert.ok(look(book, key) && !look(book, key));
  now = DECEMBER - 400;
  await book.flush();
  assert.ok(!look(book, key));
  now = DECEMBER;
  assert.ok(look(book, key));
});

test('a month ends at midnight of UTC, also the last of a year', () => {
  assert.equal(monthAt(DECEMBER - 1).name, '202611');
  assert.equal(monthAt(DECEMBER - 1).endsAt, DECEMBER);
  assert.deepEqual(monthAt(Date.UTC(2026, 11, 31, 23, 59)), {
    name: '202612',
    startsAt: DECEMBER,
    endsAt: Date.UTC(2027, 0, 1),
  });
});

test('a used-up core quota refuses, a used-up geo quota takes geocoding away', async (context) => {
  const book = openBook(context, await newStore(context));
  const key = keyOf('a', { coreLimit: 5, geoLimit: 2 });
  assert.equal(book.admit(key, true)?.grants, 15);
  assert.equal(book.admit(key, true)?.grants, 15);
  const third = book.admit(key, true);
  assert.equal(third?.grants, 14, 'places of requests under way are held');
  assert.equal(book.admit(key, false)?.grants, 15);
  assert.ok(book.admit(key, false));
  assert.equal(book.admit(key, false), null);
  book.settle(third, false, false);
  assert.ok(book.admit(key, false), 'the place of a failed lookup is free again');
  assert.equal(book.admit(key, false), null);
});

test('refused lookups use up no quota', async (context) => {
  const book = openBook(context, await newStore(context));
  const key = keyOf('a', { coreLimit: 1, geoLimit: 1, merchantLimit: 1 });
  for (let turn = 0; turn < 5; turn += 1) assert.ok(look(book, key, true, false));
  assert.ok(look(book, key, true));
  assert.ok(!look(book, key));
  const operation = book.admitMerchant(key);
  assert.ok(operation);
  assert.equal(book.admitMerchant(key), null);
  book.settleMerchant(operation, false);
  assert.ok(book.admitMerchant(key));
});

test('a limit may change while requests are under way', async (context) => {
  const book = openBook(context, await newStore(context));
  const held = book.admit(keyOf('a', { coreLimit: 1 }), false);
  assert.ok(held);
  const free = book.admit(keyOf('a'), false);
  assert.ok(free);
  book.settle(free, true, false);
  book.settle(held, true, false);
  assert.ok(!look(book, keyOf('a', { coreLimit: 2 })));
  assert.ok(look(book, keyOf('a', { coreLimit: 3 })));
});

test('what cannot be stored is kept, told once and stored later', async (context) => {
  const store = await newStore(context);
  const failures: unknown[] = [];
  const book = openBook(context, store, { failed: (error) => failures.push(error) });
  const write = store.write.bind(store);
  store.write = () => Promise.reject(new Error('disk full'));
  for (let turn = 0; turn < 3; turn += 1) {
    look(book, keyOf('a'));
    await book.flush();
  }
  assert.equal(failures.length, 1);
  store.write = write;
  await book.flush();
  assert.equal(listUsage(store, '202611')[0]?.core, 3);
  assert.equal(book.counts('a').core, 3);
});

test('storing counts does not make other processes read the keys again', async (context) => {
  const store = await newStore(context);
  let changes = 0;
  store.watch(() => {
    changes += 1;
  });
  const book = openBook(context, store);
  look(book, keyOf('a'));
  await book.flush();
  store.refresh();
  assert.equal(changes, 0);
});

test('answered rows use up a quota at once, and count when they are stored', async (context) => {
  const store = await newStore(context);
  const book = openBook(context, store);
  const key = keyOf('a', { coreLimit: 10, geoLimit: 10 });
  const counts = { core: 3, geo: 2, merchant: 0 };
  const stored = () => listUsage(store, '202611').map(({ core, geo }) => [core, geo]);
  book.answerRows(book.admitRows(key, 4, false), counts);
  book.answerRows(book.admitRows(key, 4, false), counts);
  assert.deepEqual(book.counts('a'), { core: 6, geo: 4, merchant: 0 });
  assert.equal(book.admitRows({ ...key, coreLimit: 7 }, 4, false).rows, 1);
  look(book, keyOf('a'));
  await book.flush();
  assert.deepEqual(stored(), [[1, 0]]);
  assert.deepEqual(book.counts('a'), { core: 7, geo: 4, merchant: 0 });
  let record: ReturnType<UsageBook['storeRows']> = null;
  await store.write((transaction) => {
    record = book.storeRows(transaction, key, counts);
  });
  book.storedRows(key, counts, record);
  assert.deepEqual(stored(), [[4, 2]]);
  assert.deepEqual(book.counts('a'), { core: 7, geo: 4, merchant: 0 });
  book.dropRows(key, counts);
  assert.deepEqual(book.counts('a'), { core: 4, geo: 2, merchant: 0 });
  await book.flush();
  assert.deepEqual(stored(), [[4, 2]]);
});

test('rows without a count store nothing, and those of an ended month count in the new one', async (context) => {
  const store = await newStore(context);
  let now = NOVEMBER;
  const book = openBook(context, store, { now: () => now });
  const key = keyOf('a');
  const counts = { core: 0, geo: 0, merchant: 5 };
  await store.write((transaction) => {
    assert.equal(book.storeRows(transaction, key, NO_COUNTS), null);
  });
  book.answerRows(book.admitRows(key, 5, true), counts);
  now = DECEMBER;
  assert.deepEqual(book.counts('a'), counts);
  let record: ReturnType<UsageBook['storeRows']> = null;
  await store.write((transaction) => {
    record = book.storeRows(transaction, key, counts);
  });
  book.storedRows(key, counts, record);
  assert.deepEqual(book.counts('a'), counts);
  assert.deepEqual(listUsage(store, '202611'), []);
  assert.equal(listUsage(store, '202612')[0]?.merchant, 5);
});
