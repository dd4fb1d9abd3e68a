/** A store in PostgreSQL whose connections are cut, or whose database has much to do. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { StoreFault } from '../../src/store/fault.js';
import { Store } from '../../src/store/store.js';
import { listUsage, UsageBook } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-meter.js';
import { CutProxy } from '../support/cut-proxy.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { newSchema, putThing as put, sql, terminate } from '../support/postgres.js';

const kindOf = (error: unknown): string =>
  error instanceof StoreFault ? error.kind : String(error);

test('connections cut in the midst of writes lose nothing and do nothing twice', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const stores = [
    await Store.open(newVarDir(context), schema),
    await Store.open(newVarDir(context), schema),
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
    for (let time = 0; time < 8; time += 1)
      cuts += Math.min(1, await terminate('write', schema.schema));
    while (cuts < 8) cuts += Math.min(1, await terminate('write', schema.schema));
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

test('commits that are cut before and behind their answer, with the next turn asked for', async (t) => {
  const schema = await newSchema(t);
  if (schema === null) return;
  const proxies = [await CutProxy.open(t, schema.schema), await CutProxy.open(t, schema.schema)];
  const stores = [
    await Store.open(newVarDir(t), { url: proxies[0]!.url }),
    await Store.open(newVarDir(t), { url: proxies[1]!.url }),
  ];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const outcomes = new Map<string, string>();
  let lost = 0;
  const client = async (index: number): Promise<void> => {
    for (let turn = 0; lost < 12; turn += 1) {
      const id = `${index}-${turn}`;
      outcomes.set(id, await put(stores[index % 2]!, id).then(() => 'stored', kindOf));
    }
  };
  const losing = (async () => {
    for (; lost < 12; lost += 1) {
      const proxy = proxies[lost % 2]!;
      proxy.lose = lost % 3 === 0 ? 'asked' : 'answered';
      await eventually(() => proxy.lose === null);
    }
  })();
  await Promise.all([losing, ...Array.from({ length: 24 }, (_, index) => client(index))]);
  await put(stores[0]!, 'last');
  const ids = new Set(stores[0]!.list(['thing']).map((record) => (record as { id: string }).id));
  for (const [id, outcome] of outcomes) {
    assert.ok(outcome === 'stored' || outcome === 'unreachable', outcome);
    assert.equal(ids.has(id), outcome === 'stored', `${id}: ${outcome}`);
  }
  assert.deepEqual(stores[0]!.get(['count', 'all']), { n: ids.size });
});

/** Number of the type `bytea[]`, which the client parses character by character. */
const BYTES_LIST: number = 1_001;

test('what others committed is read in parts, each of which is kept', async (t) => {
  const schema = await newSchema(t);
  if (schema === null) return;
  const changes = `"${schema.schema}".changes`;
  const parser = pg.types.getTypeParser(BYTES_LIST);
  let lists = 0;
  pg.types.setTypeParser(BYTES_LIST, () => (lists += 1));
  t.after(() => pg.types.setTypeParser(BYTES_LIST, parser));
  const proxy = await CutProxy.open(t, schema.schema);
  const away = await Store.open(newVarDir(t), { url: proxy.url });
  const other = await Store.open(newVarDir(t), schema);
  t.after(() => Promise.all([away.close(), other.close()]));
  await put(away, 'a');
  proxy.cut = true;
  proxy.close();
  for (let index = 0; index < 6; index += 1) {
    const record = { index, bytes: randomBytes(700_000) };
    await other.write(({ put: add }) => add(['thing', `large ${index}`], record));
  }
  await other.write(({ remove }) => remove(['thing', 'a']));
  await sql(`INSERT INTO ${changes}
    SELECT max(seq) + 1, gen_random_uuid(), now(), '{}', '{}' FROM ${changes}`);
  // A connection now passes a part of what is missing, and is cut.
  proxy.bytesMax = 5_000_000;
  proxy.cut = false;
  await eventually(() => away.list(['thing']).length === 6);
  assert.equal(away.get(['thing', 'a']), undefined);
  // More than a part is missing when the lock is taken.
  proxy.bytesMax = Infinity;
  await sql(`INSERT INTO ${changes}
    SELECT (SELECT max(seq) FROM ${changes}) + row_number() OVER (ORDER BY seq),
      gen_random_uuid(), now(), keys, contents
    FROM ${changes} WHERE pg_column_size(contents) > 600000`);
  await put(away, 'b');
  await eventually(() => other.get(['thing', 'b']) !== undefined);
  assert.deepEqual(away.list(['thing']), other.list(['thing']));
  assert.equal(away.list(['thing']).length, 7);
  assert.equal(lists, 0);
});

test('writes that take long are not all one commit', async (t) => {
  const schema = await newSchema(t);
  if (schema === null) return;
  const store = await Store.open(newVarDir(t), schema);
  t.after(() => store.close());
  const commits = async (): Promise<number> =>
    (await sql(`SELECT 1 FROM "${schema.schema}".changes`)).length;
  const before = await commits();
  const memory = new Int32Array(new SharedArrayBuffer(4));
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      store.write(({ put: add }) => {
        Atomics.wait(memory, 0, 0, 60);
        add(['thing', `${index}`], { index });
      }),
    ),
  );
  assert.equal(store.list(['thing']).length, 12);
  const made = (await commits()) - before;
  assert.ok(made >= 3 && made < 12, `${made} commits`);
});

test('a database that is slow is waited for, and a server that stood still asks anew', async (t) => {
  const schema = await newSchema(t);
  if (schema === null) return;
  const told: unknown[] = [];
  const store = await Store.open(newVarDir(t), {
    url: schema.url,
    failed: (error) => told.push(error),
  });
  t.after(() => store.close());
  // Longer than an answer is waited for of a database that says nothing at all.
  const busy = sql(`BEGIN; LOCK TABLE "${schema.schema}".records; SELECT pg_sleep(7); COMMIT`);
  await eventually(
    async () =>
      (
        await sql(
          `SELECT 1 FROM pg_locks WHERE relation = '"${schema.schema}".records'::regclass
      AND mode = 'AccessExclusiveLock'`,
        )
      ).length > 0,
  );
  await put(store, 'slow');
  await busy;
  // Longer than a database may be away before writes are refused at once.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_500);
  await put(store, 'after the stop');
  assert.equal(store.list(['thing']).length, 2);
  assert.deepEqual(told, []);
});

test('without the database reading goes on, writes are refused, usage is kept', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const proxy = await CutProxy.open(context, schema.schema);
  const told: unknown[] = [];
  const store = await Store.open(newVarDir(context), {
    url: proxy.url,
    failed: (error) => told.push(error),
  });
  context.after(() => store.close());
  await put(store, 'before');
  const usage = new UsageBook(store, { flushMs: 50 });
  context.after(() => usage.close());
  const key = {
    id: 'k',
    account: 'a',
    grants: 0,
    coreLimit: 0,
    geoLimit: 0,
    merchantLimit: 0,
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
