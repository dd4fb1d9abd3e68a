/** Streams that are open beside each other, and what tells of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  KEYS,
  NDJSON,
  openBulk,
  readLines,
  sendBulk,
  withBulkApp,
  type BulkAnswer,
  sendNdjson,
} from '../support/bulk-client.js';

let port: number;

withBulkApp((started) => {
  ({ port } = started);
});

function rowsOf(count: number): string {
  return '{"postalcode":"91010"}\n'.repeat(count);
}

async function trailerOf(job: string): Promise<BulkAnswer> {
  return sendBulk({ port, path: `/bulk/trailer?job=${job}`, method: 'GET' });
}

function problem(
  answer: BulkAnswer,
  status: number,
): { readonly limit?: number; readonly status: number; readonly detail: string } {
  assert.equal(answer.status, status, answer.body.toString());
  return JSON.parse(answer.body.toString()) as ReturnType<typeof problem>;
}

test('an account has a limit of open uploads, and their places are given back', async () => {
  const open = Array.from({ length: 8 }, () => openBulk({ port, type: NDJSON }));
  for (const { request } of open) request.write(rowsOf(1));
  await Promise.all(
    open.map(({ request }) => new Promise((resolve) => request.on('response', resolve))),
  );
  const refused = problem(await sendNdjson(port, rowsOf(1)), 429);
  assert.equal(refused.limit, 8);
  assert.match(refused.detail, /^8 uploads are open of this account/);
  assert.equal((await sendNdjson(port, rowsOf(1), { key: 'other' })).status, 200);
  for (const { request } of open) request.end();
  for (const { answer } of open)
    assert.equal(readLines((await answer).body).trailer.complete, true);
  assert.equal((await sendNdjson(port, rowsOf(1))).status, 200);
});

test('a trailer is not there before the stream has ended', async () => {
  const { request, answer } = openBulk({ port, type: NDJSON });
  request.write(rowsOf(1));
  const job = await new Promise<string>((resolve) => {
    request.on('response', ({ headers }) => resolve(String(headers['x-situs-job'])));
  });
  assert.match(problem(await trailerOf(job), 409).detail, /upload has not ended/);
  request.end();
  await answer;
  assert.equal((await trailerOf(job)).status, 200);
  assert.equal(
    problem(
      await sendBulk({ port, path: `/bulk/trailer?key=${KEYS.starter}`, method: 'GET', key: null }),
      403,
    ).status,
    403,
  );
});
