/** What a run hands to a fleet: a chunk that nobody can answer, one that is queued twice. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { decodeOrder, resultName } from '../../src/bulk/fleet/chunk-object.js';
import type { QueuedMessage } from '../../src/bulk/fleet/chunk-messages.js';
import { FleetPool } from '../../src/bulk/fleet/fleet-pool.js';
import { sentChunk, sentResult } from '../../src/bulk/fleet/sent-form.js';
import {
  encodeChunk,
  encodeResult,
  encodeRun,
  type RunFacts,
} from '../../src/bulk/row/chunk-payload.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { filesFleet, type FilesFleet } from '../support/files-fleet.js';
import { writeRates } from '../support/tiny-release.js';

const ROW = Buffer.from('{"postalcode":"91010"}\n');

function runOf({ built }: FilesFleet): RunFacts {
  return {
    name: 'bulk_test',
    kind: 'lookup',
    release: { id: built.name, dir: '' },
    nowMs: Date.now(),
    output: 'ndjson',
    table: null,
    defaults: {},
  };
}

function payloadOf(run: RunFacts, line: number): Uint8Array {
  return encodeChunk(encodeRun(run), { line, bytes: ROW, ends: Uint32Array.of(ROW.length) });
}

function poolOf(context: TestContext, { broker, built }: FilesFleet): FleetPool {
  const pool = new FleetPool({
    broker,
    run: 'bulk_test',
    release: built.name,
    rows: 1,
    waitMs: 30_000,
    tell: () => undefined,
  });
  context.after(() => pool.close());
  return pool;
}

/** Hands one part to the pool; what becomes of it. */
function submit(pool: FleetPool, payload: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    pool.submit({
      kind: 'rows',
      grants: GRANT_ALL,
      payload,
      answered: ({ body }) => resolve(Buffer.from(body).toString('utf8')),
      failed: (failure) => resolve(failure),
    });
  });
}

test('a chunk that no node can answer is told with its rows, and holds nobody up', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const node = await fleet.node();
  const run = runOf(fleet);
  const pool = poolOf(context, fleet);
  // It ends before it says where its row ends: a fault of the program in every worker.
  const cut = payloadOf(run, 2).subarray(0, -ROW.length - 1);
  const [first, second] = [submit(pool, payloadOf(run, 1)), submit(pool, cut)];
  assert.match(await first, /"rCode":100/);
  assert.equal(await second, 'internal');
  assert.match(pool.fault ?? '', /^rows from line 2 to 2: nodes took them 5 times, and none /);
  assert.equal((await node.health()).dataset, fleet.built.name);
  assert.match(await submit(poolOf(context, fleet), payloadOf(run, 3)), /"rCode":100/);
});

test('what is too large for a message goes by way of objects, and nothing is left of it', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker } = fleet;
  await fleet.node();
  const row = Buffer.from(`{"postalcode":"91010"${' '.repeat(60_000)}}\n`);
  const bytes = Buffer.concat(Array.from({ length: 20 }, () => row));
  const ends = Uint32Array.from({ length: 20 }, (_, index) => (index + 1) * row.length);
  const payload = encodeChunk(encodeRun(runOf(fleet)), { line: 1, bytes, ends });
  const pool = poolOf(context, fleet);
  const answered = submit(pool, payload);
  await eventually(async () => (await fleet.left())[1] > 0);
  assert.equal((await answered).match(/"rCode":100/g)?.length, 20);
  await eventually(async () => (await fleet.left()).every((count) => count === 0));
  // Of an object that is there already the first one stays.
  await broker.objects.put('one', bytes);
  await broker.objects.put('one', row);
  assert.deepEqual(await broker.objects.get('one'), bytes);
  assert.equal((await fleet.left())[1], Math.ceil(bytes.length / 524_288) + 1);
  await broker.objects.remove(['one']);
  assert.equal(await broker.objects.get('one'), null);
});

test('a chunk that is queued twice is answered once', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker, built } = fleet;
  const parts = [{ grants: GRANT_ALL, payload: sentChunk(payloadOf(runOf(fleet), 1)) }];
  const name = 'bulk_test.one';
  const order = { job: 'bulk_test', chunk: name, release: built.name, line: 1, rows: 1 };
  await broker.queue(order, parts, name);
  await broker.queue(order, parts, name);
  assert.deepEqual(await broker.state(built.name), { waiting: 1, inHand: 0 });
  const told: string[] = [];
  broker.onDone('bulk_test', (chunk) => told.push(chunk));
  await fleet.node();
  await eventually(() => told.length === 1);
  const [, objects] = await fleet.left();
  // A driver that had not heard of it sends it again.
  await broker.queue({ ...order, again: true }, parts, `${name} again`);
  await eventually(() => told.length === 2);
  // It is told before it leaves the queue; a second result would have been stored by then.
  await eventually(async () => (await fleet.left())[0] === 0);
  assert.deepEqual(await fleet.left(), [0, objects], 'no second result was stored');
  await broker.objects.remove([name, resultName(name)]);
  assert.deepEqual(await fleet.left(), [0, 0]);
});

