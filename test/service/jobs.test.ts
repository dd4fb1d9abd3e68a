/** Bulk jobs over real sockets: made, told of, fetched in parts, refused and removed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { COMPONENTS } from '../../src/describe/document.js';
import type { Built } from '../support/built-dataset.js';
import { CSV, KEYS, NDJSON, openBulk, readLines, sendBulk } from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import {
  BYTES_MAX,
  DOOR,
  type JobBody,
  JobClient,
  type JobService,
  problem,
  startJobs,
  table,
} from '../support/job-service.js';
import { faults, strictly } from '../support/schema-check.js';

let service: JobService;
let built: Built;
let port: number;
let jobs: JobClient;

before(async () => {
  service = await startJobs();
  ({ built, port, jobs } = service);
});

after(() => service.stop());

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type Condition = readonly [headers: Readonly<Record<string, string>>, status: number];

/** What a result of so many bytes answers to fields that ask for a part, or only for another one. */
function conditions(length: number, tag: string): readonly Condition[] {
  // biome-ignore format: what is asked stands beside what is answered
  return [
    [{ Range: `bytes=${length}-` }, 416], [{ Range: 'bytes=-0' }, 416],
    [{ Range: 'bytes=9-5' }, 200], [{ Range: 'rows=1-2' }, 200], [{ Range: 'bytes=0-1,4-5' }, 200],
    [{ 'If-None-Match': tag }, 304], [{ 'If-None-Match': `W/"x", ${tag}` }, 304],
    [{ 'If-None-Match': '*' }, 304], [{ 'If-None-Match': '"x"' }, 200],
    [{ Range: 'bytes=0-9', 'If-Range': tag }, 206], [{ Range: 'bytes=0-9', 'If-Range': '"x"' }, 200],
  ];
}

