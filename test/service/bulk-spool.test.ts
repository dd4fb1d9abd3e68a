/** Bulk output that waits on the disk for its end, and how much of it there may be. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { SPOOL_ACCOUNT_PART } from '../../src/bulk/run/spool.js';
import type { Built } from '../support/built-dataset.js';
import {
  NDJSON,
  openBulk,
  readLines,
  withBulkApp,
  type BulkAnswer,
  sendNdjson,
} from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';

const DOOR = '120 Main St, Elmton, QA 91010';
const SPOOL_MAX = 4_000_000;
const SPOOL_ACCOUNT_MAX = SPOOL_MAX * SPOOL_ACCOUNT_PART;

let built: Built;
let port: number;

withBulkApp(
  (started) => {
    ({ built, port } = started);
  },
  { SITUS_BULK_SPOOL_BYTES_MAX: String(SPOOL_MAX) },
);

function rowsOf(count: number): string {
  return Array.from(
    { length: count },
    (_, id) => `${JSON.stringify({ id, address: DOOR })}\n`,
  ).join('');
}

/** Bytes of all files in the spool, where each server has a folder. */
function spooled(): readonly number[] {
  return readdirSync(join(built.varDir, 'spool'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ path, name }) => statSync(join(path, name)).size);
}

function empty(): boolean {
  return spooled().length === 0;
}

interface Refused {
  readonly limit: number;
  readonly detail: string;
}

function refused({ status, body }: BulkAnswer): Refused {
  assert.equal(status, 507);
  return JSON.parse(body.toString()) as Refused;
}

test('spooled output is the same, and its disk has a limit', async () => {
  const spool = { path: '/bulk/lookup?spool=true' };
  const body = rowsOf(100);
  assert.deepEqual(
    readLines((await sendNdjson(port, body, spool)).body).rows,
    readLines((await sendNdjson(port, body)).body).rows,
  );
  const full = refused(await sendNdjson(port, rowsOf(2_000), spool));
  assert.equal(full.limit, SPOOL_ACCOUNT_MAX);
  await eventually(empty);
  const packed = await sendNdjson(port, body, { ...spool, headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(readLines(gunzipSync(packed.body)).trailer.complete, true);
  await eventually(empty);
});

test('one account fills its share of that disk, and another has its own', async () => {
  const path = '/bulk/lookup?spool=true';
  const body = rowsOf(300);
  const held = openBulk({ port, path, type: NDJSON });
  held.request.write(body);
  await eventually(() => spooled().reduce((sum, bytes) => sum + bytes, 0) > SPOOL_ACCOUNT_MAX / 2);
  const over = refused(await sendNdjson(port, body, { path }));
  assert.equal(over.limit, SPOOL_ACCOUNT_MAX);
  assert.match(over.detail, /of one account/);
  const other = readLines((await sendNdjson(port, body, { path, key: 'other' })).body);
  assert.equal(other.trailer.complete, true);
  held.request.end();
  assert.equal(readLines((await held.answer).body).trailer.complete, true);
  await eventually(empty);
  assert.equal(
    readLines((await sendNdjson(port, body, { path })).body).trailer.complete,
    true,
    'room again',
  );
});
