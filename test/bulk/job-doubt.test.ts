/** Jobs whose store does not tell in time whether it took a write, and of servers that stood still. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { isDoubtful, StoreFault } from '../../src/store/fault.js';
import type { JobRecord } from '../../src/store/jobs.js';
import type { Store } from '../../src/store/store.js';
import { listUsage } from '../../src/store/usage.js';
import { eventually } from '../support/http-eventually.js';
import { JobServers, ROWS, STUCK } from './job-servers.js';

const LEFT_MS = 5_000;

/**
 * Loses the answer to the first commit after which the job is as told; with `evenCertain` also where
 * the writer waits for it without a limit, as when the server is about to stop.
 */
function loseAnswer(
  { store }: { readonly store: Store },
  isIt: () => boolean,
  evenCertain: boolean,
): void {
  const write = store.write.bind(store);
  store.write = async (action, options) => {
    const result = await write(action, options);
    if ((options?.certain !== true || evenCertain) && isIt()) {
      store.write = write;
      throw new StoreFault('unknown');
    }
    return result;
  };
}

/** Moves the clock that nobody can set; returns how. */
function clockOf(context: TestContext): (ms: number) => void {
  const now = performance.now.bind(performance);
  let ahead = 0;
  context.mock.method(performance, 'now', () => now() + ahead);
  return (ms) => {
    ahead += ms;
  };
}

/** A server that took a job over whose server has ended, but was not told that it has the job. */
async function doubtfulTakeover(
  context: TestContext,
  isIt: (servers: JobServers, job: JobRecord) => boolean,
): Promise<{ readonly servers: JobServers; readonly end: JobRecord }> {
  const forward = clockOf(context);
  const servers = await JobServers.open(context);
  const [a, b] = [await servers.add('A', { pool: STUCK }), await servers.add('B')];
  const job = await servers.make(a);
  await servers.end(a);
  await b.jobs.sweep();
  forward(LEFT_MS);
  loseAnswer(servers, () => isIt(servers, job), true);
  await b.jobs.sweep();
  assert.equal(servers.get(job.id).owner, 'B');
  assert.ok(existsSync(b.jobs.options.space.input(job.id)));
  await b.jobs.sweep();
  const end = await servers.ended(job.id);
  await b.jobs.stop();
  return { servers, end };
}

test('a job that was taken over keeps its upload, though the store did not tell in time', async (t) => {
  const { servers, end } = await doubtfulTakeover(t, (all, { id }) => all.get(id).owner === 'B');
  assert.deepEqual([end.state, end.owner, end.reason], ['done', 'B', null]);
  assert.deepEqual([...servers.files.files.keys()], [`${end.id}.result`]);
});

test('a job that another server of the same folder took over keeps its upload', async (context) => {
  const forward = clockOf(context);
  const servers = await JobServers.open(context);
  const a = await servers.add('A', { pool: STUCK });
  const b = await servers.add('B', { folder: 'shared' });
  const c = await servers.add('C', { folder: 'shared', pool: STUCK });
  const job = await servers.make(a);
  await servers.end(a);
  await Promise.all([b.jobs.sweep(), c.jobs.sweep()]);
  forward(LEFT_MS);
  // B has the upload when C, which waited for it too, is faster.
  const waiting: (() => void)[] = [];
  servers.files.arrival = () => new Promise((resolve) => waiting.push(resolve));
  const both = [b.jobs.sweep()];
  await eventually(() => waiting.length === 1);
  both.push(c.jobs.sweep());
  await eventually(() => waiting.length === 2);
  waiting[1]?.();
  await both[1];
  assert.equal(servers.get(job.id).owner, 'C');
  waiting[0]?.();
  await both[0];
  const { mtimeMs } = statSync(c.jobs.options.space.input(job.id));
  assert.equal(mtimeMs, servers.get(job.id).inputModifiedMs);
});

test('a new job that may be stored is run, and one that is not leaves nothing', async (context) => {
  const servers = await JobServers.open(context);
  const { jobs } = await servers.add('A');
  const id = jobs.reserve(servers.account);
  loseAnswer(servers, () => servers.find(id) !== null, true);
  await assert.rejects(servers.tryMake(jobs, id), isDoubtful);
  await jobs.sweep();
  assert.equal((await servers.ended(id)).state, 'done');

  const refused = jobs.reserve(servers.account);
  const { store } = servers;
  const write = store.write.bind(store);
  store.write = () => Promise.reject(new StoreFault('full'));
  await assert.rejects(servers.tryMake(jobs, refused), StoreFault);
  store.write = write;
  assert.deepEqual(jobs.options.space.ids, [id]);
  assert.deepEqual([...servers.files.files.keys()], [`${id}.result`]);
  await jobs.stop();
});

test('rows are counted once, though a checkpoint is stored that was not told of', async (context) => {
  const servers = await JobServers.open(context);
  const { jobs } = await servers.add('A');
  let job: string | null = null;
  const hasCheckpoint = (): boolean => job !== null && servers.get(job).checkpoint !== null;
  loseAnswer(servers, hasCheckpoint, false);
  job = (await servers.make({ jobs, member: (await servers.add('B')).member })).id;
  await servers.until(job, ({ endedAt, reason }) => endedAt !== null || reason !== null);
  await jobs.sweep();
  assert.equal((await servers.ended(job)).state, 'done');
  await servers.usage.flush();
  const month = new Date().toISOString().slice(0, 7).replace('-', '');
  assert.deepEqual(
    listUsage(servers.store, month).map(({ core }) => core),
    [ROWS],
  );
  await jobs.stop();
});

test('a server that stood still does not cut off the result of the one that took over', async (t) => {
  const servers = await JobServers.open(t);
  let goOn = (): void => undefined;
  const stoodStill = new Promise<null>((resolve) => {
    goOn = () => resolve(null);
  });
  const a = await servers.add('A', { folder: 'shared', fleet: () => stoodStill });
  const b = await servers.add('B', { folder: 'shared' });
  const job = await servers.make(a);
  await servers.until(job.id, ({ state }) => state === 'running');
  a.member.fresh = false;
  await servers.end(a);
  await b.jobs.sweep();
  const { result } = await servers.ended(job.id);
  goOn();
  await a.jobs.stop();
  const { length } = readFileSync(b.jobs.options.space.output(job.id));
  assert.deepEqual([length, servers.get(job.id).result], [result?.bytes, result]);
  await b.jobs.stop();
});
