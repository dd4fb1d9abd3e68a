/**
 * Versions side by side on one PostgreSQL: what docs/fleet.md states of them. SITUS_TEST_BEFORE names
 * the folder of a compiled earlier version, whose processes then write beside those of this one.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { FORMAT_KEY, FORMAT_VERSION, parseKeyRecord } from '../../src/store/format.js';
import { createKey, updateKey } from '../../src/store/keys.js';
import { KeyCache } from '../../src/store/watched.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  dropSchemas,
  hasPostgres,
  newPrefix,
  newSchema,
  putThing as put,
  schemaOf,
  schemaUrl,
  sql,
} from '../support/postgres.js';

const HERE = packageRoot();
const BEFORE = resolve(process.env['SITUS_TEST_BEFORE'] ?? HERE);
const ROUNDS = 3;
/** Writes that a process is told of before it is killed. */
const TOLD = 150;

/** Runs a writer of a version until it has told of so much, and kills it; what it told of. */
async function written(root: string, varDir: string, name: string): Promise<readonly string[]> {
  const support = (file: string): string => `${root}/dist/test/support/${file}.js`;
  const child = spawn(
    process.execPath,
    [`--import=${support('on-postgres')}`, support('store-writer'), varDir, name],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  let said = '';
  for await (const piece of child.stdout) {
    said += String(piece);
    if (said.split('\n').length > TOLD) break;
  }
  child.kill('SIGKILL');
  await ended;
  return said.split('\n').slice(0, -1);
}

test('writers of two versions, killed again and again, lose nothing', async (context) => {
  if (!(await hasPostgres(context))) return;
  const prefix = newPrefix();
  process.env['SITUS_TEST_SCHEMAS'] = prefix;
  context.after(() => dropSchemas(prefix));
  const varDir = newVarDir(context);
  const schema = schemaOf(prefix, varDir);
  const url = schemaUrl(schema);
  await (await Store.open(varDir, { url })).close();
  const told: string[] = [];
  const writing = async (root: string, name: string): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      told.push(...(await written(root, varDir, `${name}${round}`)));
    }
  };
  await Promise.all([writing(BEFORE, 'before'), writing(HERE, 'here')]);
  const store = await Store.open(newVarDir(context), { url });
  context.after(() => store.close());
  const kept = new Set(store.list(['thing']).map((record) => (record as { id: string }).id));
  assert.ok(told.length >= 2 * ROUNDS * TOLD);
  assert.deepEqual(
    told.filter((id) => !kept.has(id)),
    [],
    'what was told is stored',
  );
  const [log] = await sql(
    `SELECT count(*) = max(seq) - min(seq) + 1 AS whole FROM "${schema}".changes`,
  );
  assert.equal(log?.['whole'], true, 'commits without a gap');
  // What the log adds up to is what there is.
  const [same] = await sql(`
    WITH each AS (
      SELECT c.seq, k.key, k.value FROM "${schema}".changes c,
        unnest(c.keys, c.contents) AS k (key, value)),
    last AS (SELECT DISTINCT ON (key) key, value FROM each ORDER BY key, seq DESC)
    SELECT count(*) AS n FROM last FULL JOIN "${schema}".records r USING (key)
      WHERE last.value IS DISTINCT FROM r.value AND last.key IS NOT NULL`);
  assert.equal(Number(same?.['n']), 0);
});

test('servers go on while a newer version renews the tables, if it leaves them readable', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const told: unknown[] = [];
  const open = (): Promise<Store> =>
    Store.open(newVarDir(context), {
      url: schema.url,
      failed: (error) => told.push(error),
    });
  const [one, other] = [await open(), await open()];
  context.after(() => Promise.all([one.close(), other.close()]));
  let renewed = false;
  let written = 0;
  const client = async (store: Store, name: string): Promise<void> => {
    for (let turn = 0; !renewed || turn < 30; turn += 1) {
      await put(store, `${name}-${turn}`);
      written += 1;
    }
  };
  const renewing = (async () => {
    await eventually(() => written > 20);
    const name = `"${schema.schema}"`;
    await sql(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('situs store ${schema.schema}', 0));
      ALTER TABLE ${name}.changes ADD COLUMN origin text NOT NULL DEFAULT '';
      ALTER TABLE ${name}.records ADD COLUMN stored timestamptz DEFAULT now();
      CREATE TABLE ${name}.more (id bigint PRIMARY KEY);
      UPDATE ${name}.meta SET value = '2' WHERE name = 'version'; COMMIT`);
    renewed = true;
  })();
  await Promise.all([renewing, client(one, 'one'), client(other, 'other')]);
  assert.deepEqual(told, []);
  const third = await open();
  context.after(() => third.close());
  await put(third, 'third');
  written += 1;
  for (const store of [one, other, third]) {
    await eventually(() => store.list(['thing']).length === written);
    assert.deepEqual(store.get(['count', 'all']), { n: written });
  }
});

test('nothing is written into tables that only newer versions know', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const told: unknown[] = [];
  const store = await Store.open(newVarDir(context), {
    url: schema.url,
    failed: (error) => told.push(error),
  });
  context.after(() => store.close());
  await put(store, 'before');
  const readable = (version: number): Promise<unknown> =>
    sql(`UPDATE "${schema.schema}".meta SET value = '${version}' WHERE name = 'readable'`);
  await readable(99);
  await assert.rejects(put(store, 'after'), /cannot be reached, or did not answer/);
  assert.match(String(told[0]), /a newer version of Situs made them/);
  assert.deepEqual(store.list(['thing']), [{ id: 'before' }]);
  await readable(1);
  await eventually(() =>
    put(store, 'again').then(
      () => true,
      () => false,
    ),
  );
});

test('members that a newer version adds are passed over, and lost where an older one writes', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const store = await Store.open(newVarDir(context), schema);
  context.after(() => store.close());
  const { text, record } = await createKey(store, { plan: 'pro' });
  const path = ['key', record.id];
  await store.write(({ put: add }) => add(path, { ...record, colour: 'blue' }));
  const keys = new KeyCache(store);
  assert.equal(keys.find(text)?.plan, 'pro');
  await updateKey(store, text, { rate: 7 });
  const after = store.get(path);
  assert.equal(parseKeyRecord(after).rate, 7);
  assert.ok(!Object.hasOwn(after as object, 'colour'));
});

test('what an older version cannot read stops its start, and not a server that runs', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const told: unknown[] = [];
  const store = await Store.open(newVarDir(context), {
    url: schema.url,
    failed: (error) => told.push(error),
  });
  context.after(() => store.close());
  const known = await createKey(store, { plan: 'pro' });
  const keys = new KeyCache(store);
  assert.equal(keys.find(known.text)?.plan, 'pro');
  await store.write(({ put: add }) => {
    add(['key', 'a'.repeat(64)], { ...known.record, v: 2, id: 'a'.repeat(64) });
  });
  await eventually(() => told.length > 0);
  assert.match(String(told[0]), /a key record of version 2: written by a newer version of Situs/);
  assert.equal(keys.find(known.text)?.plan, 'pro', 'goes on with what it knew');
  assert.throws(() => new KeyCache(store), /written by a newer version of Situs/);
  await store.write(({ remove }) => remove(['key', 'a'.repeat(64)]));
  // A format is raised by the first server that has it.
  const raised: unknown = FORMAT_VERSION + 1;
  await store.write(({ put: add }) => add(FORMAT_KEY, raised as object));
  await put(store, 'goes on');
  await assert.rejects(
    Store.open(newVarDir(context), schema),
    /has format 3, this version reads 2/,
  );
});
