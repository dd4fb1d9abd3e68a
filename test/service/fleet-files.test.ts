/** Files over a fleet: the bytes of one machine, whoever takes the chunks and whoever goes away. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { QueuedMessage } from '../../src/bulk/fleet/chunk-messages.js';
import { DOOR, filesFleet, midst, table, type FilesFleet } from '../support/files-fleet.js';
import { buildRecipe } from '../support/built-dataset.js';
import { freePort } from '../support/free-port.js';
import { startNode } from '../support/fleet-nodes.js';
import { eventually } from '../support/http-eventually.js';
import { runCommand } from '../support/run-command.js';

const ROWS = 12_000;
/** Rows of a chunk, for the files that are asked with several. */
const CHUNKS: Readonly<Record<string, readonly number[]>> = {
  'rows.csv': [600, 65_536], 'few.csv': [1],
};

/** Runs a command line here and returns what it wrote. */
async function here(fleet: FilesFleet, args: readonly string[], out: string): Promise<string> {
  const driven = fleet.drive([...args, '-o', out]);
  assert.equal(await driven.ended, 3, driven.err());
  return readFileSync(out, 'utf8');
}

let wholeAlone: string | null = null;

/** What this machine alone writes of the file that most tests have; the same for each of them. */
async function aloneOf(fleet: FilesFleet, input: string): Promise<string> {
  wholeAlone ??= await here(fleet, [input], join(fleet.dir, 'alone.csv'));
  return wholeAlone;
}

/** Lines that have no name of a job in them. */
function unnamed(text: string): string {
  return text.replaceAll(/"job":"bulk_[0-9a-f]+"/g, '').replaceAll(/"sha256":"[0-9a-f]{64}"/g, '');
}

test('lookups and carts in tables and lines are the bytes of one machine, whatever a chunk is', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  await Promise.all([fleet.node(), fleet.node()]);
  const place = { address: DOOR };
  const cart = {
    cartId: 'c', customerId: 'c-7', currency: {}, origin: place, destination: place,
    lineItems: [{ itemId: 'sku-1', price: 10.75, quantity: 2 }],
  };
  const lines = (rows: readonly object[]): string =>
    rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const orders = ['destination,price,qty,origin', ...Array.from({ length: 700 }, (_, index) =>
    `"${index % 5 === 0 ? '1 Nowhere Rd, Nowhere, QA' : DOOR}",${index}.75,2,"${DOOR}"`)].join('\n');
  const files: readonly (readonly [name: string, body: string, ...args: readonly string[]])[] = [
    ['rows.csv', table(2_000)],
    // A chunk for each row is a message for each row.
    ['few.csv', table(150)],
    ['to-lines.csv', table(700), '--format', 'ndjson'],
    ['rows.ndjson', lines(Array.from({ length: 1_500 }, (_, id) =>
      (id % 3 === 0 ? { id, postalcode: '91010' } : { id, address: id % 5 === 0 ? 'nowhere' : DOOR })))],
    ['orders.csv', orders, '--kind', 'cart'],
    ['carts.ndjson', lines(Array.from({ length: 700 }, (_, id) =>
      ({ id, items: [id % 9 === 0 ? { ...cart, lineItems: 7 } : cart] }))), '--kind', 'cart'],
  ];
  for (const [name, body, ...more] of files) {
    const args = [fleet.file(name, body), ...more];
    const alone = await here(fleet, args, join(fleet.dir, `${name}.alone`));
    for (const rows of CHUNKS[name] ?? [600]) {
      const among = await here(
        fleet, [...args, '--fleet', `${fleet.url}?rows=${rows}`], join(fleet.dir, `${name}.${rows}`));
      assert.ok(unnamed(among) === unnamed(alone), `${name} in chunks of ${rows}`);
    }
  }
  assert.deepEqual(await fleet.left(), [0, 0]);
});

/**
 * Ends the only node with a signal in the midst of a file. What is returned starts another one and
 * asserts that the output is what one machine writes.
 */
async function endedInTheMidst(
  fleet: FilesFleet, signal: NodeJS.Signals,
): Promise<() => Promise<void>> {
  const input = fleet.file('rows.csv', table(ROWS));
  const alone = await aloneOf(fleet, input);
  const first = await fleet.node();
  const out = join(fleet.dir, 'out.csv');
  const driven = fleet.drive([input, '-o', out, '--fleet', `${fleet.url}?rows=256`]);
  await midst(fleet, driven, out);
  await first.end(signal);
  return async () => {
    await fleet.node();
    assert.equal(await driven.ended, 3, driven.err());
    assert.ok(readFileSync(out, 'utf8') === alone);
  };
}

