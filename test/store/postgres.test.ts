/** A store in PostgreSQL: old replicas, tables of others, copies. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { copyStore } from '../../src/store/copy.js';
import { createKey, listKeys } from '../../src/store/keys.js';
import { KeyCache } from '../../src/store/watched.js';
import { Membership } from '../../src/store/membership.js';
import { Store } from '../../src/store/store.js';
import { openVault, parseSealed, type Vault } from '../../src/store/vault.js';
import { CLI } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { fileConfig } from '../support/kek-dir.js';
import { newSchema, putThing as put, sql, terminate } from '../support/postgres.js';

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
  await terminate('follow', schema.schema);
  await createKey(one, { text: 'another-key-of-one', plan: 'pro' });
  await eventually(() => keys.find('another-key-of-one') !== null);
  await eventually(() => (other.age() ?? 0) < 1_000);
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
    varDir: dirs[0]!,
    kekFile: null,
    kek: Buffer.alloc(32, fill),
    kekPrevious: [],
  });
  await openVault(config(1), stores[0]!);
  await eventually(() => stores[1]!.get(['vault', 'index']) !== undefined);
  await assert.rejects(openVault(config(2), stores[1]!), /sealed with the key-encryption key/);
  await openVault(config(1), stores[1]!);
});

test('a key that other machines still seal with is dropped once they have the new one', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const [here, there] = [newVarDir(context), newVarDir(context)];
  const open = async (varDir: string): Promise<readonly [Store, Vault]> => {
    const store = await Store.open(varDir, schema);
    context.after(() => store.close());
    return [store, await openVault(fileConfig(varDir), store)];
  };
  const copyFile = (): void => copyFileSync(join(here, 'kek'), join(there, 'kek'));
  const keys = (): number =>
    (JSON.parse(readFileSync(join(here, 'kek'), 'utf8')) as { keys: [] }).keys.length;
  const rotate = async (): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [CLI, 'secrets', 'rotate'],
      {
        env: { ...process.env, SITUS_VAR: here, SITUS_STORE: schema.url },
      },
    );
    return stderr + stdout;
  };
  const [store] = await open(here);
  copyFile();
  const [other, vault] = await open(there);
  const member = await Membership.join(other, { place: 'there' });
  const place = { account: 'a', merchant: '1', field: 'apiKey' } as const;
  assert.match(await rotate(), /copy .*kek to them, then run this again/);
  // The other machine has the old key alone, and is given the new file over it.
  await other.write(({ put: add }) => add(['late'], { v: 1, sealed: vault.seal('late', place) }));
  copyFile();
  const opened = async (): Promise<string> => {
    const record = store.get(['late']) as { sealed: unknown };
    return (await openVault(fileConfig(there), other)).open(parseSealed(record.sealed), place);
  };
  await eventually(() => store.get(['late']) !== undefined);
  assert.equal(await opened(), 'late');
  assert.equal(keys(), 2);
  await rotate();
  assert.equal(keys(), 1);
  copyFile();
  await eventually(async () => (await opened().catch(String)) === 'late');
  await member.leave();
});

test('an address never shows its password', async (context) => {
  const wrong = 'postgres://someone:tell-nobody@127.0.0.1:1/test';
  await assert.rejects(Store.open(newVarDir(context), { url: wrong }), (error) => {
    assert.ok(error instanceof Error);
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes('tell-nobody'));
    return /127\.0\.0\.1:1/.test(error.message);
  });
  await assert.rejects(
    Store.open(newVarDir(context), { url: 'postgres://tell-nobody' }),
    (error) => error instanceof Error && !error.message.includes('tell-nobody'),
  );
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

test('a copy of a database that servers go on writing is of one moment', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const stores = [
    await Store.open(newVarDir(context), schema),
    await Store.open(newVarDir(context), schema),
  ];
  context.after(() => Promise.all(stores.map((store) => store.close())));
  let copied = false;
  const client = async (index: number): Promise<void> => {
    for (let turn = 0; !copied; turn += 1) await put(stores[index % 2]!, `${index}-${turn}`);
  };
  const copying = (async () => {
    for (const { length } of [[0], [0, 0]]) {
      await eventually(() => stores[0]!.list(['thing']).length > 30 * length);
      const back = newVarDir(context);
      await copyStore(schema.url, back);
      const copy = await Store.open(back, { url: null });
      const things = copy.list(['thing']).length;
      assert.ok(things > 30 * length);
      // Each write counts itself: a copy between two halves of one would be told by that.
      assert.deepEqual(copy.get(['count', 'all']), { n: things });
      await copy.close();
    }
    copied = true;
  })();
  await Promise.all([copying, ...Array.from({ length: 8 }, (_, index) => client(index))]);
});
