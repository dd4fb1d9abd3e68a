import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { open } from 'lmdb';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { KeyCache } from '../../src/store/watched.js';
import { createKey, disableKey, listKeys } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';

const DISABLE = fileURLToPath(new URL('../support/http-disable-key.js', import.meta.url));
const run = promisify(execFile);

test('another process disables a key and the cache notices', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const { text } = await createKey(store, { plan: 'pro' });
  const cache = new KeyCache(store);
  assert.ok(cache.find(text));
  await run(process.execPath, [DISABLE, varDir, text]);
  await eventually(() => cache.find(text) === null);
});

test('a transaction that throws changes nothing', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  let changes = 0;
  store.watch(() => {
    changes += 1;
  });
  await assert.rejects(
    store.write((transaction) => {
      transaction.put(['thing', 'a'], { v: 1 });
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(store.get(['thing', 'a']), undefined);
  assert.equal(changes, 0);
  await store.write((transaction) => transaction.put(['thing', 'a'], { v: 1 }));
  assert.deepEqual(store.get(['thing', 'a']), { v: 1 });
  assert.equal(changes, 1);
});

test('keys are looked at again when one changed, and not for other changes', async (context) => {
  const varDir = newVarDir(context);
  const [store, other] = [await Store.open(varDir), await Store.open(varDir)];
  context.after(() => Promise.all([store.close(), other.close()]));
  const seen = { all: 0, keys: 0 };
  other.watch(() => {
    seen.all += 1;
  });
  other.watchKeys(() => {
    seen.keys += 1;
  });
  await store.write((transaction) => transaction.put(['thing', 'a'], { v: 1 }));
  other.refresh();
  assert.deepEqual(seen, { all: 1, keys: 0 });
  const { text } = await createKey(store, { plan: 'pro' });
  other.refresh();
  assert.deepEqual(seen, { all: 2, keys: 1 });
  await disableKey(store, text);
  other.refresh();
  assert.deepEqual(seen, { all: 3, keys: 2 });
});

test('a write tells of what it changed before it returns, once for all that share a commit', async (context) => {
  const varDir = newVarDir(context);
  const [store, other] = [await Store.open(varDir), await Store.open(varDir)];
  context.after(() => Promise.all([store.close(), other.close()]));
  const told: string[] = [];
  const found = (): string => `${store.list(['merchant']).length} ${store.list(['key']).length}`;
  store.watch(() => told.push(`all ${found()}`));
  store.watchKeys(() => told.push(`keys ${found()}`));
  store.watchMerchants(() => told.push(`merchants ${found()}`));
  const put = (into: Store, kind: string, id: string, quiet: boolean): Promise<string[]> =>
    into
      .write((transaction) => transaction.put([kind, 'a', id], { v: 1 }), { quiet })
      .then(() => told.splice(0));
  const both = await Promise.all([
    put(store, 'merchant', '1', true),
    put(store, 'key', '1', false),
    put(store, 'merchant', '2', true),
    put(store, 'thing', '1', true),
  ]);
  assert.deepEqual(both.flat(), ['merchants 2 1', 'all 2 1', 'keys 2 1']);
  // Nothing of it is told again.
  store.refresh();
  assert.deepEqual(told, []);
  // What another process changed meanwhile is there when the own change is told, or told for itself.
  await put(other, 'merchant', '3', true);
  await put(other, 'key', '2', true);
  assert.deepEqual(await put(store, 'merchant', '4', true), ['merchants 4 2']);
  store.refresh();
  assert.deepEqual(told.splice(0), ['keys 4 2']);
  await put(other, 'merchant', '5', true);
  store.refresh();
  assert.deepEqual(told.splice(0), ['merchants 5 2']);
  const next = [await put(store, 'merchant', '6', true), await put(store, 'merchant', '7', true)];
  assert.deepEqual(next, [['merchants 6 2'], ['merchants 7 2']]);
});

test('a list holds one prefix and nothing beside it', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  await store.write((transaction) => {
    for (const key of [
      ['a', '1', 'x'],
      ['a', '1', 'é'],
      ['a', '10', 'x'],
      ['a', '2', 'x'],
    ]) {
      transaction.put(key, { key: key.join('/') });
    }
    transaction.remove(['a', '2', 'x']);
  });
  assert.deepEqual(store.list(['a', '1']), [{ key: 'a/1/x' }, { key: 'a/1/é' }]);
  assert.deepEqual(store.list(['a', '2']), []);
  assert.deepEqual(listKeys(store), []);
});

test('a store of a newer program is refused', async (context) => {
  const varDir = newVarDir(context);
  await (await Store.open(varDir)).close();
  const root = open({ path: join(varDir, 'store'), encoding: 'msgpack' });
  await root.put(['meta', 'format'], 99);
  await root.close();
  await assert.rejects(Store.open(varDir), /format 99/);
});
