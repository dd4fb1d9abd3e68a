/** Bulk jobs at their limits: the allowed folder, the disk, the jobs of an account. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { JOBS_OPEN_MAX } from '../../src/bulk/job/registry.js';
import { buildRecipe } from '../support/built-dataset.js';
import { CSV, openBulk, readLines, startBulkApp, type BulkAnswer } from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import {
  DISK_MAX,
  type JobBody,
  JobClient,
  type JobService,
  problem,
  startJobs,
  table,
  WAIT_MS,
} from '../support/job-service.js';
import { fill, release, smallDisk } from '../support/small-disk.js';

let service: JobService;
let files: string;
let port: number;
let jobs: JobClient;

before(async () => {
  service = await startJobs();
  ({ files, port, jobs } = service);
});

after(() => service.stop());

test('files of the allowed folder are read where they are, and nothing else', async () => {
  const own = join(files, 'default');
  mkdirSync(join(own, 'may'), { recursive: true });
  writeFileSync(join(own, 'may', 'rows.csv'), table(5));
  symlinkSync('/etc', join(own, 'out'));
  symlinkSync(join(own, 'may', 'rows.csv'), join(own, 'link.csv'));
  const ask = (members: object): Promise<BulkAnswer> =>
    jobs.post(JSON.stringify(members), 'application/json');
  const answer = await ask({ file: 'may/rows.csv', output: 'ndjson', map: ['address:address'] });
  assert.equal(answer.status, 202, answer.body.toString());
  const { id } = JSON.parse(answer.body.toString()) as JobBody;
  assert.equal((await jobs.until(id, 'done', 'failed')).state, 'done');
  const foreign = new JobClient(port, 'other');
  for (const file of ['may/rows.csv', 'default/may/rows.csv', '../default/may/rows.csv']) {
    const refused = await foreign.post(JSON.stringify({ file }), 'application/json');
    assert.match(problem(refused, 422).detail, /no such file/, file);
  }
  assert.equal(readLines((await jobs.result(id)).body).rows.length, 5);
  for (const file of [
    '../may/rows.csv',
    'may/../may/rows.csv',
    '/etc/passwd',
    'out/passwd',
    'link.csv',
    'may',
    '',
    'may/none.csv',
    'may\\rows.csv',
    './may/rows.csv',
    'x'.repeat(2_000),
    'may/rows.csv\0',
  ]) {
    assert.match(problem(await ask({ file }), 422).detail, /no such file/, file);
  }
  problem(await ask({ file: 7 }), 422);
  problem(await ask({ file: 'may/rows.csv', format: 'xml' }), 422);
  problem(await ask({ file: 'may/rows.csv', strict: { a: 1 } }), 422);
  problem(await jobs.post('[', 'application/json'), 400);
  assert.equal(problem(await ask({ file: 'x'.repeat(70_000) }), 413).limit, 65_536);
});

test('a disk that is used up refuses uploads with its limit, and a job waits for room', async () => {
  for (const job of (
    JSON.parse((await jobs.ask('/bulk/jobs')).body.toString()) as {
      jobs: JobBody[];
    }
  ).jobs) {
    await jobs.until(job.id, 'done', 'failed', 'cancelled');
    await jobs.ask(`/bulk/jobs/${job.id}`, { method: 'DELETE' });
  }
  // About 190 bytes a row: each alone fits, both together do not.
  const first = await jobs.create(table(9_000));
  const second = await jobs.create(table(9_000));
  const [left, right] = await Promise.all([
    jobs.until(first.id, 'done', 'queued'),
    jobs.until(second.id, 'done', 'queued'),
  ]);
  let waiting = left.state === 'queued' ? left : right;
  await eventually(async () => {
    const both = [await jobs.job(first.id), await jobs.job(second.id)];
    waiting = both.find(({ reason }) => reason !== null) ?? waiting;
    return waiting.reason !== null;
  }, WAIT_MS);
  assert.match(waiting.reason ?? '', new RegExp(`${DISK_MAX} bytes`));
  const other = waiting.id === first.id ? second.id : first.id;
  assert.equal(problem(await jobs.post(table(9_000)), 507).limit, DISK_MAX);
  await jobs.ask(`/bulk/jobs/${other}`, { method: 'DELETE' });
  for (const job of (
    JSON.parse((await jobs.ask('/bulk/jobs')).body.toString()) as {
      jobs: JobBody[];
    }
  ).jobs) {
    if (job.id !== waiting.id) await jobs.ask(`/bulk/jobs/${job.id}`, { method: 'DELETE' });
  }
  assert.equal((await jobs.until(waiting.id, 'done')).rows.total, 9_000);
});

test('an account has so many jobs at a time', async () => {
  const other = new JobClient(port, 'other');
  const open = Array.from({ length: JOBS_OPEN_MAX }, () => {
    const upload = openBulk({ port, path: '/bulk/jobs', type: CSV, key: 'other' });
    upload.request.write(table(1));
    return upload;
  });
  await eventually(async () => {
    const answer = await other.post(table(1));
    if (answer.status === 202) return false;
    assert.equal(problem(answer, 429).limit, JOBS_OPEN_MAX);
    return true;
  });
  for (const { request } of open) request.end();
  await Promise.all(
    open.map(async ({ answer }) => {
      assert.ok([202, 429].includes((await answer).status));
    }),
  );
});

test('a full disk of jobs refuses one more as without room, and nothing of it stays', async (context) => {
  const dir = smallDisk(context, 2_000_000);
  if (dir === null) return;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  symlinkSync(dir, join(built.varDir, 'jobs'));
  const { app, port: own } = await startBulkApp(built.varDir, {});
  context.after(() => app.stop());
  const before = readdirSync(dir);
  fill(dir);
  const client = new JobClient(own);
  const refused = problem(await client.post(table(5)), 507);
  assert.equal(refused.detail, 'The disk does not take the body.');
  release(dir);
  assert.deepEqual(readdirSync(dir), before);
  const answer = await client.post(table(5));
  assert.equal(answer.status, 202, answer.body.toString());
  const { id } = JSON.parse(answer.body.toString()) as JobBody;
  assert.equal((await client.until(id, 'done', 'failed')).state, 'done');
  const large = await client.create(table(12_000));
  await eventually(async () => (await client.job(large.id)).reason !== null, WAIT_MS);
  const { state, reason } = await client.job(large.id);
  assert.deepEqual([state, reason], ['queued', 'The disk is full or failed; the job waits.']);
});
