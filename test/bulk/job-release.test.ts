/** Releases whose checker is killed: nothing is known of them, so they are tried again. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CHUNKS_PER_WORKER, type ClosingPool } from '../../src/bulk/run/chunk-pool.js';
import { ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { JobRegistry } from '../../src/bulk/job/registry.js';
import { JobSpace } from '../../src/bulk/job/space.js';
import { probeRelease } from '../../src/dataset/generations.js';
import { LiveDataset } from '../../src/dataset/live.js';
import { openDataset } from '../../src/dataset/open.js';
import { ReleaseCopies } from '../../src/dataset/release-copy.js';
import { releasesDir } from '../../src/dataset/release.js';
import { STAMP_FILE } from '../../src/dataset/stamp.js';
import { SILENT } from '../../src/log.js';
import { createKey } from '../../src/store/keys.js';
import { KeyCache } from '../../src/store/watched.js';
import { findJob, type JobRecord } from '../../src/store/jobs.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import type { Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { activate } from '../support/http-var-dir.js';
import { withRowWorkers } from '../support/row-workers.js';

const BODY = `address\n${'"120 Main St, Elmton, QA 91010"\n'.repeat(70)}`;

let built: Built;
let pool: ClosingPool;

withRowWorkers((opened, workers) => {
  built = opened;
  pool = workers;
});

/** Checkers that this process has begun. */
function checkers(): readonly number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('workers/release.js'));
}

/** The process group of a process, the fifth field of its state. */
function groupOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[4]);
}

interface Place {
  readonly varDir: string;
  readonly live: LiveDataset;
  /** How often a check was begun, and how many of the next ones are killed at once. */
  readonly checks: { begun: number; kill: number; groups: number[] };
}

/** A folder with a release, none of them active. */
function place(context: TestContext): Place {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-killed-check-'));
  cpSync(join(releasesDir(built.varDir), built.name), join(releasesDir(varDir), built.name), {
    recursive: true,
  });
  const copies = new ReleaseCopies(varDir, SILENT, []);
  const checks: Place['checks'] = { begun: 0, kill: 1, groups: [] };
  const live = new LiveDataset({
    varDir,
    log: SILENT,
    open: openDataset,
    probe: probeRelease,
    pollMs: 60_000,
    againMs: 200,
    prepare: (name, options) => {
      const prepared = copies.prepare(name, options);
      checks.begun += 1;
      if (checks.kill > 0) {
        checks.kill -= 1;
        for (const pid of checkers()) {
          checks.groups.push(groupOf(pid) - pid);
          process.kill(pid, 'SIGKILL');
        }
      }
      return prepared;
    },
  });
  context.after(() => {
    live.close();
    rmSync(varDir, { recursive: true, force: true });
  });
  return { varDir, live, checks };
}

interface Jobs {
  readonly jobs: JobRegistry;
  make(): Promise<JobRecord>;
  read(job: JobRecord): JobRecord;
}

async function openJobs(context: TestContext, { varDir, live }: Place): Promise<Jobs> {
  const store = await Store.open(varDir);
  const { record: key } = await createKey(store, { plan: 'pro', text: 'a-key-of-killed-checks' });
  const usage = new UsageBook(store);
  const keys = new KeyCache(store);
  const jobs = new JobRegistry({
    store,
    log: SILENT,
    days: 3,
    now: Date.now,
    age: Date.now,
    usage,
    filesDir: null,
    settings: { baseUrl: '', precisionMin: 'postal', refuseUnruled: false },
    space: new JobSpace(join(varDir, 'jobs'), {
      bytesMax: 10_000_000,
      accountBytesMax: 10_000_000,
      errorBytesMax: 10_000_000,
    }),
    schedule: new ChunkSchedule(pool, CHUNKS_PER_WORKER),
    limits: { rowsMax: 10_000, bytesMax: 1_000_000, idleMs: 1_000 },
    kinds: [{ kind: 'lookup' }],
    findMerchant: () => null,
    keyOf: (id) => keys.findId(id),
    releases: live,
  });
  context.after(async () => {
    await jobs.stop();
    await usage.close();
    await store.close();
  });
  const read = ({ account, id }: JobRecord): JobRecord => {
    const record = findJob(store, account, id);
    if (record === null) throw new Error('the job is gone');
    return record;
  };
  return { jobs, read, make: () => makeJob(jobs, key) };
}

async function makeJob(
  jobs: JobRegistry,
  key: Parameters<JobRegistry['create']>[0]['key'],
): Promise<JobRecord> {
  const id = jobs.reserve(key.account);
  const path = jobs.options.space.input(id);
  writeFileSync(path, BODY);
  const { size, mtimeMs } = statSync(path);
  await jobs.create(
    {
      id,
      key,
      file: null,
      inputBytes: size,
      inputModifiedMs: mtimeMs,
      dataset: built.name,
      request: {
        kind: 'lookup',
        input: 'csv',
        output: 'csv',
        strict: false,
        map: [],
        delimiter: null,
        defaults: {},
        nowMs: Date.now(),
      },
    },
    () => undefined,
  );
  const record = jobs.find(key.account, id);
  if (record === null) throw new Error('the job was not stored');
  return record;
}

test('a job waits where the check of its release was killed, and ends later', async (context) => {
  const here = place(context);
  const { jobs, make, read } = await openJobs(context, here);
  const job = await make();
  await eventually(() => read(job).reason !== null);
  assert.match(read(job).reason ?? '', /cannot be opened now/);
  assert.deepEqual([read(job).state, read(job).endedAt], ['queued', null]);
  assert.ok(existsSync(jobs.options.space.input(job.id)));
  assert.deepEqual(here.checks.groups, [0], 'in a process group of its own');
  await jobs.sweep();
  await eventually(() => read(job).endedAt !== null);
  assert.deepEqual([read(job).state, here.checks.begun], ['done', 2]);
});

test('a job whose release is damaged fails', async (context) => {
  const here = place(context);
  here.checks.kill = 0;
  const data = join(releasesDir(here.varDir), built.name, 'data.mdb');
  chmodSync(data, 0o644);
  truncateSync(data, 8_192);
  const { make, read } = await openJobs(context, here);
  const job = await make();
  await eventually(() => read(job).endedAt !== null);
  assert.equal(read(job).state, 'failed');
  assert.match(read(job).reason ?? '', /damaged/);
});

test('a stop ends the check that a job waits for, and the job stays', async (context) => {
  const here = place(context);
  here.checks.kill = 0;
  const { jobs, make, read } = await openJobs(context, here);
  const job = await make();
  await eventually(() => here.checks.begun === 1);
  const stopped = jobs.stop();
  here.live.stop();
  await stopped;
  assert.deepEqual([read(job).state, checkers()], ['queued', []]);
  assert.ok(existsSync(jobs.options.space.input(job.id)));
});

test('a release whose check was killed is taken at the next try', async (context) => {
  const { varDir, live, checks } = place(context);
  // One with its stamp is checked at a start without a process that could be killed.
  rmSync(join(releasesDir(varDir), built.name, STAMP_FILE));
  activate(varDir, built.name);
  live.check();
  await eventually(() => live.refusal !== null);
  assert.match(live.refusal?.reason ?? '', /did not come to its end \(SIGKILL\)/);
  await eventually(() => live.release !== null);
  assert.deepEqual([live.release?.id, live.refusal, checks.begun], [built.name, null, 2]);
});
