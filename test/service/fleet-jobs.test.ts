/** Jobs of a fleet on one database: the node that has one is killed, another comes to its end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { after, test, type TestContext } from 'node:test';
import { startNode, type FleetNode } from '../support/fleet-nodes.js';
import { filesFleet, table, type FilesFleet } from '../support/files-fleet.js';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { dropSchemas, hasPostgres, newPrefix, schemaUrl } from '../support/postgres.js';

const ROWS = 12_000;
const KEY = { 'X-API-KEY': 'a-key-for-nodes-of-a-fleet' };
/** A node that was killed is known to be gone after some ten seconds; then its job begins anew. */
const TAKEN_MS = 90_000;

interface Job {
  readonly state: string;
  readonly rows: { readonly done: number };
  readonly reason: string | null;
}

interface Jobs {
  readonly fleet: FilesFleet;
  /** What one machine writes for the same rows. */
  readonly alone: string;
  readonly body: string;
  /** Starts a node, on the database of all where there is one. */
  start(more?: string): Promise<FleetNode>;
}

/** What one machine writes for these rows. */
async function aloneOf(fleet: FilesFleet, body: string): Promise<string> {
  const out = join(fleet.dir, 'alone.csv');
  const { code, err } = await fleet.run(['bulk', fleet.file('rows.csv', body), '-o', out]);
  assert.equal(code, 3, err);
  return readFileSync(out, 'utf8');
}

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

let shared: Jobs | null = null;
/** Those that run now; a test finds what the one before left. */
let nodes: readonly FleetNode[] = [];

/** The broker and the database of all tests; null where there is no broker, and the test is skipped. */
async function jobs(context: TestContext): Promise<Jobs | null> {
  if (shared !== null) return shared;
  const ending = { after: (end: () => unknown) => ends.push(end) };
  const fleet = await filesFleet({ ...ending, skip: (why) => context.skip(why) });
  if (fleet === null) return null;
  const hasStore = await hasPostgres({ skip: () => undefined });
  const prefix = newPrefix();
  if (hasStore) ends.push(() => dropSchemas(prefix));
  const body = table(ROWS);
  const kek = randomBytes(32).toString('base64');
  shared = {
    fleet,
    body,
    alone: await aloneOf(fleet, body),
    start: (more = '') => {
      const { varDir, remove } = buildRecipe('fixture');
      ends.push(remove);
      return startNode(ending, {
        SITUS_VAR: varDir,
        SITUS_FLEET: `${fleet.url}?rows=256${more}`,
        ...(hasStore ? { SITUS_STORE: schemaUrl(`${prefix}fleet`), SITUS_KEK: kek } : {}),
      });
    },
  };
  return shared;
}

/** So many nodes of one database, some of which may be those of an earlier test; null where it is skipped. */
async function sharing(context: TestContext, count: number): Promise<Jobs | null> {
  const it = await jobs(context);
  if (it === null || !(await hasPostgres(context))) return null;
  await running(it, count);
  return it;
}

/** Starts what lacks of so many nodes, and waits until the broker knows of all. */
async function running({ fleet, start }: Jobs, count: number): Promise<void> {
  while (nodes.length < count) nodes = [...nodes, await start()];
  await eventually(async () => (await fleet.broker.nodes('')).length === count);
}

async function end(node: FleetNode): Promise<void> {
  nodes = nodes.filter((each) => each !== node);
  await node.end('SIGKILL');
}

async function made({ url }: FleetNode, body: string): Promise<string> {
  const answer = await fetch(`${url}/bulk/jobs?kind=lookup`, {
    method: 'POST',
    headers: { ...KEY, 'Content-Type': 'text/csv' },
    body,
  });
  assert.equal(answer.status, 202, await answer.text());
  return answer.headers.get('location') ?? '';
}

async function jobOf({ url }: FleetNode, path: string): Promise<Job> {
  return (await (await fetch(`${url}${path}`, { headers: KEY })).json()) as Job;
}

