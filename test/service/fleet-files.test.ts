/** Files over a fleet: the bytes of one machine, whoever takes the chunks and whoever goes away. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { QueuedMessage } from '../../src/bulk/fleet/chunk-messages.js';
import {
  filesFleet,
  midst,
  table,
  type FilesFleet,
  type FilesNode,
} from '../support/files-fleet.js';
import { freePort } from '../support/free-port.js';
import { eventually } from '../support/http-eventually.js';
import { CHUNKS, chunksOf, FILES, unnamed } from './fleet-bodies.js';

/** 32 chunks: twice what a driver has under way, so that it is in the midst for long enough. */
const ROWS = 8_000;
/** What a killed node had in hand comes back after its time, and the machine may be busy. */
const JOB_MS = 300_000;

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

let shared: FilesFleet | null = null;
/** Those that run now; a test finds what the one before left. */
let nodes: readonly FilesNode[] = [];

/** A test with the broker of all tests: a fleet for each would take most of their time. */
function over(name: string, holds: (fleet: FilesFleet) => Promise<void>): void {
  test(name, async (context) => {
    shared ??= await filesFleet({
      after: (end: () => unknown) => ends.push(end),
      skip: (why) => context.skip(why),
    });
    if (shared !== null) await holds(shared);
  });
}

/** So many nodes, some of which may be those of an earlier test; each divides jobs and has metrics. */
async function nodesOf({ node, url }: FilesFleet, count: number): Promise<readonly FilesNode[]> {
  for (const each of nodes.slice(count)) await leave(each, 'SIGTERM');
  const more = Array.from({ length: count - nodes.length }, async () =>
    node({ SITUS_FLEET: `${url}?rows=256`, SITUS_METRICS: `127.0.0.1:${await freePort()}` }),
  );
  nodes = [...nodes, ...(await Promise.all(more))];
  return nodes;
}

async function leave(node: FilesNode, signal: NodeJS.Signals): Promise<void> {
  nodes = nodes.filter((each) => each !== node);
  await node.end(signal);
}

async function metricsOf({ env }: FilesNode): Promise<string> {
  return (await fetch(`http://${env['SITUS_METRICS']}/metrics`)).text();
}

/** Runs a command line here and returns what it wrote. */
async function here(fleet: FilesFleet, args: readonly string[], out: string): Promise<string> {
  const { code, err } = await fleet.run(['bulk', ...args, '-o', out]);
  assert.equal(code, 3, err);
  return readFileSync(out, 'utf8');
}

let wholeAlone: string | null = null;

/** What this machine alone writes of the file that most tests have; the same for each of them. */
async function aloneOf(fleet: FilesFleet, input: string): Promise<string> {
  wholeAlone ??= await here(fleet, [input], join(fleet.dir, 'alone.csv'));
  return wholeAlone;
}

async function filesState(node: FilesNode): Promise<unknown> {
  return ((await node.health()) as { files?: string }).files;
}

async function chunksDone(node: FilesNode): Promise<number> {
  return chunksOf(await metricsOf(node), 'done');
}

over('a fleet that cannot answer says what its nodes have', async (fleet) => {
  const input = fleet.file('rows.csv', table(10));
  const asked = ['bulk', input, '--fleet', `${fleet.url}?wait=1`];
  const alone = await fleet.run(asked);
  assert.equal(alone.code, 1);
  assert.match(alone.err, /no node takes chunks of files at nats:\/\/127\.0\.0\.1:\d+\/tried$/m);
  await nodesOf(fleet, 1);
  // It is waited for no longer than asked, and answers no sooner than it is at the broker.
  await eventually(async () => (await fleet.broker.nodes('')).length === 1);
  const unknown = await fleet.run([...asked, '--dataset', '2020-01-01-0123456789ab']);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /no node at .* has the dataset 2020-01-01-0123456789ab \(\S+: 2026-/);
  const away = await fleet.run(['bulk', input, '--fleet', 'nats://127.0.0.1:1/tried']);
  assert.equal(away.code, 1);
  assert.match(away.err, /nats:\/\/127\.0\.0\.1:1\/tried cannot be reached/);
  const wrong = await fleet.run(['bulk', input, '--fleet', 'nats://127.0.0.1:1/tried?row=1']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--fleet knows no "row"; there are: creds, replicas, rows, wait/);
});

