/** A store in PostgreSQL: cut connections, old replicas, tables of others, copies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFault } from '../../src/store/fault.js';
import { copyStore } from '../../src/store/copy.js';
import { createKey, listKeys } from '../../src/store/keys.js';
import { KeyCache } from '../../src/store/key-cache.js';
import { Store } from '../../src/store/store.js';
import { listUsage, UsageBook } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-meter.js';
import { openVault } from '../../src/store/vault.js';
import { CutProxy } from '../support/cut-proxy.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { newSchema, sql } from '../support/postgres.js';

/** Ends the connections of all nodes that are there for a use. */
async function terminate(use: string): Promise<number> {
  const ended = await sql(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
    [`situs ${use}`],
  );
  return ended.length;
}

const put = (store: Store, id: string): Promise<void> => store.write((transaction) => {
  const found = transaction.get(['count', 'all']) as { n: number } | undefined;
  transaction.put(['count', 'all'], { n: (found?.n ?? 0) + 1 });
  transaction.put(['thing', id], { id });
});

const kindOf = (error: unknown): string => (error instanceof StoreFault ? error.kind : String(error));

test('a key that one node makes or disables holds on the others', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const open = (): Promise<Store> => Store.open(newVarDir(context), schema);
  const [one, other] = [await open(), await open()];
  context.after(() => Promise.all([one.close(), other.close()]));
  const keys = new KeyCache(other);
  const { text } = await createKey(one, { plan: 'pro' });
  await eventually(() => keys.find(text) !== null);
  // With nobody to tell it, it asks; the connection that is told of changes is had anew.
  await terminate('follow');
  await createKey(one, { text: 'another-key-of-one', plan: 'pro' });
  await eventually(() => keys.find('another-key-of-one') !== null);
  await eventually(() => (other.age() ?? 0) < 1_000);
});

test('connections cut in the midst of writes lose nothing and do nothing twice', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const stores = [
    await Store.open(newVarDir(context), schema), await Store.open(newVarDir(context), schema),
  ];
  context.after(() => Promise.all(stores.map((store) => store.close())));
  const outcomes = new Map<string, string>();
  let cuts = 0;
  const client = async (index: number): Promise<void> => {
    for (let turn = 0; turn < 40 || cuts < 8; turn += 1) {
      const id = `${index}-${turn}`;
      outcomes.set(id, await put(stores[index % 2]!, id).then(() => 'stored', kindOf));
    }
  };
  const cutting = (async () => {
    for (let time = 0; time < 8; time += 1) cuts += Math.min(1, await terminate('write'));
    while (cuts < 8) cuts += Math.min(1, await terminate('write'));
  })();
  await Promise.all([cutting, ...Array.from({ length: 8 }, (_, index) => client(index))]);
  // A write sees everything before it, wherever it was written.
  await put(stores[0]!, 'last');
  const ids = new Set(stores[0]!.list(['thing']).map((record) => (record as { id: string }).id));
  for (const [id, outcome] of outcomes) {
    if (outcome === 'stored') assert.ok(ids.has(id), `${id} was acknowledged`);
    else assert.ok(outcome === 'unreachable' && !ids.has(id), `${id}: ${outcome}`);
  }
  assert.deepEqual(stores[0]!.get(['count', 'all']), { n: ids.size });
  await eventually(() => stores[1]!.list(['thing']).length === ids.size);
});

test('what becomes of a cut commit is found out', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const proxy = await CutProxy.open(context, schema.schema);
  const store = await Store.open(newVarDir(context), { url: proxy.url });
  context.after(() => store.close());
  proxy.lose = 'answered';
  await put(store, 'committed');
  assert.equal(proxy.lose, null);
  proxy.lose = 'asked';
  assert.equal(await put(store, 'never asked').then(() => 'stored', kindOf), 'unreachable');
  assert.deepEqual(store.list(['thing']), [{ id: 'committed' }]);
  assert.deepEqual(store.get(['count', 'all']), { n: 1 });
});

test('without the database reading goes on, writes are refused, usage is kept', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const proxy = await CutProxy.open(context, schema.schema);
  const told: unknown[] = [];
  const store = await Store.open(newVarDir(context), {
    url: proxy.url, failed: (error) => told.push(error),
  });
  context.after(() => store.close());
  await put(store, 'before');
  const usage = new UsageBook(store, { flushMs: 50 });
  context.after(() => usage.close());
  const key = {
    id: 'k', account: 'a', grants: 0, coreLimit: 0, geoLimit: 0, merchantLimit: 0,
  };
  proxy.cut = true;
  proxy.close();
  usage.settle(usage.admit(key, false)!, true, false);
  assert.equal(await put(store, 'while away').then(() => 'stored', kindOf), 'unreachable');
  assert.deepEqual(store.list(['thing']), [{ id: 'before' }]);
  assert.ok((store.age() ?? 0) > 1_000);
  assert.ok(told.length > 0 && told.length < 10, `told ${told.length} times`);
  // Nothing waits in vain once it has been away so long.
  await eventually(() => (store.age() ?? 0) > 8_000);
  await assert.rejects(put(store, 'still away'), StoreFault);
  proxy.cut = false;
  await eventually(() => (store.age() ?? 0) < 1_000);
  await put(store, 'after');
  assert.equal(store.list(['thing']).length, 2);
  await eventually(() => listUsage(store, monthAt(Date.now()).name)[0]?.core === 1);
});

