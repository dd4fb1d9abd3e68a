/** Blocks of audit entries beside the single entries that earlier versions write. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  type Actor,
  addAudit,
  AUDIT_ENTRIES_MAX,
  AUDIT_MS_MAX,
  listAudit,
} from '../../src/store/audit.js';
import { CLOCK_KEY } from '../../src/store/service-clock.js';
import { Store, type StoreTransaction } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

const NOW = 1_800_000_000_000;
const ACTOR: Actor = { kind: 'key', prefix: 'a-key', id: '0123456789ab' };
const LIST = 'account:alpha';
/** Entries with which a block of a commit before takes no more. */
const STORED_MAX = 16;
const COUNT_KEY = ['audit-count', LIST];
const BLOCK_COUNT_KEY = ['audit-block-count', LIST];
const NEW_KEY = ['new-audit', LIST];

interface Count {
  readonly count: number;
  readonly last?: number;
  readonly oldest?: number;
}

async function openStore(t: TestContext): Promise<Store> {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  return store;
}

function addOne(transaction: StoreTransaction, at: number): void {
  const object = `o${at - NOW}`;
  addAudit(transaction, { actor: ACTOR, account: 'alpha', action: 'nexus.create', object }, at);
}

const addEach = (store: Store, ...times: readonly number[]): Promise<void> =>
  store.write((transaction) => times.forEach((after) => addOne(transaction, NOW + after)));

/** Adds entries as an earlier version does, which counts and lists its own alone. */
const addSingles = (store: Store, ...times: readonly number[]): Promise<void> =>
  store.write(({ get, put }) => {
    const found = get(COUNT_KEY) as Count | undefined;
    let [count, last] = [found?.count ?? 0, found?.last ?? -1];
    for (const after of times) {
      const at = NOW + after;
      const order = Math.max(at, last + 1);
      const id = `id-${at}`;
      put(['audit', LIST, String(order).padStart(15, '0'), id], {
        v: 1,
        at,
        id,
        actor: ACTOR,
        account: 'alpha',
        action: 'nexus.create',
        object: `o${after}`,
        ...(order === at ? {} : { order }),
      });
      [count, last] = [count + 1, order];
    }
    put(COUNT_KEY, { v: 1, count, oldest: found?.oldest ?? NOW + times[0]!, last });
  });

const upTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

const told = (store: Store, now = NOW): readonly string[] =>
  listAudit(store, 0, now).map(({ object }) => object);

const named = (times: readonly number[]): readonly string[] => times.map((after) => `o${after}`);

const countIn = (store: Store, key: readonly string[]): number | undefined =>
  (store.get(key) as Count | undefined)?.count;

const singlesIn = (store: Store): number => store.keys(['audit', LIST]).length;

interface Block {
  readonly count: number;
}
/** The blocks of the list, and last the one apart that takes entries. */
const blocksIn = (store: Store): readonly Block[] =>
  [...store.list(['audit-block', LIST]), ...store.list(NEW_KEY)] as readonly Block[];

/** Entries that are counted in blocks. */
const countInBlocks = (store: Store): number =>
  (countIn(store, BLOCK_COUNT_KEY) ?? 0) + (countIn(store, NEW_KEY) ?? 0);

const setServiceClock = (store: Store, at: number): Promise<void> =>
  store.write((transaction) => transaction.put(CLOCK_KEY, { v: 1, at, wall: at }));

test('writes that share a commit share a block, and one that throws undoes its entry alone', async (t) => {
  const store = await openStore(t);
  const outcomes = await Promise.allSettled(
    upTo(0, 40).map((after) =>
      store.write((transaction) => {
        addOne(transaction, NOW + after);
        // What is listed meanwhile puts everything into the store.
        if (after === 20) transaction.list(['audit-block']);
        if (after % 10 === 0) throw new Error('no');
      }),
    ),
  );
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 4);
  const kept = named(upTo(0, 40).filter((after) => after % 10 !== 0));
  assert.deepEqual(told(store), kept);
  assert.equal(countInBlocks(store), kept.length);
  assert.ok(blocksIn(store).length <= 5, String(blocksIn(store).length));
});