over('what a node does with chunks is told by metrics, health and doctor', async (fleet) => {
  const [node] = await nodesOf(fleet, 1);
  const input = fleet.file('rows.csv', table(1_000));
  await here(fleet, [input, '--fleet', `${fleet.url}?rows=256`], join(fleet.dir, 'told.csv'));
  const told = await metricsOf(node!);
  assert.match(told, /^situs_files_broker_reached 1$/m);
  assert.match(told, /^situs_files_chunks_open 0$/m);
  const of = (result: string): number => chunksOf(told, result);
  assert.ok(of('done') >= 4 && of('taken') === of('done'), told);
  assert.deepEqual([of('returned'), of('refused')], [0, 0]);
  assert.equal(await filesState(node!), 'ok');
  const env = { SITUS_FLEET: fleet.url };
  assert.match((await fleet.run(['doctor'], env)).out, /^ok +files +\S+ take chunks at nats:/m);
  await fleet.own.stop();
  await eventually(async () => (await filesState(node!)) === 'connection_error');
  assert.equal(await node!.ready(), '200');
  assert.match(
    (await fleet.run(['doctor'], env)).out,
    /^warning +files .* cannot be reached: .*; no chunks of files are taken$/m,
  );
  fleet.own.start();
  await eventually(async () => (await filesState(node!)) === 'ok');
});

over(
  'lookups and carts in tables and lines are the bytes of one machine, whatever a chunk is',
  async (fleet) => {
    await nodesOf(fleet, 2);
    for (const [name, body, ...more] of FILES) {
      const args = [fleet.file(name, body), ...more];
      const alone = await here(fleet, args, join(fleet.dir, `${name}.alone`));
      for (const rows of CHUNKS[name] ?? [600]) {
        const among = await here(
          fleet,
          [...args, '--fleet', `${fleet.url}?rows=${rows}`],
          join(fleet.dir, `${name}.${rows}`),
        );
        assert.ok(unnamed(among) === unnamed(alone), `${name} in chunks of ${rows}`);
      }
    }
    assert.deepEqual(await fleet.left(), [0, 0]);
  },
);

const KEY = { 'X-API-KEY': 'a-key-for-nodes-of-a-fleet' };

interface Job {
  readonly state: string;
  readonly rows: { readonly done: number };
  readonly reason: string | null;
}

over(
  'a job of a node is answered by the others too, and by itself when these are killed',
  async (fleet) => {
    const body = table(ROWS);
    const alone = await aloneOf(fleet, fleet.file('rows.csv', body));
    const [other, own] = await nodesOf(fleet, 2);
    await eventually(async () => (await fleet.broker.nodes('')).length === 2);
    const before = await chunksDone(other!);
    const made = await fetch(`${own!.url}/bulk/jobs?kind=lookup`, {
      method: 'POST',
      headers: { ...KEY, 'Content-Type': 'text/csv' },
      body,
    });
    assert.equal(made.status, 202, await made.text());
    const href = `${own!.url}${made.headers.get('location')}`;
    const job = async (): Promise<Job> =>
      (await fetch(href, { headers: KEY })).json() as Promise<Job>;
    await eventually(async () => {
      const { state } = await job();
      assert.ok(state === 'queued' || state === 'running', state);
      return (await chunksDone(other!)) > before;
    });
    await leave(other!, 'SIGKILL');
    assert.equal((await job()).state, 'running', 'it had not ended before');
    await eventually(async () => !['queued', 'running'].includes((await job()).state), JOB_MS);
    assert.equal((await job()).state, 'done', (await job()).reason ?? '');
    assert.ok((await (await fetch(`${href}/result`, { headers: KEY })).text()) === alone);
    await eventually(async () => (await fleet.left()).every((count) => count === 0));
  },
);

/** Ends the only node in the midst of a file. What is returned starts another and asserts the output. */
async function endedInTheMidst(
  fleet: FilesFleet,
  signal: NodeJS.Signals,
  start: () => Promise<readonly FilesNode[]>,
): Promise<() => Promise<void>> {
  const input = fleet.file('rows.csv', table(ROWS));
  const alone = await aloneOf(fleet, input);
  const [first] = await start();
  const out = join(fleet.dir, `${signal}.csv`);
  const driven = fleet.drive([input, '-o', out, '--fleet', `${fleet.url}?rows=256`]);
  await midst(fleet, driven, out);
  await leave(first!, signal);
  return async () => {
    await start();
    assert.equal(await driven.ended, 3, driven.err());
    assert.ok(readFileSync(out, 'utf8') === alone);
  };
}