test('a job answers with the bytes of a stream, in whole, in parts and packed', async () => {
  const body = `${table(600)}x,"nowhere"\n`;
  const answer = await jobs.post(body);
  assert.equal(answer.status, 202);
  const made = JSON.parse(answer.body.toString()) as JobBody;
  assert.match(String(answer.headers['location']), new RegExp(`/bulk/jobs/${made.id}$`));
  assert.equal(faults(strictly(COMPONENTS.BulkJob), made), '');
  const job = await jobs.until(made.id, 'done', 'failed');
  assert.equal(faults(strictly(COMPONENTS.BulkJob), job), '');
  assert.deepEqual(
    [job.state, job.complete, job.rows, job.codes, job.progress, job.dataset],
    ['done', true, { total: 601, done: 601 }, { 100: 600, 109: 1 }, 1, built.name],
  );
  const stream = await sendBulk({ port, type: CSV }, body);
  const whole = await jobs.result(job.id);
  assert.equal(whole.status, 200);
  assert.equal(whole.headers['content-type'], 'text/csv; charset=utf-8');
  assert.ok(whole.body.equals(stream.body));
  assert.deepEqual(job.result, {
    href: `/bulk/jobs/${job.id}/result`,
    bytes: whole.body.length,
    sha256: sha256(whole.body),
  });
  const tag = String(whole.headers['etag']);
  assert.equal(tag, `"${sha256(whole.body)}"`);
  const { length } = whole.body;
  for (const [range, from, to] of [
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, length],
    ['bytes=-7', length - 7, length],
    [`bytes=5-${length * 2}`, 5, length],
    [`bytes=-${length * 2}`, 0, length],
  ] as const) {
    const part = await jobs.result(job.id, { Range: range, 'Accept-Encoding': 'gzip' });
    assert.equal(part.status, 206);
    assert.equal(part.headers['content-range'], `bytes ${from}-${to - 1}/${length}`);
    assert.ok(part.body.equals(whole.body.subarray(from, to)), range);
  }
  for (const [headers, status] of conditions(length, tag)) {
    const found = await jobs.result(job.id, headers);
    assert.equal(found.status, status, JSON.stringify(headers));
    if (status === 200) assert.equal(found.body.length, length);
    if (status === 304) assert.equal(found.body.length, 0);
    if (status === 416) assert.equal(found.headers['content-range'], `bytes */${length}`);
  }
  const packed = await jobs.result(job.id, { 'Accept-Encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.notEqual(packed.headers['etag'], tag);
  assert.ok(gunzipSync(packed.body).equals(whole.body));
});

test('a connection goes on after a job was made or refused on it', async () => {
  // Unlike the other client, this one keeps its connections.
  const headers = { 'X-API-KEY': KEYS.bulk, 'Content-Type': CSV };
  for (const path of ['/bulk/jobs', '/bulk/jobs?kind=nothing']) {
    const base = `http://127.0.0.1:${port}`;
    const made = await fetch(base + path, { method: 'POST', headers, body: table(1) });
    await made.text();
    for (const other of ['/bulk/jobs/job_0', '/bulk/jobs/job_0/result', '/bulk/jobs/job_0']) {
      const found = await fetch(base + other, { headers });
      assert.equal(found.status, 404);
      await found.text();
    }
  }
});

test('lines have a header and a trailer of the job, and the upload may be packed', async () => {
  const rows = Array.from({ length: 300 }, (_, id) => `${JSON.stringify({ id, address: DOOR })}\n`);
  const answer = await jobs.post(gzipSync(rows.join('')), NDJSON, '', {
    'Content-Encoding': 'gzip',
  });
  const { id } = JSON.parse(answer.body.toString()) as JobBody;
  await jobs.until(id, 'done');
  const { header, rows: lines, trailer } = readLines((await jobs.result(id)).body);
  assert.deepEqual(
    [header['job'], trailer.job, trailer.rows, trailer.complete],
    [id, id, 300, true],
  );
  assert.deepEqual(
    lines.map(({ id: own }) => own),
    rows.map((_, index) => index),
  );
  const asked = await jobs.create(table(3), CSV, '?kind=lookup&map=address:address');
  assert.equal((await jobs.until(asked.id, 'done')).rows.done, 3);
});

test('jobs of another account are as if they were not', async () => {
  const { id } = await jobs.create(table(2));
  await jobs.until(id, 'done');
  const other = new JobClient(port, 'other');
  for (const [path, method] of [
    ['', 'GET'],
    ['/result', 'GET'],
    ['', 'DELETE'],
  ] as const) {
    const theirs = await other.ask(`/bulk/jobs/${id}${path}`, { method });
    const nobody = await other.ask(`/bulk/jobs/job_0${path}`, { method });
    problem(theirs, 404);
    assert.equal(theirs.body.toString(), nobody.body.toString().replaceAll('job_0', id));
  }
  const list = JSON.parse((await other.ask('/bulk/jobs')).body.toString()) as { jobs: object[] };
  assert.deepEqual(list, { jobs: [] });
  const own = JSON.parse((await jobs.ask('/bulk/jobs')).body.toString()) as { jobs: JobBody[] };
  assert.equal(faults(strictly(COMPONENTS.BulkJobs), own), '');
  assert.ok(own.jobs.some((job) => job.id === id));
  problem(await jobs.ask('/bulk/jobs', { key: null }), 401);
  problem(await jobs.ask('/bulk/jobs', { key: 'starter' }), 403);
  problem(await jobs.ask(`/bulk/jobs/${id}`, { method: 'PUT' }), 405);
  problem(await jobs.ask(`/bulk/jobs/${id}/input`), 404);
});

test('what is done is removed, and what is not is cancelled', async () => {
  const done = await jobs.create(table(2));
  await jobs.until(done.id, 'done');
  assert.equal((await jobs.ask(`/bulk/jobs/${done.id}`, { method: 'DELETE' })).status, 204);
  problem(await jobs.ask(`/bulk/jobs/${done.id}`), 404);
  assert.ok(!readdirSync(join(built.varDir, 'jobs')).includes(done.id));
  // Rows of one worker: this takes long enough to be met running.
  const long = await jobs.create(table(9_000));
  await jobs.until(long.id, 'running', 'done');
  const answer = await jobs.ask(`/bulk/jobs/${long.id}`, { method: 'DELETE' });
  assert.equal(answer.status, 200, 'it was still running');
  const cancelled = JSON.parse(answer.body.toString()) as JobBody;
  assert.deepEqual(
    [cancelled.state, cancelled.result, cancelled.complete],
    ['cancelled', null, false],
  );
  assert.match(problem(await jobs.result(long.id), 409).detail, /cancelled/);
  // Nothing but who made it.
  assert.deepEqual(readdirSync(join(built.varDir, 'jobs', long.id)), ['maker']);
  assert.equal((await jobs.ask(`/bulk/jobs/${long.id}`, { method: 'DELETE' })).status, 204);
});

test('an Idempotency-Key makes one job of many requests', async () => {
  const key = { 'Idempotency-Key': 'once' };
  const first = await jobs.post(table(4), CSV, '', key);
  const again = await jobs.post(table(4), CSV, '', key);
  assert.equal(again.status, 202);
  assert.equal(again.body.toString(), first.body.toString());
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal(again.headers['location'], first.headers['location']);
  problem(await jobs.post(table(5), CSV, '', key), 422);
  problem(await jobs.post(table(4), CSV, '?historical=202001', key), 422);
  problem(await jobs.post(table(4), CSV, '', { 'Idempotency-Key': 'x'.repeat(256) }), 400);
  const slow = openBulk({
    port,
    path: '/bulk/jobs',
    type: CSV,
    headers: { 'Idempotency-Key': 'twice' },
  });
  slow.request.write(table(1));
  await eventually(async () => {
    const other = await jobs.post(table(1), CSV, '', { 'Idempotency-Key': 'twice' });
    if (other.status === 202) throw new Error('the first request was not under way');
    problem(other, 409);
    return true;
  });
  slow.request.end();
  assert.equal((await slow.answer).status, 202);
});

test('a body that cannot be read makes no job', async () => {
  const before = readdirSync(join(built.varDir, 'jobs')).length;
  problem(await jobs.post('a,b\n1,2\n'), 422);
  problem(await jobs.post(''), 422);
  problem(await jobs.post('x', 'text/plain'), 415);
  problem(await jobs.post(table(1), CSV, '?kind=nothing'), 422);
  problem(await jobs.post(table(1), CSV, '?foo=1'), 422);
  problem(await jobs.post('{"a":1}', NDJSON, '', { Accept: 'text/csv' }), 406);
  assert.equal(problem(await jobs.post(Buffer.alloc(BYTES_MAX + 1, 'x')), 413).limit, BYTES_MAX);
  const torn = openBulk({ port, path: '/bulk/jobs', type: CSV });
  torn.request.on('error', () => undefined);
  torn.answer.catch(() => undefined);
  torn.request.write(table(1));
  await eventually(async () => readdirSync(join(built.varDir, 'jobs')).length === before + 1);
  torn.request.destroy();
  await eventually(async () => readdirSync(join(built.varDir, 'jobs')).length === before);
});

test('a used-up quota ends a job with what was answered', async () => {
  const quota = new JobClient(port, 'quota');
  const { id } = await quota.create(table(9));
  const job = await quota.until(id, 'failed', 'done');
  assert.equal(job.state, 'failed');
  assert.deepEqual([job.stopped?.code, job.stopped?.line, job.codes], [107, 7, { 100: 5, 107: 1 }]);
  assert.match(job.reason ?? '', /quota/);
  assert.equal((await quota.result(id)).body.toString().trim().split('\n').length, 7);
  problem(await quota.post(table(1)), 405);
});

test('strict has all rows or no result', async () => {
  const { id } = await jobs.create(`${table(2)}9,"nowhere"\n`, CSV, '?strict=true');
  const job = await jobs.until(id, 'failed', 'done');
  assert.deepEqual([job.state, job.result, job.stopped?.line], ['failed', null, 4]);
  problem(await jobs.result(id), 409);
  const sound = await jobs.create(table(2), CSV, '?strict=true');
  assert.equal((await jobs.until(sound.id, 'failed', 'done')).state, 'done');
});