test('commits of one entry each share blocks, for a minute and sixteen entries', async (t) => {
  const store = await openStore(t);
  const counts = (): readonly number[] => blocksIn(store).map(({ count }) => count);
  for (const after of upTo(0, STORED_MAX + 2)) await addEach(store, after);
  assert.deepEqual(counts(), [STORED_MAX, 2]);
  const minute = STORED_MAX + 60_000;
  await addEach(store, minute - 1);
  assert.deepEqual(counts(), [STORED_MAX, 3]);
  await addEach(store, minute);
  assert.deepEqual(counts(), [STORED_MAX, 3, 1]);
  // A commit of many goes on with the block of the one before.
  await addEach(store, ...upTo(minute + 1, minute + 41));
  assert.deepEqual(counts(), [STORED_MAX, 3, 41]);
  const all = [...upTo(0, STORED_MAX + 2), ...upTo(minute - 1, minute + 41)];
  assert.deepEqual(told(store, NOW + minute), named(all));
  assert.equal(countInBlocks(store), all.length);
  // One that throws leaves the block as it was.
  const failing = store.write((transaction) => {
    addOne(transaction, NOW + minute + 60_010);
    addOne(transaction, NOW + minute + 60_011);
    throw new Error('no');
  });
  await assert.rejects(failing);
  assert.deepEqual(counts(), [STORED_MAX, 3, 41]);
});

test('a block says of each actor and action once what is told of all', async (t) => {
  const store = await openStore(t);
  const actors: readonly Actor[] = [
    ACTOR,
    { ...ACTOR, id: 'ba9876543210' },
    { kind: 'cli', uid: 7, user: 'someone' },
    { kind: 'server' },
    ACTOR,
    { kind: 'cli', uid: 8, user: 'someone' },
    { kind: 'server' },
  ];
  const entries = actors.flatMap((actor, at) =>
    (['merchant.create', 'nexus.create'] as const).map((action) => ({
      actor,
      account: 'alpha',
      action,
      object: `o${at}`,
    })),
  );
  await store.write((transaction) => entries.forEach((each) => addAudit(transaction, each, NOW)));
  assert.deepEqual(
    listAudit(store, 0, NOW),
    entries.map((entry) => ({ at: NOW, ...entry })),
  );
  const [block] = blocksIn(store) as readonly (Block & { readonly acts: readonly object[] })[];
  assert.equal(block?.acts.length, 10);
});

test('entries of both layouts are told in order, and say the same', async (t) => {
  const store = await openStore(t);
  await addSingles(store, 0, 1);
  await addEach(store, 2, 3);
  // The earlier version is put back, and taken away again.
  await addSingles(store, 4, 5);
  await addEach(store, 6);
  assert.deepEqual(told(store), named(upTo(0, 7)));
  const [single, , block] = listAudit(store, 0, NOW);
  assert.deepEqual({ ...block, at: NOW, object: 'o0' }, single);
  assert.deepEqual(Object.keys(block ?? {}), Object.keys(single ?? {}));
  assert.equal(countIn(store, COUNT_KEY), 4, 'as the earlier version left it');
  assert.equal(countInBlocks(store), 3);
});

test('the oldest of both layouts make room, and the count of an earlier version stays right', async (t) => {
  const store = await openStore(t);
  for (const from of [0, 2_500, 5_000]) await addSingles(store, ...upTo(from, from + 2_500));
  await addEach(store, ...upTo(7_500, 8_500));
  await addSingles(store, ...upTo(8_500, 9_500));
  for (let from = 9_500; from < 21_500; from += 800) {
    for (const part of [0, 400]) await addEach(store, ...upTo(from + part, from + part + 400));
    // Now and then, since all are read for it: what is lost stays so until it would be too old.
    if (from % 2_400 === 1_500) {
      const newest = named(upTo(Math.max(0, from + 800 - AUDIT_ENTRIES_MAX), from + 800));
      assert.deepEqual(told(store), newest, `after ${from + 800}`);
    }
    assert.equal(countIn(store, COUNT_KEY) ?? 0, singlesIn(store));
    const held = blocksIn(store).reduce((sum, block) => sum + block.count, 0);
    assert.equal(countInBlocks(store), held);
    assert.ok(held + singlesIn(store) <= AUDIT_ENTRIES_MAX + 400, String(held));
  }
  assert.equal(store.get(COUNT_KEY), undefined, 'there are none any more');
});

