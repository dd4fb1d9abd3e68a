/** Blocks of audit entries, and the count of an earlier version, of which a bit has turned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Actor, addAudit, AUDIT_ENTRIES_MAX, listAudit } from '../../src/store/audit.js';
import { Store } from '../../src/store/store.js';
import { turnAt } from '../support/filled-store.js';
import { newVarDir } from '../support/http-var-dir.js';

const NOW = 1_800_000_000_000;
const ACTOR: Actor = { kind: 'server' };
const FULL = 64;

const add = (store: Store, from: number, count: number): Promise<void> =>
  store.write((transaction) => {
    for (let at = from; at < from + count; at += 1) {
      const object = `o${at}`;
      addAudit(
        transaction,
        { actor: ACTOR, account: null, action: 'key.update', object },
        NOW + at,
      );
    }
  });

test('damaged blocks are passed over, and put aside when the oldest make room', async (t) => {
  const varDir = newVarDir(t);
  const failed: string[] = [];
  const open = (): Promise<Store> =>
    Store.open(varDir, { failed: (error) => failed.push(String(error)) });
  let store = await open();
  let end = 0;
  for (; end < 4 * FULL; end += FULL) await add(store, end, FULL);
  const keys = store.keys(['audit-block', 'operator']);
  await store.close();
  const turned = [keys[0] ?? assert.fail(), keys[2] ?? assert.fail()];
  for (const key of turned) await turnAt(varDir, key);
  store = await open();
  const sound = listAudit(store, 0, NOW);
  assert.deepEqual([sound.length, sound[0]?.object], [2 * FULL, `o${FULL}`]);
  assert.deepEqual(
    failed,
    turned.map((key) => `DamagedRecord: the record ${key.join('/')} in the store is damaged`),
  );
  for (; end < AUDIT_ENTRIES_MAX + 10 * FULL; end += FULL) await add(store, end, FULL);
  const kept = listAudit(store, 0, NOW);
  assert.deepEqual(
    [kept.length, kept[0]?.object],
    [AUDIT_ENTRIES_MAX, `o${end - AUDIT_ENTRIES_MAX}`],
  );
  for (const key of turned) {
    assert.equal(store.get(key), undefined);
    assert.notEqual(store.get(['damaged', ...key]), undefined);
  }
  const { count } = store.get(['audit-block-count', 'operator']) as { readonly count: number };
  const blocks = store.list(['audit-block']) as { readonly count: number }[];
  assert.equal(
    count,
    blocks.reduce((sum, block) => sum + block.count, 0),
  );
  await store.close();
});

test('a damaged last block is put aside and another one begins', async (t) => {
  const varDir = newVarDir(t);
  const failed: string[] = [];
  let store = await Store.open(varDir);
  for (let at = 0; at < 3; at += 1) await add(store, at, 1);
  const [key = assert.fail(), ...others] = store.keys(['new-audit', 'operator']);
  assert.deepEqual(others, [], 'they share one');
  await store.close();
  await turnAt(varDir, key);
  store = await Store.open(varDir, { failed: (error) => failed.push(String(error)) });
  for (let at = 3; at < 5; at += 1) await add(store, at, 1);
  assert.deepEqual(
    listAudit(store, 0, NOW).map(({ object }) => object),
    ['o3', 'o4'],
  );
  assert.notEqual(store.get(['damaged', ...key]), undefined);
  assert.match(failed[0] ?? '', /new-audit\/operator/);
  await store.close();
});

test('a damaged count of an earlier version is counted anew', async (t) => {
  const varDir = newVarDir(t);
  const failed: string[] = [];
  let store = await Store.open(varDir);
  await store.write(({ put }) => {
    for (let at = 0; at < 3; at += 1) {
      put(['audit', 'operator', String(NOW + at).padStart(15, '0'), 'id'], {
        v: 1,
        at: NOW + at,
        id: 'id',
        actor: ACTOR,
        account: null,
        action: 'key.update',
        object: `o${at}`,
      });
    }
    put(['audit-count', 'operator'], { v: 1, count: 3, oldest: NOW, last: NOW + 2 });
  });
  await store.close();
  await turnAt(varDir, ['audit-count', 'operator']);
  store = await Store.open(varDir, { failed: (error) => failed.push(String(error)) });
  await add(store, 0, 1);
  const begun = store.get(['new-audit', 'operator']) as { readonly order: number };
  assert.equal(begun.order, NOW + 3);
  await add(store, 60_000, 1);
  assert.deepEqual(store.get(['audit-count', 'operator']), {
    v: 1,
    count: 3,
    oldest: NOW,
    last: NOW + 2,
  });
  assert.deepEqual(store.keys(['audit-block', 'operator']), [
    ['audit-block', 'operator', String(NOW + 3).padStart(15, '0')],
  ]);
  assert.match(failed[0] ?? '', /audit-count\/operator .* counted anew/);
  await store.close();
});