test('what was handed back of a release that is not the active one is taken again', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker } = fleet;
  const { varDir, remove } = buildRecipe('fixture');
  context.after(remove);
  const [release = ''] = (await writeRates(varDir, [41])).values();
  const run = { ...runOf(fleet), release: { id: release, dir: '' } };
  const parts = [{ grants: GRANT_ALL, payload: sentChunk(payloadOf(run, 1)) }];
  const order = { job: 'bulk_test', chunk: 'bulk_test.one', release, line: 1, rows: 1 };
  await broker.state(release);
  await broker.queue(order, parts, 'one');
  const pull = broker.pull((message) => message.giveBack(0));
  await pull.pull(release, 1, 5_000);
  await pull.close();
  assert.deepEqual(await broker.state(release), { waiting: 0, inHand: 1 });
  const told: string[] = [];
  broker.onDone('bulk_test', (chunk) => told.push(chunk));
  const node = await fleet.node({ SITUS_VAR: varDir });
  await eventually(() => told.length === 1);
  assert.notEqual((await node.health()).dataset, release);
});

test('an object that is not stored whole leaves nothing at the broker, and its failure is one alone', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker, server } = fleet;
  const piece = Buffer.alloc(1_000);
  const torn = async function* (): AsyncGenerator<Uint8Array> {
    yield* Array.from({ length: 12 }, () => piece);
    throw new Error('the file cannot be read');
  };
  await assert.rejects(broker.objects.putPieces('torn', torn()), /cannot be read/);
  assert.deepEqual(await fleet.left(), [0, 0]);
  const cut = async function* (): AsyncGenerator<Uint8Array> {
    server.kill('SIGSTOP');
    // A signal is sent and then takes effect: until then the server still answers.
    while (!/\) T /.test(readFileSync(`/proc/${server.pid}/stat`, 'latin1'))) await setTimeout(1);
    yield* Array.from({ length: 12 }, () => piece);
  };
  // All on their way fail at the same time; the test would fail with one that nobody awaits.
  await assert.rejects(broker.objects.putPieces('cut', cut()), /timeout/i);
  server.kill('SIGCONT');
});

test('a chunk that is lost at the broker is sent again though chunks of others wait', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker, built } = fleet;
  const run = runOf(fleet);
  // The node has the release and takes nothing: what it could take is in the hand of the test.
  broker.onAsked(() => ({ node: 'a', program: '0', active: built.name, has: true }));
  const parts = [{ grants: GRANT_ALL, payload: sentChunk(payloadOf(run, 1)) }];
  const other = {
    job: 'bulk_other',
    chunk: 'bulk_other.one',
    release: built.name,
    line: 1,
    rows: 1,
  };
  await broker.queue(other, parts, 'other');
  const pool = new FleetPool({
    broker,
    run: 'bulk_test',
    release: built.name,
    rows: 1,
    waitMs: 500,
    tell: () => undefined,
  });
  context.after(() => pool.close());
  const answered = submit(pool, payloadOf(run, 1));
  await eventually(async () => (await broker.queued()).has(`${built.name}.bulk_test`));
  await broker.unqueue(built.name, 'bulk_test');
  await eventually(async () => (await broker.queued()).has(`${built.name}.bulk_test`));
  await fleet.node();
  assert.match(await answered, /"rCode":100/);
});

test('a node that is killed between its result and its word that it is done leaves nothing queued', async (context) => {
  const fleet = await filesFleet(context);
  if (fleet === null) return;
  const { broker, built } = fleet;
  const pool = poolOf(context, fleet);
  const answered = submit(pool, payloadOf(runOf(fleet), 1));
  const taken: QueuedMessage[] = [];
  await broker.state(built.name);
  await broker.pull((message) => taken.push(message)).pull(built.name, 1, 5_000);
  const { order } = decodeOrder(taken[0]!.data)!;
  const tally = { rows: 1, codes: { 100: 1 }, core: 1, geo: 0, merchant: 0, refusals: [] };
  const result = Buffer.concat(encodeResult(tally, Buffer.from('answered')));
  assert.ok(
    await broker.sendResult(order, 'a', { kind: 'answered', answers: [sentResult(result)] }),
  );
  assert.equal(await answered, result.toString('utf8'));
  await pool.close();
  assert.deepEqual(await fleet.left(), [0, 0]);
});