test('chunks of a node that was killed are taken by another', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const finish = await endedInTheMidst(fleet, 'SIGKILL');
  assert.ok((await fleet.broker.state(fleet.built.name)).inHand > 0, 'it had chunks in hand');
  await finish();
  assert.deepEqual(await fleet.left(), [0, 0]);
});

test('a node that leaves hands back what it has', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const finish = await endedInTheMidst(fleet, 'SIGTERM');
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

test('an interrupted driver leaves nothing at the broker, and goes on as one that was killed does', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const input = fleet.file('rows.csv', table(ROWS));
  const alone = await aloneOf(fleet, input);
  await fleet.node();
  const out = join(fleet.dir, 'out.csv');
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
});

test('a broker that is started anew in the midst loses nothing', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const input = fleet.file('rows.csv', table(ROWS));
  const alone = await aloneOf(fleet, input);
  await fleet.node();
  const out = join(fleet.dir, 'out.csv');
  const driven = fleet.drive([input, '-o', out, '--fleet', `${fleet.url}?rows=256`]);
  await midst(fleet, driven, out);
  fleet.server.kill('SIGTERM');
  await once(fleet.server, 'exit');
  await eventually(() => /NATS is away; waiting for it/.test(driven.err()));
  await delay(500);
  fleet.own.start();
  assert.equal(await driven.ended, 3, driven.err());
  assert.match(driven.err(), /NATS is back/);
  assert.ok(readFileSync(out, 'utf8') === alone);
});

test('a fleet that cannot answer says what its nodes have', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const input = fleet.file('rows.csv', table(10));
  const asked = [input, '--fleet', `${fleet.url}?wait=1`];
  const alone = fleet.drive(asked);
  assert.equal(await alone.ended, 1);
  assert.match(alone.err(), /no node takes chunks of files at nats:\/\/127\.0\.0\.1:\d+\/tried$/m);
  await fleet.node();
  const unknown = fleet.drive([...asked, '--dataset', '2020-01-01-0123456789ab']);
  assert.equal(await unknown.ended, 1);
  assert.match(unknown.err(), /no node at .* has the dataset 2020-01-01-0123456789ab \(\S+: 2026-/);
  const away = fleet.drive([input, '--fleet', 'nats://127.0.0.1:1/tried']);
  assert.equal(await away.ended, 1);
  assert.match(away.err(), /nats:\/\/127\.0\.0\.1:1\/tried cannot be reached/);
  const wrong = fleet.drive([input, '--fleet', 'nats://127.0.0.1:1/tried?row=1']);
  assert.equal(await wrong.ended, 2);
  assert.match(wrong.err(), /--fleet knows no "row"; there are: creds, replicas, rows, wait/);
});

