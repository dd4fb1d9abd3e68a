/** Names that callers write where a program looks them up, and options at the wrong place. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { App } from '../../src/app.js';
import { CART_ROW_BYTES_MAX, ROW_BYTES_MAX } from '../../src/bulk/row/record-form.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  CSV,
  NDJSON,
  readLines,
  sendBulk,
  startBulkApp,
  type BulkAnswer,
  type BulkAsk,
} from '../support/bulk-client.js';
import { JobClient } from '../support/job-service.js';

const BODY = 'zip\n91010\n';
const NO_GEO = 'a-key-without-geocoding';

let built: Built;
let files: string;
let app: App;
let port: number;

before(async () => {
  built = buildRecipe('fixture');
  files = mkdtempSync(join(tmpdir(), 'situs-files-'));
  // The folder of the account that the first key belongs to.
  mkdirSync(join(files, 'default'));
  writeFileSync(join(files, 'default', 'rows.csv'), BODY);
  // As a disk of its own has one.
  mkdirSync(join(built.varDir, 'jobs', 'lost+found'), { recursive: true });
  writeFileSync(join(built.varDir, 'jobs', 'note'), 'x');
  const store = await Store.open(built.varDir);
  await createKey(store, { text: NO_GEO, plan: 'pro', grants: 0 });
  await store.close();
  ({ app, port } = await startBulkApp(built.varDir, { SITUS_BULK_DIR: files }));
});

after(async () => {
  await app.stop();
  built.remove();
  rmSync(files, { recursive: true, force: true });
});

function csv(more: Partial<BulkAsk> = {}, body: string | Buffer = BODY): Promise<BulkAnswer> {
  return sendBulk({ port, type: CSV, ...more }, body);
}

interface Problem {
  readonly detail: string;
  readonly limits: Readonly<Record<string, number>>;
  readonly errors?: readonly { readonly location: string }[];
}

function problem(answer: BulkAnswer, status: number): Problem {
  assert.equal(answer.status, status, answer.body.toString());
  return JSON.parse(answer.body.toString()) as Problem;
}

test('names that every object has are no options, types or formats', async () => {
  const jobs = new JobClient(port);
  for (const name of ['constructor', 'toString', '__proto__', 'valueOf']) {
    problem(await csv({ path: `/bulk/lookup?delimiter=${name}` }), 422);
    problem(await csv({ type: name }), 415);
    problem(await csv({ headers: { Accept: name } }), 406);
    problem(await jobs.post(BODY, CSV, `?kind=${name}`), 422);
    for (const member of ['kind', 'format', 'output', 'delimiter']) {
      const body = JSON.stringify({ file: 'rows.csv', [member]: name });
      problem(await jobs.post(body, 'application/json'), 422);
    }
  }
  assert.equal((await csv()).status, 200);
});

test('a refused option is named, and not the first that was given', async () => {
  const refused = problem(await csv({ path: '/bulk/lookup?countryCode=USA&historical=abc' }), 422);
  assert.equal(refused.errors?.[0]?.location, 'query.historical');
});

test('options of a job that names a file are members of its body alone', async () => {
  const jobs = new JobClient(port);
  const body = JSON.stringify({ file: 'rows.csv' });
  const refused = problem(await jobs.post(body, 'application/json', '?kind=cart'), 422);
  assert.equal(refused.errors?.[0]?.location, 'query.kind');
  const lines = JSON.stringify({ file: 'rows.csv', format: 'ndjson', output: 'csv' });
  const other = problem(await jobs.post(lines, 'application/json'), 406);
  assert.equal(other.errors?.[0]?.location, 'body.output');
  problem(await jobs.post(body, 'application/json-patch+json'), 415);
  assert.equal((await jobs.post(body, 'application/json;charset=utf-8')).status, 202);
});

test('carts of no merchant in a file that is named need geocoded lookups, its ZIPs do not', async () => {
  const named = (kind: string): Promise<BulkAnswer> =>
    sendBulk(
      { port, path: '/bulk/jobs', type: 'application/json', headers: { 'X-API-KEY': NO_GEO } },
      JSON.stringify({ file: 'rows.csv', kind }),
    );
  assert.match(problem(await named('cart'), 405).detail, / The key has no geocoded lookups/);
  assert.equal((await named('lookup')).status, 202);
});

test('wide and packed bodies that are not said to be are told', async () => {
  assert.match(problem(await csv({}, Buffer.from(BODY, 'utf16le')), 415).detail, /UTF-16/);
  assert.match(problem(await csv({}, gzipSync(BODY)), 415).detail, /packed with gzip/);
});

test('the limit of a row is that of its kind', async () => {
  const path = '/bulk/cart';
  const { header } = readLines((await sendBulk({ port, path, type: NDJSON })).body);
  assert.equal((header['limits'] as Record<string, number>)['rowBytes'], CART_ROW_BYTES_MAX);
  assert.equal(problem(await csv({ path }), 422).limits['rowBytes'], CART_ROW_BYTES_MAX);
  assert.equal(problem(await csv({ type: 'x' }), 415).limits['rowBytes'], ROW_BYTES_MAX);
});
