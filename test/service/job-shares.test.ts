/** What the jobs of one account may take, and that another's go on. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import type { App } from '../../src/app.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { startBulkApp } from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import { type JobBody, JobClient, problem, table, WAIT_MS } from '../support/job-service.js';

const ACCOUNT_MAX = 1_500_000;
const ERRORS_MAX = 200_000;
const SETTINGS = {
  SITUS_JOB_BYTES_MAX: '100000000',
  SITUS_JOB_ACCOUNT_BYTES_MAX: String(ACCOUNT_MAX),
  SITUS_JOB_ERROR_BYTES_MAX: String(ERRORS_MAX),
};

let built: Built;
let app: App;
let mine: JobClient;
let other: JobClient;

async function start(): Promise<void> {
  const { app: started, port } = await startBulkApp(built.varDir, SETTINGS);
  app = started;
  mine = new JobClient(port);
  other = new JobClient(port, 'other');
}

before(async () => {
  built = buildRecipe('fixture');
  await start();
});

after(async () => {
  await app.stop();
  built.remove();
  rmSync(built.varDir, { recursive: true, force: true });
});

async function removeAll(): Promise<void> {
  const listed = JSON.parse((await mine.ask('/bulk/jobs')).body.toString()) as { jobs: JobBody[] };
  for (const { id } of listed.jobs) {
    await mine.ask(`/bulk/jobs/${id}`, { method: 'DELETE' });
    await mine.ask(`/bulk/jobs/${id}`, { method: 'DELETE' });
  }
}

/** Rows of broken JSON: a few hundred bytes when packed. */
function broken(rows: number): Buffer {
  return gzipSync(Buffer.from('[]\n'.repeat(rows)));
}

async function postBroken(client: JobClient, rows: number): Promise<JobBody> {
  const answer = await client.post(broken(rows), 'application/x-ndjson', '', {
    'Content-Encoding': 'gzip',
  });
  assert.equal(answer.status, 202, answer.body.toString());
  const { id } = JSON.parse(answer.body.toString()) as JobBody;
  return client.until(id, 'done', 'failed');
}

test('refused rows end a job at the share of its account, and another has its own', async () => {
  const job = await postBroken(mine, 20_000);
  assert.equal(job.state, 'failed');
  assert.equal(job.stopped?.code, 108);
  assert.match(job.reason ?? '', new RegExp(`${ERRORS_MAX} bytes`));
  assert.ok(job.rows.done > 0 && job.rows.done < 20_000, String(job.rows.done));
  assert.ok((job.result?.bytes ?? 0) < ERRORS_MAX * 1.1, String(job.result?.bytes));
  const {
    rows: { done },
  } = await postBroken(mine, 5_000);
  assert.equal(done, 0, 'all jobs of the account share it');
  const good = await mine.create(table(1_000));
  assert.equal((await mine.until(good.id, 'done', 'failed')).state, 'done');
  assert.equal((await postBroken(other, 100)).state, 'done');
});

test('the share is known after a restart, and removed jobs give it back', async () => {
  await app.stop();
  // The keys are there, and are not made a second time.
  const { App: Again } = await import('../../src/app.js');
  const { loadConfig } = await import('../../src/config.js');
  const { SILENT } = await import('../../src/log.js');
  app = await Again.start({
    config: loadConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: built.varDir,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      ...SETTINGS,
    }),
    log: SILENT,
  });
  const port = await app.listen();
  [mine, other] = [new JobClient(port), new JobClient(port, 'other')];
  assert.equal((await postBroken(mine, 5_000)).rows.done, 0);
  await removeAll();
  assert.equal((await postBroken(mine, 100)).state, 'done');
  await removeAll();
});

test('an account that has used up its disk waits, another does not', async () => {
  // About 165 bytes a row of result, besides the rows themselves.
  const jobs = [await mine.create(table(4_600)), await mine.create(table(4_600))];
  let waiting: JobBody | undefined;
  await eventually(async () => {
    const now = await Promise.all(jobs.map(({ id }) => mine.job(id)));
    waiting = now.find(({ reason }) => reason !== null);
    return waiting !== undefined;
  }, WAIT_MS);
  assert.match(waiting?.reason ?? '', new RegExp(`of the account may take ${ACCOUNT_MAX} bytes`));
  assert.equal(problem(await mine.post(table(30_000)), 507).limit, ACCOUNT_MAX);
  const theirs = await other.create(table(4_600));
  assert.equal((await other.until(theirs.id, 'done', 'failed')).state, 'done');
  // Both may wait for one another: whoever removes one makes room.
  const rest = jobs.find(({ id }) => id !== waiting?.id);
  await mine.ask(`/bulk/jobs/${rest?.id ?? ''}`, { method: 'DELETE' });
  await mine.ask(`/bulk/jobs/${rest?.id ?? ''}`, { method: 'DELETE' });
  assert.equal((await mine.until(waiting?.id ?? '', 'done')).rows.total, 4_600);
});
