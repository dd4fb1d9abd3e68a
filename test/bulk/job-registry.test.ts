/** The registry of jobs with a clock of its own: retention, restarts, removed releases and keys. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { currentRelease, releasesDir } from '../../src/dataset/release.js';
import { CHUNKS_PER_WORKER, type ClosingPool } from '../../src/bulk/run/chunk-pool.js';
import { type ChunkPool, ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { JobRegistry } from '../../src/bulk/job/registry.js';
import { JobSpace } from '../../src/bulk/job/space.js';
import { SILENT } from '../../src/log.js';
import { StoreFault } from '../../src/store/fault.js';
import { createKey, disableKey } from '../../src/store/keys.js';
import { KeyCache } from '../../src/store/watched.js';
import { findJob, listJobs, storeJob, type JobRecord } from '../../src/store/jobs.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import type { Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { withRowWorkers } from '../support/row-workers.js';

const KEY = 'a-key-for-the-job-registry';
const DAY_MS = 86_400_000;
const BODY = `address\n${'"120 Main St, Elmton, QA 91010"\n'.repeat(700)}`;

let built: Built;
let pool: ClosingPool;

withRowWorkers((opened, workers) => {
  built = opened;
  pool = workers;
});

interface World {
  readonly store: Store;
  readonly clock: { now: number; wall?: number };
  readonly dir: string;
  open(more?: { readonly gone?: string; readonly workers?: ChunkPool }): JobRegistry;
  make(registry: JobRegistry, body?: string): Promise<JobRecord>;
  end(): Promise<void>;
}

/** The releases that jobs may ask for; `gone` is one that is no more. */
function releasesWithout(gone: string): JobRegistry['options']['releases'] {
  return {
    borrow: async (id) => (id === gone ? null : { id, dir: join(releasesDir(built.varDir), id) }),
    unpin: () => undefined,
  };
}

const REQUEST = {
  kind: 'lookup',
  input: 'csv',
  output: 'csv',
  strict: false,
  map: [],
  delimiter: null,
  defaults: {},
} as const;

/** Every limit is far away. */
const SPACE_LIMITS = {
  bytesMax: 10_000_000,
  accountBytesMax: 10_000_000,
  errorBytesMax: 10_000_000,
};

