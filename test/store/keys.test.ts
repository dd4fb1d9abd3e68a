import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { GRANT_ALL } from '../../src/pool/types.js';
import { KeyCache } from '../../src/store/watched.js';
import {
  bootstrapKey,
  createKey,
  disableKey,
  keyId,
  listKeys,
  randomKey,
  selectKey,
  updateKey,
} from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

async function openStore(context: TestContext): Promise<{ store: Store; varDir: string }> {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  return { store, varDir };
}

test('a created key is found; unknown, malformed and disabled ones are not', async (context) => {
  const { store } = await openStore(context);
  const cache = new KeyCache(store);
  const { text, record } = await createKey(store, { plan: 'pro' });
  assert.match(text, /^situs_[\w-]{32}$/);
  const known = { ...record, slot: 0 };
  assert.deepEqual(cache.find(text), known);
  assert.deepEqual(cache.find(text), known, 'and again from memory');
  for (const other of ['', 'short', 'x'.repeat(101), randomKey(), `${text} `, ` ${text}`]) {
    assert.equal(cache.find(other), null);
  }
  await disableKey(store, text);
  assert.equal(cache.find(text), null);
  await updateKey(store, text, { active: true });
  assert.equal(cache.find(text)?.id, record.id);
});

test('keys of 10 and of 100 characters are keys, 9 and 101 are not', async (context) => {
  const { store } = await openStore(context);
  const cache = new KeyCache(store);
  for (const length of [10, 100]) {
    const text = 'k'.repeat(length);
    await createKey(store, { text, plan: 'starter' });
    assert.equal(cache.find(text)?.plan, 'starter');
  }
  for (const length of [9, 101]) {
    await assert.rejects(createKey(store, { text: 'k'.repeat(length), plan: 'starter' }), /10 to/);
  }
});

test('no key is on the disk, only its hash', async (context) => {
  const { store, varDir } = await openStore(context);
  const { text } = await createKey(store, { plan: 'growth' });
  const file = readFileSync(join(varDir, 'store', 'data.mdb'));
  assert.equal(file.indexOf(text), -1);
  assert.equal(file.indexOf(text.slice('situs_'.length)), -1);
  assert.ok(file.indexOf(keyId(text)) > 0);
});

test('the same key twice is refused and changes nothing', async (context) => {
  const { store } = await openStore(context);
  await createKey(store, { text: 'given-by-hand', plan: 'pro' });
  await assert.rejects(createKey(store, { text: 'given-by-hand', plan: 'starter' }), /exists/);
  assert.deepEqual(
    listKeys(store).map(({ plan }) => plan),
    ['pro'],
  );
});

test('a plan brings its settings, and what is given stays', async (context) => {
  const { store } = await openStore(context);
  const { text } = await createKey(store, { plan: 'starter' });
  assert.deepEqual([selectKey(store, text).rate, selectKey(store, text).grants], [10, 1]);
  const pro = await updateKey(store, text, { plan: 'pro' });
  assert.deepEqual([pro.rate, pro.grants], [500, GRANT_ALL]);
  const fast = await updateKey(store, text, { rate: 7 });
  assert.deepEqual([fast.plan, fast.rate, fast.grants], ['pro', 7, GRANT_ALL]);
  const narrow = await updateKey(store, text, { plan: 'enterprise', rate: 9, grants: 0 });
  assert.deepEqual([narrow.rate, narrow.grants], [9, 0]);
});

test('a key is named by itself or by the beginning of its id', async (context) => {
  const { store } = await openStore(context);
  const { text, record } = await createKey(store, { plan: 'pro' });
  assert.equal(selectKey(store, text).id, record.id);
  assert.equal(selectKey(store, record.id.slice(0, 8)).id, record.id);
  assert.throws(() => selectKey(store, record.id.slice(0, 3)), /no such key/);
  assert.throws(() => selectKey(store, 'ffffffffffff'), /no such key/);
});

test('the first key is made once, with everything', async (context) => {
  const { store } = await openStore(context);
  const first = await bootstrapKey(store, 'given-first-key', 123_456);
  assert.equal(first?.record.rate, 123_456);
  assert.equal(first?.record.grants, GRANT_ALL);
  assert.equal(first?.record.plan, 'enterprise');
  assert.equal(await bootstrapKey(store, 'another-first-key', 1), null);
  assert.equal(listKeys(store).length, 1);
});

test('keys survive closing and opening', async (context) => {
  const varDir = newVarDir(context);
  const before = await Store.open(varDir);
  const { record } = await createKey(before, { plan: 'pro', account: 'acme' });
  await before.close();
  const after = await Store.open(varDir);
  context.after(() => after.close());
  assert.deepEqual(listKeys(after), [record]);
});
