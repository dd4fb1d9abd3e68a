/** Jobs of a fleet on one database: the node that has one is killed, another comes to its end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
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
  start(more?: string): Promise<FleetNode>;
}

/** What one machine writes for these rows. */
async function aloneOf(fleet: FilesFleet, body: string): Promise<string> {
  const out = join(fleet.dir, 'alone.csv');
  const driven = fleet.drive([fleet.file('rows.csv', body), '-o', out]);
  assert.equal(await driven.ended, 3, driven.err());
  return readFileSync(out, 'utf8');
}

async function jobs(context: TestContext): Promise<Jobs | null> {
  const fleet = await filesFleet(context);
  if (fleet === null || !(await hasPostgres(context))) return null;
  const prefix = newPrefix();
  context.after(() => dropSchemas(prefix));
  const body = table(ROWS);
  const kek = randomBytes(32).toString('base64');
  return {
    fleet,
    body,
    alone: await aloneOf(fleet, body),
    start: (more = '') => {
      const { varDir, remove } = buildRecipe('fixture');
      context.after(remove);
      return startNode(context, {
        SITUS_VAR: varDir,
        SITUS_STORE: schemaUrl(`${prefix}fleet`),
        SITUS_KEK: kek,
        SITUS_FLEET: `${fleet.url}?rows=256${more}`,
      });
    },
  };
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

test('a job outlives the node that has it, with the same bytes and its rows counted once', async (context) => {
  const it = await jobs(context);
  if (it === null) return;
  const [own, other] = [await it.start(), await it.start()];
  await eventually(async () => (await it.fleet.broker.nodes('')).length === 2);
  const path = await made(own, it.body);
  await eventually(async () => {
    const { state, rows } = await jobOf(own, path);
    assert.ok(state === 'queued' || state === 'running', state);
    return rows.done > 0;
  });
  await own.end('SIGKILL');
  assert.equal((await jobOf(other, path)).state, 'running', 'it had not ended before');
  await done(other, path);
  const result = async (node: FleetNode): Promise<Response> =>
    fetch(`${node.url}${path}/result`, { headers: KEY });
  assert.ok((await (await result(other)).text()) === it.alone);
  const once = await counted(other);
  // What it would have counted without a kill: the same rows once more, undisturbed.
  const again = await made(other, it.body);
  await done(other, again);
  assert.equal(await counted(other), 2 * once);
  assert.ok(once > 0);
  // Its result outlives the second node too, and nothing of it stays once it is removed.
  const third = await it.start();
  await other.end('SIGKILL');
  const ranged = await fetch(`${third.url}${path}/result`, {
    headers: { ...KEY, Range: 'bytes=3-9' },
  });
  assert.equal(await ranged.text(), it.alone.slice(3, 10));
  assert.ok((await (await result(third)).text()) === it.alone);
  for (const each of [path, again]) {
    const removed = await fetch(`${third.url}${each}`, { method: 'DELETE', headers: KEY });
    assert.equal(removed.status, 204);
  }
  await eventually(async () => (await it.fleet.kept()) === 0);
});

test('a job that is larger than what is kept waits for its node, and its result is there', async (context) => {
  const it = await jobs(context);
  if (it === null) return;
  const [own, other] = [await it.start('&kept=0'), await it.start('&kept=0')];
  const path = await made(own, it.body);
  await done(own, path);
  const there = await fetch(`${other.url}${path}/result`, { headers: KEY });
  assert.equal(there.status, 503);
  assert.match(await there.text(), /lies with another server/);
  assert.ok(
    (await (await fetch(`${own.url}${path}/result`, { headers: KEY })).text()) === it.alone,
  );
});

test('rows that a node answers itself are not sent to the broker', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const body = table(ROWS);
  const alone = await aloneOf(fleet, body);
  const own = await fleet.node({ SITUS_FLEET: `${fleet.url}?rows=256` });
  const [, manager] = await fleet.own.connected();
  const sent = async (): Promise<number> =>
    (await manager.streams.info('tried-files')).state.last_seq;
  const answered = async (): Promise<void> => {
    const headers = { ...KEY, 'Content-Type': 'text/csv' };
    const made = await fetch(`${own.url}/bulk/jobs?kind=lookup`, { method: 'POST', headers, body });
    assert.equal(made.status, 202, await made.text());
    const asked = (path = ''): Promise<Response> =>
      fetch(`${own.url}${made.headers.get('location')}${path}`, { headers: KEY });
    await eventually(
      async () => ((await (await asked()).json()) as Job).state === 'done',
      TAKEN_MS,
    );
    assert.ok((await (await asked('/result')).text()) === alone);
  };
  await eventually(async () => (await fleet.broker.nodes('')).length === 1);
  await answered();
  assert.equal(await sent(), 0);
  await fleet.node();
  await eventually(async () => (await fleet.broker.nodes('')).length === 2);
  await answered();
  assert.ok(
    (await sent()) > 0 && (await sent()) * 256 < ROWS,
    `${await sent()} chunks of 256 rows were sent`,
  );
});