async function openWorld(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'situs-jobs-'));
  const store = await Store.open(dir);
  const { record: key } = await createKey(store, { plan: 'pro', text: KEY });
  const keys = new KeyCache(store);
  const usage = new UsageBook(store);
  const clock: World['clock'] = { now: Date.UTC(2026, 5, 1) };
  const open: World['open'] = ({ gone = '', workers = pool } = {}) =>
    new JobRegistry({
      store,
      log: SILENT,
      days: 3,
      now: () => clock.wall ?? clock.now,
      age: () => clock.now,
      usage,
      filesDir: null,
      settings: { baseUrl: '', precisionMin: 'postal', refuseUnruled: false },
      space: new JobSpace(join(dir, 'jobs'), SPACE_LIMITS),
      schedule: new ChunkSchedule(workers, CHUNKS_PER_WORKER),
      limits: { rowsMax: 10_000, bytesMax: 1_000_000, idleMs: 1_000 },
      kinds: [{ kind: 'lookup' }],
      findMerchant: () => null,
      keyOf: (id) => keys.findId(id),
      releases: releasesWithout(gone),
    });
  return {
    store,
    clock,
    dir,
    open,
    make: async (registry, body = BODY) => {
      const id = registry.reserve(key.account);
      const path = registry.options.space.input(id);
      writeFileSync(path, body);
      const { statSync } = await import('node:fs');
      const { size, mtimeMs } = statSync(path);
      await registry.create(
        {
          id,
          key,
          file: null,
          inputBytes: size,
          inputModifiedMs: mtimeMs,
          dataset: currentRelease(built.varDir) ?? '',
          request: { ...REQUEST, nowMs: clock.now },
        },
        () => undefined,
      );
      const record = findJob(store, key.account, id);
      if (record === null) throw new Error('the job was not stored');
      return record;
    },
    end: async () => {
      await usage.close();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function stateOf(store: Store, { account, id }: JobRecord): JobRecord {
  const record = findJob(store, account, id);
  if (record === null) throw new Error('the job is gone');
  return record;
}

async function ended({ store }: World, job: JobRecord): Promise<JobRecord> {
  await eventually(() => stateOf(store, job).endedAt !== null);
  return stateOf(store, job);
}

test('a job that cannot be cancelled, because nothing can be stored, goes on', async () => {
  const world = await openWorld();
  const registry = world.open();
  const { store } = world;
  const write = store.write.bind(store);
  const job = await world.make(registry);
  store.write = () => Promise.reject(new StoreFault('full'));
  await assert.rejects(registry.remove(stateOf(store, job)), StoreFault);
  store.write = write;
  await registry.sweep();
  assert.equal((await ended(world, job)).state, 'done');
  await registry.stop();
  await world.end();
});

test('a job that has ended stays ended, though its files cannot be removed', async () => {
  const world = await openWorld();
  const registry = world.open();
  registry.options.space.removeInput = () =>
    Promise.reject(
      Object.assign(new Error('io'), {
        code: 'EIO',
      }),
    );
  const job = await world.make(registry);
  await eventually(() => stateOf(world.store, job).endedAt !== null);
  await registry.stop();
  assert.equal(stateOf(world.store, job).state, 'done');

  const waiting = await world.make(registry);
  const cancelled = await registry.remove(waiting);
  assert.equal(cancelled?.state, 'cancelled');
  assert.equal(stateOf(world.store, waiting).state, 'cancelled');
  await world.end();
});

test("a machine's clock that jumps by a year removes no result", async () => {
  const world = await openWorld();
  const registry = world.open();
  registry.start();
  const job = await world.make(registry);
  await ended(world, job);
  for (const years of [1, -1]) {
    world.clock.wall = world.clock.now + years * 365 * DAY_MS;
    await registry.sweep();
    assert.ok(existsSync(registry.options.space.output(job.id)));
    const late = await world.make(registry);
    assert.equal((await ended(world, late)).endedAt, world.clock.wall, 'as the machine tells');
    await registry.sweep();
    assert.ok(existsSync(registry.options.space.output(late.id)));
  }
  world.clock.now += 3 * DAY_MS;
  await registry.sweep();
  assert.deepEqual(listJobs(world.store), []);
  await registry.stop();
  await world.end();
});

test('jobs are kept for their days, and no longer', async () => {
  const world = await openWorld();
  const registry = world.open();
  registry.start();
  const job = await world.make(registry);
  assert.equal((await ended(world, job)).state, 'done');
  const output = registry.options.space.output(job.id);
  assert.ok(existsSync(output));
  world.clock.now += 3 * DAY_MS - 1;
  await registry.sweep();
  assert.ok(existsSync(output));
  const late = await world.make(registry);
  assert.equal((await ended(world, late)).state, 'done');
  world.clock.now += 1;
  await registry.sweep();
  assert.ok(!existsSync(output));
  assert.deepEqual(
    listJobs(world.store).map(({ id }) => id),
    [late.id],
  );
  assert.deepEqual(registry.options.space.ids, [late.id]);
  await registry.stop();
  await world.end();
});

test('jobs that were queued when the service stopped run when it starts', async () => {
  const world = await openWorld();
  const before = world.open();
  // Never started: as if the process had ended right after the answer.
  await before.stop();
  const jobs = [await world.make(before), await world.make(before), await world.make(before)];
  assert.deepEqual(
    jobs.map(({ state }) => state),
    ['queued', 'queued', 'queued'],
  );
  mkdirSync(join(world.dir, 'jobs', 'job_of_a_torn_upload'));
  const registry = world.open();
  registry.start();
  for (const job of jobs) assert.equal((await ended(world, job)).state, 'done');
  assert.ok(!existsSync(join(world.dir, 'jobs', 'job_of_a_torn_upload')));
  await registry.stop();
  await world.end();
});

test('a job is paused with the service and goes on from its checkpoint', async () => {
  const world = await openWorld();
  // Some chunks are answered, and the others not before it is told to pause: else a loaded machine
  // may come to the end of all before the test sees that it began.
  const held: (() => void)[] = [];
  let count = 0;
  const first = world.open({
    workers: {
      submit: (request) => {
        count += 1;
        if (count <= 8) pool.submit(request);
        else held.push(() => pool.submit(request));
      },
    },
  });
  first.start();
  const body = `address\n${'"120 Main St, Elmton, QA 91010"\n'.repeat(9_000)}`;
  const job = await world.make(first, body);
  await eventually(() => stateOf(world.store, job).checkpoint !== null && held.length > 0);
  const stopped = first.stop();
  await new Promise(setImmediate);
  for (const submit of held) submit();
  await stopped;
  const paused = stateOf(world.store, job);
  assert.equal(paused.state, 'queued');
  const second = world.open();
  second.start();
  const done = await ended(world, job);
  assert.deepEqual([done.state, second.view(done).rows], ['done', 9_000]);
  await second.stop();
  await world.end();
});

test('a job whose release, key or body has gone fails and says so', async () => {
  const world = await openWorld();
  const before = world.open();
  await before.stop();
  const [noRelease, changed, noKey] = [
    await world.make(before),
    await world.make(before),
    await world.make(before),
  ];
  await storeJob(world.store, { ...noRelease, dataset: '2020-01-01-000000000000' });
  writeFileSync(before.options.space.input(changed.id), 'address\n');
  const registry = world.open({ gone: '2020-01-01-000000000000' });
  registry.start();
  assert.match((await ended(world, noRelease)).reason ?? '', /2020-01-01-000000000000.*removed/);
  assert.match((await ended(world, changed)).reason ?? '', /changed/);
  assert.equal((await ended(world, noKey)).state, 'done');
  await disableKey(world.store, KEY);
  world.store.refresh();
  const disabled = await world.make(registry);
  assert.match((await ended(world, disabled)).reason ?? '', /key/);
  await registry.stop();
  await world.end();
});