test('what two versions wrote in turns beyond the number goes, the oldest first', async (t) => {
  const store = await openStore(t);
  const some = (from: number): readonly number[] => upTo(from, from + 2_000);
  for (const from of [0, 2_000]) await addSingles(store, ...some(from));
  for (const from of [4_000, 6_000, 8_000, 10_000]) await addEach(store, ...some(from));
  for (const from of [12_000, 14_000]) await addSingles(store, ...some(from));
  for (let after = 16_000; after < 16_000 + 16 * STORED_MAX; after += STORED_MAX) {
    const next = after + STORED_MAX;
    await addEach(store, ...upTo(after, next));
    if (after % 5 === 0) {
      assert.deepEqual(told(store), named(upTo(next - AUDIT_ENTRIES_MAX, next)));
    }
    assert.equal(countIn(store, COUNT_KEY), singlesIn(store));
    const [single] = store.keys(['audit', LIST], 1);
    const [block] = store.keys(['audit-block', LIST], 1);
    const isInTurn =
      singlesIn(store) <= 4_000 || block?.[2] === String(NOW + 4_000).padStart(15, '0');
    assert.ok(isInTurn, `${String(single)} ${String(block)}`);
  }
  const held = blocksIn(store).reduce((sum, { count }) => sum + count, 0);
  assert.equal(countInBlocks(store), held);
  assert.ok(held + singlesIn(store) <= AUDIT_ENTRIES_MAX + 400, String(held));
});

test('entries of both layouts come of age', async (t) => {
  const store = await openStore(t);
  await addSingles(store, 0, 1, 2);
  await addEach(store, 10, 11);
  await addSingles(store, 20);
  await setServiceClock(store, NOW + AUDIT_MS_MAX + 10);
  await addEach(store, AUDIT_MS_MAX + 10);
  assert.equal(singlesIn(store), 1, 'those of that age are gone');
  assert.equal(blocksIn(store).length, 2, 'a block goes with the next that is put away');
  assert.deepEqual(told(store, NOW + AUDIT_MS_MAX + 12), named([20, AUDIT_MS_MAX + 10]));
  const later = AUDIT_MS_MAX + 10 + 60_000;
  await setServiceClock(store, NOW + later);
  await addEach(store, later);
  assert.deepEqual([singlesIn(store), blocksIn(store).length], [0, 2]);
  assert.deepEqual(store.get(BLOCK_COUNT_KEY), {
    v: 1,
    count: 1,
    oldest: NOW + AUDIT_MS_MAX + 10,
    last: NOW + AUDIT_MS_MAX + 10,
  });
  assert.equal(countInBlocks(store), 2);
});

test('beside a version that counts and nothing else no entry is overwritten or kept', async (t) => {
  const store = await openStore(t);
  const countAlone = (count: number): Promise<void> =>
    store.write((transaction) => transaction.put(COUNT_KEY, { v: 1, count }));
  await setServiceClock(store, NOW + AUDIT_MS_MAX + 5);
  await addSingles(store, 0, 1, 2);
  await countAlone(3);
  // By a clock that was set back.
  await addEach(store, 0);
  assert.equal((store.get(NEW_KEY) as { readonly order: number }).order, NOW + 3);
  await countAlone(3);
  await addEach(store, AUDIT_MS_MAX + 2);
  assert.deepEqual([singlesIn(store), store.get(COUNT_KEY)], [0, undefined]);
  assert.deepEqual(told(store, NOW + AUDIT_MS_MAX + 2), named([AUDIT_MS_MAX + 2]));
});

test('a clock set back within a commit begins a block, behind those that are there', async (t) => {
  const store = await openStore(t);
  const [hour, day] = [3_600_000, 86_400_000];
  await addEach(store, day, day + 1, hour, hour + 1, 0);
  await addEach(store, 5);
  assert.deepEqual(
    blocksIn(store).map((block) => block.count),
    [2, 2, 2],
  );
  assert.deepEqual(told(store), named([0, 5, hour, hour + 1, day, day + 1]));
});

test('a block is put beside that of a version before, which does not see the block apart', async (t) => {
  const store = await openStore(t);
  await addEach(store, ...upTo(0, STORED_MAX));
  const block = { v: 1, at: NOW, account: 'alpha', count: 1, told: '0 0 other\n' };
  const acts = [{ actor: ACTOR, action: 'nexus.create' }];
  await store.write(({ put }) => {
    put(['audit-block', LIST, String(NOW).padStart(15, '0')], { ...block, acts });
    put(BLOCK_COUNT_KEY, { v: 1, count: 1, last: NOW, oldest: NOW });
  });
  await addEach(store, 20);
  assert.deepEqual(told(store), ['other', ...named([...upTo(0, STORED_MAX), 20])]);
  assert.deepEqual(
    blocksIn(store).map(({ count }) => count),
    [1, STORED_MAX, 1],
  );
  assert.equal(countInBlocks(store), STORED_MAX + 2);
});
