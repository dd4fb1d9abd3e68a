/** Records that are read in pages, which end by bytes too. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyStore } from '../../src/store/copy.js';
import { gather } from '../../src/store/gather.js';
import { KekFile } from '../../src/store/kek-file.js';
import { databaseSource } from '../../src/store/postgres/whole-store.js';
import { PAGE_BYTES } from '../../src/store/root.js';
import { rotateKek } from '../../src/store/rotation.js';
import { Store } from '../../src/store/store.js';
import { openVault } from '../../src/store/vault.js';
import { newVarDir } from '../support/http-var-dir.js';
import { fileConfig } from '../support/kek-dir.js';
import { newSchema, sql } from '../support/postgres.js';

const PLACE = { account: 'a', merchant: '1', field: 'apiKey' } as const;

/** Stores two sealed texts, the first of which fills a page. */
async function fill(store: Store, varDir: string): Promise<void> {
  const vault = await openVault(fileConfig(varDir), store);
  for (const [id, length] of [
    ['0', PAGE_BYTES],
    ['1', 1],
  ] as const) {
    const record = { v: 1, id, sealed: vault.seal('x'.repeat(length), PLACE) };
    await store.write(({ put }) => put(['thing', id], record));
  }
}

test('large records are wrapped anew in several transactions', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  await fill(store, varDir);
  const steps: number[] = [];
  const actor = { kind: 'cli', uid: 7, user: 'someone' } as const;
  const file = KekFile.open(join(varDir, 'kek'), null);
  const { dropped } = await rotateKek(store, file, new Date(0), actor, {
    report: ({ done }) => steps.push(done),
    begun: () => undefined,
  });
  // The second one and the key of hashes.
  assert.deepEqual([dropped.length, steps], [1, [1, 3]]);
  assert.equal((await gather(store, ['thing'], (record) => record)).length, 2);
});

test('large records are copied page by page, and a replica is read so', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const from = newVarDir(context);
  const store = await Store.open(from, { url: null });
  await fill(store, from);
  const things = store.list(['thing']);
  await store.close();
  await copyStore(from, schema.url);
  // Each page was put by a statement of its own, which the database numbers.
  const puts = await sql(`SELECT DISTINCT cmin::text FROM "${schema.schema}".records`);
  assert.equal(puts.length, 2);
  const source = await databaseSource(schema.url);
  let pages = 0;
  for await (const _page of source.pages()) pages += 1;
  await source.close();
  assert.equal(pages, 2);
  const shared = await Store.open(newVarDir(context), schema);
  context.after(() => shared.close());
  assert.deepEqual(shared.list(['thing']), things);
});