test('what a node does with chunks is told by metrics, health and doctor', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const metrics = await freePort();
  const node = await fleet.node({ SITUS_METRICS: `127.0.0.1:${metrics}` });
  const driven = fleet.drive([fleet.file('rows.csv', table(1_000)), '--fleet', `${fleet.url}?rows=256`]);
  assert.equal(await driven.ended, 3, driven.err());
  const told = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  assert.match(told, /^situs_files_broker_reached 1$/m);
  assert.match(told, /^situs_files_chunks_open 0$/m);
  const of = (result: string): number =>
    Number(new RegExp(`^situs_files_chunks_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(told)?.[1]);
  assert.ok(of('done') >= 4 && of('taken') === of('done'), told);
  assert.deepEqual([of('returned'), of('refused')], [0, 0]);
  const health = async (): Promise<unknown> => (await node.health() as { files?: string }).files;
  assert.equal(await health(), 'ok');
  const env = { SITUS_VAR: fleet.built.varDir, SITUS_FLEET: fleet.url };
  assert.match((await runCommand(['doctor'], env)).out, /^ok +files +\S+ take chunks at nats:/m);
  fleet.server.kill('SIGTERM');
  await eventually(async () => await health() === 'connection_error');
  assert.equal(await node.ready(), '200');
  assert.match((await runCommand(['doctor'], env)).out, /^warning +files .* cannot be reached: .*; no chunks of files are taken$/m);
});

const KEY = { 'X-API-KEY': 'a-key-for-nodes-of-a-fleet' };

interface Job {
  readonly state: string;
  readonly rows: { readonly done: number };
  readonly reason: string | null;
}

test('a job of a node is answered by the others too, and by itself when these are killed', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const body = table(ROWS);
  const alone = await aloneOf(fleet, fleet.file('rows.csv', body));
  const metrics = await freePort();
  const env = { SITUS_FLEET: `${fleet.url}?rows=256` };
  const [own, other] = await Promise.all(
    [fleet.node(env), fleet.node({ ...env, SITUS_METRICS: `127.0.0.1:${metrics}` })]);
  await eventually(async () => (await fleet.broker.nodes('')).length === 2);
  const made = await fetch(`${own.url}/bulk/jobs?kind=lookup`, {
    method: 'POST', headers: { ...KEY, 'Content-Type': 'text/csv' }, body,
  });
  assert.equal(made.status, 202, await made.text());
  const href = `${own.url}${made.headers.get('location')}`;
  const job = async (): Promise<Job> => (await fetch(href, { headers: KEY })).json() as Promise<Job>;
  await eventually(async () => {
    const { state } = await job();
    assert.ok(state === 'queued' || state === 'running', state);
    const told = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    return /^situs_files_chunks_total\{result="done"\} [1-9]/m.test(told);
  });
  await other.end('SIGKILL');
  assert.equal((await job()).state, 'running', 'it had not ended before');
  await eventually(async () => !['queued', 'running'].includes((await job()).state), 60_000);
  assert.equal((await job()).state, 'done', (await job()).reason ?? '');
  assert.ok(await (await fetch(`${href}/result`, { headers: KEY })).text() === alone);
  await eventually(async () => (await fleet.left()).every((count) => count === 0));
});

test('a node that is told to stop in the midst of a job goes on with it later', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const body = table(ROWS);
  const alone = await aloneOf(fleet, fleet.file('rows.csv', body));
  const { varDir, remove } = buildRecipe('fixture');
  context.after(remove);
  const env = { SITUS_FLEET: `${fleet.url}?rows=256`, SITUS_VAR: varDir };
  const first = await startNode(context, env);
  await eventually(async () => (await fleet.broker.nodes('')).length === 1);
  const made = await fetch(`${first.url}/bulk/jobs?kind=lookup`, {
    method: 'POST', headers: { ...KEY, 'Content-Type': 'text/csv' }, body,
  });
  const path = made.headers.get('location');
  const job = async (url: string): Promise<Job> =>
    (await fetch(`${url}${path}`, { headers: KEY })).json() as Promise<Job>;
  await eventually(async () => (await job(first.url)).rows.done > 0);
  await first.end('SIGTERM');
  assert.deepEqual(await fleet.left(), [0, 0]);
  // What answers then is this machine alone: its broker is away.
  fleet.server.kill('SIGTERM');
  const second = await startNode(context, env);
  await eventually(async () => (await job(second.url)).state === 'done', 60_000);
  const result = await fetch(`${second.url}${path}/result`, { headers: KEY });
  assert.ok(await result.text() === alone);
});

test('rows that a node answers itself are not sent to the broker', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const body = table(ROWS);
  const alone = await aloneOf(fleet, fleet.file('rows.csv', body));
  const own = await fleet.node({ SITUS_FLEET: `${fleet.url}?rows=256` });
  const [, manager] = await fleet.own.connected();
  const sent = async (): Promise<number> => (await manager.streams.info('tried-files')).state.last_seq;
  const answered = async (): Promise<void> => {
    const headers = { ...KEY, 'Content-Type': 'text/csv' };
    const made = await fetch(`${own.url}/bulk/jobs?kind=lookup`, { method: 'POST', headers, body });
    assert.equal(made.status, 202, await made.text());
    const asked = (path = ''): Promise<Response> =>
      fetch(`${own.url}${made.headers.get('location')}${path}`, { headers: KEY });
    await eventually(async () => (await (await asked()).json() as Job).state === 'done', 60_000);
    assert.ok(await (await asked('/result')).text() === alone);
  };
  await eventually(async () => (await fleet.broker.nodes('')).length === 1);
  await answered();
  assert.equal(await sent(), 0);
  await fleet.node();
  await eventually(async () => (await fleet.broker.nodes('')).length === 2);
  await answered();
  assert.ok(await sent() > 0 && await sent() * 256 < ROWS, `${await sent()} chunks of 256 rows were sent`);
});
