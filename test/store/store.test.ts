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