async function done(node: FleetNode, path: string): Promise<void> {
  await eventually(
    async () => !['queued', 'running'].includes((await jobOf(node, path)).state),
    TAKEN_MS,
  );
  const { state, reason } = await jobOf(node, path);
  assert.equal(state, 'done', reason ?? '');
}

async function resultOf({ url }: FleetNode, path: string): Promise<string> {
  return (await fetch(`${url}${path}/result`, { headers: KEY })).text();
}

async function removed({ url }: FleetNode, path: string): Promise<void> {
  const { status } = await fetch(`${url}${path}`, { method: 'DELETE', headers: KEY });
  assert.equal(status, 204);
}

/** What of a server's counts others may not know yet. */
const COUNTED_MS = 2_000;

/** Lookups that were counted so far. */
async function counted({ url }: FleetNode): Promise<number> {
  await delay(COUNTED_MS);
  const answer = (await (await fetch(`${url}/account/v60/metrics`, { headers: KEY })).json()) as {
    readonly request_count: number;
  };
  return answer.request_count;
}

test('rows that a node answers itself are not sent to the broker', async (context) => {
  const it = await jobs(context);
  if (it === null) return;
  const [, manager] = await it.fleet.own.connected();
  const sent = async (): Promise<number> =>
    (await manager.streams.info('tried-files')).state.last_seq;
  const answered = async (): Promise<void> => {
    const [own] = nodes;
    const path = await made(own!, it.body);
    await done(own!, path);
    assert.ok((await resultOf(own!, path)) === it.alone);
    await removed(own!, path);
  };
  await running(it, 1);
  await answered();
  assert.equal(await sent(), 0);
  await running(it, 2);
  await answered();
  assert.ok(
    (await sent()) > 0 && (await sent()) * 256 < ROWS,
    `${await sent()} chunks of 256 rows were sent`,
  );
});

test('a job outlives the node that has it, with the same bytes and its rows counted once', async (context) => {
  const it = await sharing(context, 2);
  if (it === null) return;
  const [own, other] = nodes as [FleetNode, FleetNode];
  const before = await counted(other);
  const path = await made(own, it.body);
  await eventually(async () => {
    const { state, rows } = await jobOf(own, path);
    assert.ok(state === 'queued' || state === 'running', state);
    return rows.done > 0;
  });
  await end(own);
  assert.equal((await jobOf(other, path)).state, 'running', 'it had not ended before');
  await done(other, path);
  assert.ok((await resultOf(other, path)) === it.alone);
  const once = (await counted(other)) - before;
  // What it would have counted without a kill: the same rows once more, undisturbed.
  const again = await made(other, it.body);
  await done(other, again);
  assert.equal((await counted(other)) - before, 2 * once);
  assert.ok(once > 0);
  // Its result outlives the second node too, and nothing of it stays once it is removed.
  const third = await it.start();
  nodes = [...nodes, third];
  await end(other);
  const ranged = await fetch(`${third.url}${path}/result`, {
    headers: { ...KEY, Range: 'bytes=3-9' },
  });
  assert.equal(await ranged.text(), it.alone.slice(3, 10));
  assert.ok((await resultOf(third, path)) === it.alone);
  for (const each of [path, again]) await removed(third, each);
  await eventually(async () => (await it.fleet.kept()) === 0);
});

test('a job that is larger than what is kept waits for its node, and its result is there', async (context) => {
  const it = await sharing(context, 1);
  if (it === null) return;
  const [other] = nodes as [FleetNode];
  const own = await it.start('&kept=0');
  const path = await made(own, it.body);
  await done(own, path);
  const there = await fetch(`${other.url}${path}/result`, { headers: KEY });
  assert.equal(there.status, 503);
  assert.match(await there.text(), /lies with another server/);
  assert.ok((await resultOf(own, path)) === it.alone);
});