test('a node that was away goes on where it was, or reads everything anew', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const varDir = newVarDir(context);
  const first = await Store.open(varDir, schema);
  await put(first, 'a');
  await first.close();
  const other = await Store.open(newVarDir(context), schema);
  context.after(() => other.close());
  await put(other, 'b');
  const second = await Store.open(varDir, schema);
  await eventually(() => second.list(['thing']).length === 2);
  await second.close();
  await put(other, 'c');
  await other.write(({ remove }) => remove(['thing', 'a']));
  await sql(`DELETE FROM "${schema.schema}".changes
    WHERE seq < (SELECT max(seq) FROM "${schema.schema}".changes)`);
  const third = await Store.open(varDir, schema);
  context.after(() => third.close());
  const ids = (): unknown => third.list(['thing']).map((record) => (record as { id: string }).id);
  await eventually(() => String(ids()) === 'b,c');
  await put(third, 'd');
  await eventually(() => other.get(['thing', 'd']) !== undefined);
  assert.deepEqual(third.get(['count', 'all']), { n: 4 });
});

test('a store that was put back to an earlier state is read anew', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const store = await Store.open(newVarDir(context), schema);
  context.after(() => store.close());
  await put(store, 'a');
  await put(store, 'b');
  const name = `"${schema.schema}"`;
  await sql(`DELETE FROM ${name}.records WHERE key = convert_to(E'thing\\001b', 'UTF8');
    DELETE FROM ${name}.records WHERE encode(key, 'escape') = 'thing\\000b';
    DELETE FROM ${name}.changes WHERE seq = (SELECT max(seq) FROM ${name}.changes)`);
  await eventually(() => store.list(['thing']).length === 1);
  await put(store, 'c');
  assert.deepEqual(store.list(['thing']), [{ id: 'a' }, { id: 'c' }]);
});

test('tables of a newer program are refused, unless it says that older ones may', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const varDir = newVarDir(context);
  await (await Store.open(varDir, schema)).close();
  const set = (name: string, value: number): Promise<unknown> =>
    sql(`UPDATE "${schema.schema}".meta SET value = '${value}' WHERE name = '${name}'`);
  await set('version', 99);
  await (await Store.open(varDir, schema)).close();
  await set('readable', 99);
  await assert.rejects(Store.open(varDir, schema), /a newer version of Situs made them/);
});

test('a key-encryption key that is not that of the other nodes is refused', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const dirs = [newVarDir(context), newVarDir(context)];
  const stores = [await Store.open(dirs[0]!, schema), await Store.open(dirs[1]!, schema)];
  context.after(() => Promise.all(stores.map((store) => store.close())));
  const config = (fill: number): Parameters<typeof openVault>[0] => ({
    varDir: dirs[0]!, kekFile: null, kek: Buffer.alloc(32, fill), kekPrevious: [],
  });
  await openVault(config(1), stores[0]!);
  await eventually(() => stores[1]!.get(['vault', 'index']) !== undefined);
  await assert.rejects(openVault(config(2), stores[1]!), /sealed with the key-encryption key/);
  await openVault(config(1), stores[1]!);
});

test('an address never shows its password', async (context) => {
  const wrong = 'postgres://someone:tell-nobody@127.0.0.1:1/test';
  await assert.rejects(Store.open(newVarDir(context), { url: wrong }), (error) => {
    assert.ok(error instanceof Error);
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes('tell-nobody'));
    return /127\.0\.0\.1:1/.test(error.message);
  });
  await assert.rejects(Store.open(newVarDir(context), { url: 'postgres://tell-nobody' }), (error) =>
    error instanceof Error && !error.message.includes('tell-nobody'));
});

test('a store is copied into a database and back, whole, and over none', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const [from, back] = [newVarDir(context), newVarDir(context)];
  const store = await Store.open(from, { url: null });
  await createKey(store, { text: 'a-key-that-is-copied', plan: 'pro' });
  await store.write(({ put: add }) => {
    for (let index = 0; index < 1_500; index += 1) add(['thing', `${index}\0`], { index });
  });
  const entries = store.entries();
  await assert.rejects(copyStore(`lmdb:${newVarDir(context)}`, schema.url), /there is no store in/);
  await store.close();
  const copied = await copyStore(`lmdb:${from}`, schema.url);
  assert.equal(copied.records, entries);
  await assert.rejects(copyStore(from, schema.url), /holds records/);
  assert.deepEqual(await copyStore(schema.url, back), copied);
  await assert.rejects(copyStore(schema.url, back), /holds records/);
  const again = await Store.open(back, { url: null });
  assert.deepEqual([again.entries(), listKeys(again).length], [entries, 1]);
  await again.close();
  const shared = await Store.open(newVarDir(context), schema);
  assert.deepEqual([shared.entries(), listKeys(shared).length], [entries, 1]);
  await shared.close();
});