// What a killed node had in hand comes back after its time, so this has a fleet of its own.
test('chunks of a node that was killed are taken by another', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const finish = await endedInTheMidst(fleet, 'SIGKILL', async () => [await fleet.node()]);
  assert.ok((await fleet.broker.state(fleet.built.name)).inHand > 0, 'it had chunks in hand');
  await finish();
  assert.deepEqual(await fleet.left(), [0, 0]);
});

over('a node that leaves hands back what it has', async (fleet) => {
  const finish = await endedInTheMidst(fleet, 'SIGTERM', () => nodesOf(fleet, 1));
  // What was handed back counts as in hand until it is given out again: so all of it is taken.
  const [queued] = await fleet.left();
  const taken: QueuedMessage[] = [];
  const pull = fleet.broker.pull((message) => taken.push(message));
  await pull.pull(fleet.built.name, queued, 2_000);
  assert.ok(queued > 0);
  assert.equal(taken.length, queued, 'nobody waits for what it had');
  for (const message of taken) message.giveBack(0);
  await pull.close();
  await finish();
});

over('a node that is told to stop in the midst of a job goes on with it later', async (fleet) => {
  const body = table(ROWS);
  const alone = await aloneOf(fleet, fleet.file('rows.csv', body));
  const [first] = await nodesOf(fleet, 1);
  const made = await fetch(`${first!.url}/bulk/jobs?kind=lookup`, {
    method: 'POST',
    headers: { ...KEY, 'Content-Type': 'text/csv' },
    body,
  });
  const path = made.headers.get('location');
  const job = async (url: string): Promise<Job> =>
    (await fetch(`${url}${path}`, { headers: KEY })).json() as Promise<Job>;
  await eventually(async () => (await job(first!.url)).rows.done > 0);
  await leave(first!, 'SIGTERM');
  assert.deepEqual(await fleet.left(), [0, 0]);
  // What answers then is this machine alone: its broker is away.
  await fleet.own.stop();
  const second = await fleet.node(first!.env);
  nodes = [second];
  await eventually(async () => (await job(second.url)).state === 'done', JOB_MS);
  const result = await fetch(`${second.url}${path}/result`, { headers: KEY });
  assert.ok((await result.text()) === alone);
  fleet.own.start();
  await eventually(async () => (await filesState(second)) === 'ok');
});

over(
  'an interrupted driver leaves nothing at the broker, and goes on as one that was killed does',
  async (fleet) => {
    const input = fleet.file('rows.csv', table(ROWS));
    const alone = await aloneOf(fleet, input);
    await nodesOf(fleet, 1);
    const out = join(fleet.dir, 'interrupted.csv');
    const args = [input, '-o', out, '--fleet', `${fleet.url}?rows=256`];
    const interrupted = fleet.drive(args);
    await midst(fleet, interrupted, out);
    interrupted.child.kill('SIGINT');
    assert.equal(await interrupted.ended, 130, interrupted.err());
    assert.match(interrupted.err(), /interrupted after \d+ rows; go on with --resume/);
    assert.deepEqual(await fleet.left(), [0, 0]);
    assert.ok(!existsSync(out));
    const killed = fleet.drive([...args, '--resume']);
    await midst(fleet, killed, out);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const last = fleet.drive([...args, '--resume']);
    assert.equal(await last.ended, 3, last.err());
    assert.ok(readFileSync(out, 'utf8') === alone);
  },
);

// What is done twice may leave something behind for its time, so this comes last.
over('a broker that is started anew in the midst loses nothing', async (fleet) => {
  const input = fleet.file('rows.csv', table(ROWS));
  const alone = await aloneOf(fleet, input);
  await nodesOf(fleet, 1);
  const out = join(fleet.dir, 'anew.csv');
  const driven = fleet.drive([input, '-o', out, '--fleet', `${fleet.url}?rows=256`]);
  await midst(fleet, driven, out);
  await fleet.own.stop();
  await eventually(() => /NATS is away; waiting for it/.test(driven.err()));
  await delay(500);
  fleet.own.start();
  assert.equal(await driven.ended, 3, driven.err());
  assert.match(driven.err(), /NATS is back/);
  assert.ok(readFileSync(out, 'utf8') === alone);
});
