/** Records that a commit left and the next one need not read, and when they are read again. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { addAudit } from '../../src/store/audit.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

const KEY = ['count', 'outbox', 'event'];

interface Count {
  readonly count: number;
}

/** Two handles of one store, as of two processes. */
async function openTwo(t: TestContext): Promise<readonly [Store, Store]> {
  const varDir = newVarDir(t);
  const stores = [await Store.open(varDir), await Store.open(varDir)] as const;
  t.after(() => Promise.all(stores.map((store) => store.close())));
  return stores;
}

/** Puts a count and tells what was known before. */
const put = (store: Store, count: number): Promise<unknown> =>
  store.write((transaction) => {
    const known = transaction.known(KEY);
    transaction.put(KEY, { v: 1, count });
    return known;
  });

test('what a commit left is known to the next one, as it was given', async (t) => {
  const [store] = await openTwo(t);
  assert.equal(await put(store, 1), null);
  assert.deepEqual(await put(store, 2), { v: 1, count: 1 });
  const both = await store.write((transaction) => {
    transaction.put(KEY, { v: 1, count: 3 });
    return [transaction.known(KEY), transaction.known(['count', 'other'])];
  });
  assert.deepEqual(both, [{ v: 1, count: 3 }, null]);
  // What is listed puts everything into the store, and what is newer is in it alone.
  const listed = await store.write((transaction) => {
    transaction.put(KEY, { v: 1, count: 4 });
    transaction.list(['count']);
    return [transaction.known(KEY), (transaction.get(KEY) as Count).count];
  });
  assert.deepEqual(listed, [null, 4]);
  assert.equal(await put(store, 5), null, 'it was put before the end of the commit');
  await store.write((transaction) => transaction.remove(KEY));
  const removed = await store.write((transaction) => [
    transaction.known(KEY),
    transaction.get(KEY),
  ]);
  assert.deepEqual(removed, [null, undefined]);
});

test('of a commit that left something else it is read', async (t) => {
  const [store] = await openTwo(t);
  await put(store, 1);
  await store.write((transaction) => transaction.put(['count', 'other'], { v: 1, count: 9 }));
  assert.equal(await put(store, 2), null);
});

test('what another has written since is read', async (t) => {
  const [store, other] = await openTwo(t);
  await put(store, 1);
  await put(other, 7);
  const seen = await store.write((transaction) => [
    transaction.known(KEY),
    (transaction.get(KEY) as Count).count,
  ]);
  assert.deepEqual(seen, [null, 7]);
  // A commit of the other that changes something else may have done so too.
  await put(store, 8);
  await other.write((transaction) => transaction.put(['count', 'other'], { v: 1, count: 1 }));
  assert.equal(await put(store, 9), null);
});

test('an action that throws leaves what was known, alone and beside others', async (t) => {
  const [store] = await openTwo(t);
  await put(store, 1);
  const failing = (): Promise<unknown> =>
    store.write((transaction) => {
      transaction.put(KEY, { v: 1, count: 99 });
      throw new Error('no');
    });
  const [before, failed, after] = await Promise.allSettled([
    put(store, 2),
    failing(),
    put(store, 3),
  ]);
  assert.deepEqual(before, { status: 'fulfilled', value: { v: 1, count: 1 } });
  assert.equal(failed.status, 'rejected');
  assert.deepEqual(after, { status: 'fulfilled', value: { v: 1, count: 2 } });
  await assert.rejects(failing(), /no/);
  const seen = await store.write((transaction) => (transaction.get(KEY) as Count).count);
  assert.equal(seen, 3);
  assert.ok([null, 3].includes(((await put(store, 4)) as Count | null)?.count ?? null));
});

test('a commit of one audit entry changes one record of its list', async (t) => {
  const [store] = await openTwo(t);
  const entry = { actor: { kind: 'server' }, account: 'alpha', action: 'nexus.create' } as const;
  const add = (at: number): Promise<readonly string[]> =>
    store.write((transaction) => {
      const changed: string[] = [];
      const noting = {
        ...transaction,
        put: (key: readonly string[], record: object): void => {
          changed.push(key.join('/'));
          transaction.put(key, record);
        },
      };
      addAudit(noting, { ...entry, object: String(at) }, at);
      return changed;
    });
  await add(1);
  assert.deepEqual(await add(2), ['new-audit/account:alpha']);
});
