/** Three nodes that follow the dataset of one place, under lookups that never stop. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { loadConfig } from '../../src/config.js';
import { openPlace } from '../../src/distribution/address.js';
import { activateInFleet, readState } from '../../src/distribution/state.js';
import { CommandProcess } from '../support/command-process.js';
import {
  callAll,
  startLine,
  startNode,
  type FleetNode,
  type Line,
} from '../support/fleet-nodes.js';
import { eventually } from '../support/http-eventually.js';
import type { Ran } from '../support/run-command.js';
import { writeRates } from '../support/tiny-release.js';
import { skipForWantOf } from '../support/wanting.js';

const NATS_PORT = 4222;
const NATS = `nats://127.0.0.1:${NATS_PORT}`;
const TENTHS = [50, 60, 70] as const;

const commands = new CommandProcess();
let connection: NatsConnection | null = null;
let manager: JetStreamManager;
let top: string;
/** Releases by their rate. */
let names: ReadonlyMap<number, string>;

before(async () => {
  top = mkdtempSync(join(tmpdir(), 'situs-fleet-'));
  names = await writeRates(join(top, 'builder'), TENTHS);
  try {
    connection = await connect({ servers: NATS, timeout: 2_000 });
    manager = await jetstreamManager(connection);
  } catch {
    connection = null;
  }
});

/** Places of the tests; removed when no node is there any more that would make its report anew. */
const buckets: string[] = [];

after(async () => {
  await commands.end();
  rmSync(top, { recursive: true, force: true });
  for (const bucket of buckets) {
    for (const stream of [`KV_${bucket}`, `OBJ_${bucket}`, `KV_${bucket}-nodes`]) {
      await manager.streams.delete(stream).catch(() => undefined);
    }
  }
  await connection?.close();
});

interface Fleet {
  readonly place: string;
  /** Runs `situs dataset …` where the releases were built. */
  dataset(...words: readonly string[]): Promise<Ran>;
  prepared(): Promise<readonly (readonly string[])[]>;
}

function run(env: Readonly<Record<string, string>>, words: readonly string[]): Promise<Ran> {
  return commands.run(['dataset', ...words], { SITUS_VAR: join(top, 'builder'), ...env });
}

/** A place in NATS for one test; null where it is skipped. */
function fleet(context: TestContext): Fleet | null {
  if (connection === null) {
    skipForWantOf(context, `no NATS with JetStream answers at ${NATS}`);
    return null;
  }
  const bucket = `test-${randomUUID().slice(0, 13)}`;
  buckets.push(bucket);
  const place = `${NATS}/${bucket}`;
  let opened: Awaited<ReturnType<typeof openPlace>> | null = null;
  context.after(() => opened?.close());
  const dataset = (...words: readonly string[]): Promise<Ran> =>
    run({ SITUS_DATASETS: place }, words);
  return {
    place,
    dataset,
    prepared: async () => {
      opened ??= await openPlace(loadConfig({ SITUS_DATASETS: place }));
      return (await opened.nodes!.all()).map(({ prepared }) => prepared);
    },
  };
}

async function succeeded(told: Promise<Ran>): Promise<Ran> {
  const { code, out, err } = await told;
  assert.equal(code, 0, err);
  return { code, out, err };
}

function nodeIn(context: TestContext, folder: string, place: string): Promise<FleetNode> {
  return startNode(context, { SITUS_VAR: join(top, folder), SITUS_DATASETS: place });
}

function nameOf(rate: number): string {
  return names.get(rate)!;
}

