/** What a sweep leaves and removes of jobs that several servers know. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../support/http-eventually.js';
import { JobServers } from './job-servers.js';

const DAY_MS = 86_400_000;

test('files of a job that another server removed go with the next sweep', async (context) => {
  const servers = await JobServers.open(context);
  const [a, b] = [await servers.add('A'), await servers.add('B')];
  const { space } = a.jobs.options;
  const deleted = await servers.make(a);
  await b.jobs.remove(await servers.ended(deleted.id));
  const old = await servers.make(a);
  await servers.ended(old.id);
  servers.now += 3 * DAY_MS;
  await b.jobs.sweep();
  assert.deepEqual([servers.find(deleted.id), servers.find(old.id)], [null, null]);
  // A job that is being sent has no record either.
  const reserved = a.jobs.reserve(servers.account);
  await a.jobs.sweep();
  assert.deepEqual(space.ids, [reserved]);
  assert.equal(space.usedBy(servers.account), 0);
  await Promise.all([a.jobs.stop(), b.jobs.stop()]);
});

test('a sweep leaves the result that is being fetched for a download', async (context) => {
  const servers = await JobServers.open(context);
  const a = await servers.add('A');
  const [b, c] = [
    await servers.add('B', { folder: 'shared' }),
    await servers.add('C', { folder: 'shared' }),
  ];
  const job = await servers.ended((await servers.make(a)).id);
  const waiting: (() => void)[] = [];
  servers.files.arrival = () => new Promise((resolve) => waiting.push(resolve));
  const brought = Promise.all([b.jobs.keeper.bringResult(job), b.jobs.keeper.bringResult(job)]);
  await eventually(() => waiting.length > 0);
  // C finds the folder of B as it measures the disk.
  c.jobs.drop(c.jobs.reserve(servers.account));
  await b.jobs.sweep();
  await c.jobs.sweep();
  for (const arrive of waiting) arrive();
  assert.deepEqual(await brought, [true, true]);
  assert.equal(readFileSync(b.jobs.options.space.output(job.id)).length, job.result?.bytes);
  await b.jobs.sweep();
  assert.deepEqual(b.jobs.options.space.ids, []);
  await Promise.all([a, b, c].map(({ jobs }) => jobs.stop()));
});