test('three empty nodes pull what is active, follow an activation and a rollback, and no request fails; one that is cut off goes on, is told of, and follows once it is back', async (context) => {
  const it = fleet(context);
  if (it === null) return;
  const line = await startLine(context, NATS_PORT);
  const far = it.place.replace(String(NATS_PORT), String(line.port));
  await succeeded(it.dataset('push', nameOf(0.05)));
  await succeeded(it.dataset('activate', nameOf(0.05), '--fleet'));
  const nodes = await Promise.all([
    nodeIn(context, 'near', it.place),
    nodeIn(context, 'far', far),
    nodeIn(context, 'leaving', it.place),
  ]);
  const callers = callAll(nodes);
  for (const node of nodes) assert.equal(await node.rate(), 0.05);
  await succeeded(it.dataset('push', nameOf(0.06)));
  await eventually(async () => {
    const prepared = await it.prepared();
    return prepared.length === 3 && prepared.every((each) => each.includes(nameOf(0.06)));
  });
  for (const [rate, words] of [
    [0.06, ['activate', nameOf(0.06), '--fleet']],
    [0.05, ['rollback', '--fleet']],
  ] as const) {
    const place = await openPlace(loadConfig({ SITUS_DATASETS: it.place }));
    const { version } = await readState(place);
    const asked = it.dataset(...words);
    // From the moment at which the place has it.
    await eventually(async () => (await place.read(version)) !== 'same');
    const mark = performance.now();
    await place.close();
    const { err } = await succeeded(asked);
    assert.match(err, /3 nodes answer from it/);
    await eventually(() => callers.since(mark, rate).every((each) => each !== null));
    context.diagnostic(
      `nodes answered with ${rate} after ${callers.since(mark, rate).join(', ')} ms`,
    );
    for (const node of nodes) assert.equal(await node.ready(), '200');
  }
  await callers.stop();
  context.diagnostic(`${callers.answered()} lookups, ${callers.failed.length} failed`);
  assert.deepEqual(callers.failed, []);
  assert.ok(callers.answered() > 0);
  await nodes[2].end('SIGTERM');
  assert.equal((await it.prepared()).length, 2, 'one that leaves takes its report along');
  await cutOff(it, [nodes[0], nodes[1]], line);
  await nodes[1].end('SIGTERM');
  // Begun without its place it does the same.
  const again = await nodeIn(context, 'far', far);
  assert.equal(await again.rate(), 0.05);
  await eventually(() => /"place of datasets not reached"/.test(again.log()));
  line.mend();
  await eventually(async () => (await again.rate()) === 0.07);
  await eventually(async () => (await again.ready()) === '200');
});

type Pair = readonly [FleetNode, FleetNode];

/** Cuts the second node off: it goes on with 5 %, whereas the first one follows to 7 %. */
async function cutOff(it: Fleet, [near, far]: Pair, line: Line): Promise<void> {
  const callers = callAll([near, far]);
  line.cut();
  await eventually(async () => (await far.health()).fleet.place === 'connection_error');
  await succeeded(it.dataset('push', nameOf(0.07)));
  await eventually(async () => (await near.health()).fleet.prepared.includes(nameOf(0.07)));
  await succeeded(it.dataset('activate', nameOf(0.07), '--fleet', '--force'));
  await eventually(async () => (await near.rate()) === 0.07);
  assert.equal(await far.rate(), 0.05);
  assert.equal(await far.ready(), '200', 'what it does not know of does not make it unready');
  assert.match(far.log(), /"place of datasets not reached"/);
  await callers.stop();
  assert.deepEqual(callers.failed, []);
}

test('nodes are listed whole and at once however often they report meanwhile', async (context) => {
  const it = fleet(context);
  if (it === null) return;
  const place = await openPlace(loadConfig({ SITUS_DATASETS: it.place }));
  const other = await openPlace(loadConfig({ SITUS_DATASETS: it.place }));
  const all = Array.from({ length: 8 }, (_, at) => `node-${at}`);
  const at = '2026-01-01T00:00:00Z';
  const report = (node: string): Promise<void> =>
    other.nodes!.report({ node, at, program: '', dataset: null, prepared: [], problem: null });
  await Promise.all(all.map(report));
  let ended = false;
  const reporting = Promise.all(
    all.map(async (node) => {
      while (!ended) await report(node);
    }),
  );
  for (let round = 0; round < 50; round += 1) {
    const nodes = await place.nodes!.all();
    assert.deepEqual(nodes.map(({ node }) => node).toSorted(), all);
  }
  ended = true;
  await reporting;
  await Promise.all([place.close(), other.close()]);
});

test('an activation is refused while a node has not prepared it', async (context) => {
  const it = fleet(context);
  if (it === null) return;
  await succeeded(it.dataset('push', nameOf(0.05)));
  const place = await openPlace(loadConfig({ SITUS_DATASETS: it.place }));
  // A node that pulls still: it reports as all do, more often than reports end.
  const report = (prepared: readonly string[]): Promise<void> =>
    place.nodes!.report({
      node: 'slow',
      at: new Date().toISOString(),
      program: '0',
      dataset: null,
      prepared,
      problem: { dataset: nameOf(0.05), reason: 'the disk is full' },
    });
  await report([]);
  const timer = setInterval(() => void report([]).catch(() => undefined), 1_000);
  const refused = await it.dataset('activate', nameOf(0.05), '--fleet');
  clearInterval(timer);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^slow answers from none; cannot prepare .*: the disk is full$/m);
  assert.match(refused.err, /1 of 1 nodes have not prepared .*; nothing was changed \(--force/);
  assert.equal((await readState(place)).state.active, null);
  await place.nodes!.leave('slow');
  assert.deepEqual(await place.nodes!.all(), []);
  await place.close();
  assert.match(
    (await succeeded(it.dataset('activate', nameOf(0.05), '--fleet'))).err,
    /no node reports/,
  );
});

test('of two activations at once one is done, and the other says who was first', async (context) => {
  const it = fleet(context);
  if (it === null) return;
  for (const rate of [0.05, 0.06]) await succeeded(it.dataset('push', nameOf(rate)));
  const places = await Promise.all(
    [0, 1].map(() => openPlace(loadConfig({ SITUS_DATASETS: it.place }))),
  );
  context.after(() => Promise.all(places.map((place) => place.close())));
  const seen = await Promise.all(places.map(async (place) => (await readState(place)).state));
  const done = await Promise.allSettled(
    places.map((place, index) =>
      activateInFleet(place, seen[index]!, {
        action: 'activate',
        dataset: nameOf([0.05, 0.06][index]!),
        by: `operator ${index}`,
        at: String(index),
      }),
    ),
  );
  const [won] = done.flatMap((each, index) => (each.status === 'fulfilled' ? [index] : []));
  const lost = done.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  assert.equal(lost.length, 1);
  assert.match(lost[0]!, new RegExp(`nothing was changed: meanwhile operator ${won} activated`));
  const { state } = await readState(places[0]!);
  assert.equal(state.active, nameOf([0.05, 0.06][won!]!));
  assert.equal(state.changes.length, 1);
});

test('commands without a place, and for datasets that are not there, say so', async (context) => {
  const alone = await run({}, ['push']);
  assert.deepEqual([alone.code, /SITUS_DATASETS has to name the place/.test(alone.err)], [2, true]);
  const gone = await run({ SITUS_DATASETS: 'nats://127.0.0.1:9/x' }, ['list', '--fleet']);
  assert.equal(gone.code, 1);
  assert.match(gone.err, /nats:\/\/127\.0\.0\.1:9\/x cannot be reached/);
  const it = fleet(context);
  if (it === null) return;
  const none = await it.dataset('activate', nameOf(0.05), '--fleet');
  assert.match(none.err, /no dataset at nats.* matches/);
  assert.match((await it.dataset('rollback', '--fleet')).err, /no earlier dataset of the fleet/);
});

test('what the fleet will not ask for again is removed from its place', async (context) => {
  const it = fleet(context);
  if (it === null) return;
  for (const rate of [0.05, 0.06, 0.07]) await succeeded(it.dataset('push', nameOf(rate)));
  await succeeded(it.dataset('activate', nameOf(0.07), '--fleet'));
  const env = { SITUS_DATASETS: it.place, SITUS_KEEP_DATASETS: '1' };
  assert.equal(
    (await run(env, ['prune', '--fleet', '--list'])).out,
    `${nameOf(0.05)}\n${nameOf(0.06)}\n`,
  );
  assert.equal((await succeeded(it.dataset('list', '--fleet'))).out.split('\n').length, 4);
  await succeeded(run(env, ['prune', '--fleet']));
  const left = await succeeded(it.dataset('list', '--fleet'));
  assert.match(left.out, new RegExp(`^${nameOf(0.07)} .* active\n$`));
  const node = await nodeIn(context, 'late', it.place);
  assert.equal(await node.rate(), 0.07);
});
