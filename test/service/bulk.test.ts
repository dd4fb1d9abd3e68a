/** Bulk files over real sockets: formats, options, limits and refusals. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Built } from '../support/built-dataset.js';
import {
  CSV,
  NDJSON,
  openBulk,
  readLines,
  sendBulk,
  withBulkApp,
  type BulkAnswer,
  type BulkAsk,
  type KeyName,
  type Trailer,
} from '../support/bulk-client.js';

const DOOR = '120 Main St, Elmton, QA 91010';
const BYTES_MAX = 4_000_000;

let built: Built;
let port: number;

withBulkApp(
  (started) => {
    ({ built, port } = started);
  },
  { SITUS_BULK_BYTES_MAX: String(BYTES_MAX), SITUS_BULK_ROWS_MAX: '50000' },
);

function csv(body: string | Buffer, more: Partial<BulkAsk> = {}): Promise<BulkAnswer> {
  return sendBulk({ port, type: CSV, ...more }, body);
}

function ndjson(body: string | Buffer, more: Partial<BulkAsk> = {}): Promise<BulkAnswer> {
  return sendBulk({ port, type: NDJSON, ...more }, body);
}

function rowsOf(count: number, row: object = { address: DOOR }): string {
  return Array.from({ length: count }, (_, id) => `${JSON.stringify({ id, ...row })}\n`).join('');
}

async function trailerOf(job: string, key: KeyName = 'bulk'): Promise<BulkAnswer> {
  return sendBulk({ port, path: `/bulk/trailer?job=${job}`, method: 'GET', key });
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

interface Problem {
  readonly status: number;
  readonly detail: string;
  readonly limits?: Readonly<Record<string, number>>;
  readonly limit?: number;
  readonly line?: number;
  readonly error?: { readonly code: number; readonly field: string | null };
  readonly metadata?: { readonly response: { readonly code: number } };
}

function problem(answer: BulkAnswer, status: number): Problem {
  assert.equal(answer.status, status, answer.body.toString());
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.ok(answer.headers['x-ratelimit-limit'] !== undefined);
  return JSON.parse(answer.body.toString()) as Problem;
}

test('lines come back in order between a header and a trailer', async () => {
  const answer = await ndjson(`${rowsOf(700)}{`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], NDJSON);
  assert.equal(answer.headers['x-situs-dataset'], built.name);
  const { header, rows, trailer, before: bytes } = readLines(answer.body);
  assert.equal(header['dataset'], built.name);
  assert.equal(header['job'], answer.headers['x-situs-job']);
  assert.equal((header['limits'] as Record<string, number>)['bodyBytes'], BYTES_MAX);
  assert.deepEqual(
    rows.map(({ line }) => line),
    Array.from({ length: 701 }, (_, index) => index + 1),
  );
  assert.deepEqual(
    rows.slice(0, 700).map(({ id }) => id),
    Array.from({ length: 700 }, (_, id) => id),
  );
  assert.equal(trailer.complete, true);
  assert.deepEqual(
    [trailer.rows, trailer.codes, trailer.stopped],
    [701, { 100: 700, 105: 1 }, null],
  );
  assert.deepEqual([trailer.bytes, trailer.sha256], [bytes.length, sha256(bytes)]);
});

test('a line is the single lookup with its line and id', async () => {
  const [row] = readLines((await ndjson(rowsOf(1))).body).rows;
  const single = await sendBulk({
    port,
    path: `/request/v60?address=${encodeURIComponent(DOOR)}`,
    method: 'GET',
  });
  assert.deepEqual(row, { line: 1, id: 0, ...(JSON.parse(single.body.toString()) as object) });
});

test('a table comes back with its own bytes and our columns, its trailer beside it', async () => {
  const lines = ['\ufeffnote;"Address"', `"a\r\nb";"${DOOR}"`, `ü;${DOOR}`, 'x;nowhere'];
  const answer = await csv(lines.join('\r\n'));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
  const text = answer.body.toString('utf8');
  let at = 0;
  for (const line of lines) {
    const found = text.indexOf(line, at);
    assert.ok(found >= at, line);
    at = found + line.length;
  }
  assert.match(text, /^\ufeffnote;"Address";situs_rate;/);
  assert.ok(!text.endsWith('\n'), 'no line end is added');
  const job = String(answer.headers['x-situs-job']);
  const kept = await trailerOf(job);
  const trailer = JSON.parse(kept.body.toString()) as Trailer;
  assert.deepEqual([trailer.complete, trailer.rows, trailer.codes], [true, 3, { 100: 2, 109: 1 }]);
  assert.deepEqual([trailer.bytes, trailer.sha256], [answer.body.length, sha256(answer.body)]);
  assert.equal(problem(await trailerOf(job, 'other'), 404).status, 404);
  problem(await trailerOf('bulk_0'), 404);
});

test('CSV can be answered with lines, and options say how it is read', async () => {
  const body = `Kunde|Wo\n7|${DOOR}\n`;
  const answer = await csv(body, {
    path: '/bulk/lookup?map=id:Kunde&map=address:Wo&delimiter=pipe&shippingExtended=true',
    headers: { Accept: 'application/x-ndjson;q=0.9, text/csv;q=0.1' },
  });
  const [row] = readLines(answer.body).rows;
  assert.deepEqual([row?.['line'], row?.['id']], [2, '7']);
  assert.ok('shippingExtended' in (row!['shipping'] as object));
});

test('bodies and answers may be packed', async () => {
  const body = rowsOf(2_000);
  const plain = await ndjson(body);
  const packed = await ndjson(gzipSync(body), {
    headers: { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'deflate, gzip;q=0.5' },
  });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.deepEqual(readLines(gunzipSync(packed.body)).rows, readLines(plain.body).rows);
  const unwanted = await ndjson(rowsOf(1), { headers: { 'Accept-Encoding': 'gzip;q=0' } });
  assert.equal(unwanted.headers['content-encoding'], undefined);
});

test('what expands too much, or is torn, is refused before anything was answered', async () => {
  const gzip = { 'Content-Encoding': 'gzip' };
  const bomb = gzipSync(Buffer.alloc(3_500_000, 32));
  const { detail, limit } = problem(await ndjson(bomb, { headers: gzip }), 413);
  const big = problem(await csv(gzipSync(Buffer.alloc(5_000_000, 'x')), { headers: gzip }), 413);
  assert.ok(big.limits?.['bodyBytes'] === BYTES_MAX && limit === 200 && /200 times/.test(detail));
  assert.match(problem(await ndjson('no gzip', { headers: gzip }), 422).detail, /gzip/);
  assert.match(problem(await csv(bomb.subarray(0, 9), { headers: gzip }), 422).detail, /gzip/);
});

test('a body that is torn or too long after the first rows ends with a trailer that says so', async () => {
  const good = gzipSync(rowsOf(3_000));
  const torn = await ndjson(Buffer.concat([good.subarray(0, good.length - 8), Buffer.alloc(20)]), {
    headers: { 'Content-Encoding': 'gzip' },
  });
  const { trailer, rows } = readLines(torn.body);
  assert.equal(trailer.complete, false);
  assert.ok(rows.length > 0 && rows.length === trailer.rows);
  assert.match(trailer.stopped?.message ?? '', /gzip/);
  const { request, answer } = openBulk({ port, type: NDJSON });
  const part = rowsOf(1_000, { postalcode: 'x', more: 'y'.repeat(400) });
  for (let sent = 0; sent < BYTES_MAX + part.length; sent += part.length) request.write(part);
  request.end();
  const long = readLines((await answer).body);
  assert.equal(long.trailer.complete, false);
  assert.match(long.trailer.stopped?.message ?? '', /may have 4000000 bytes/);
  assert.equal(long.trailer.stopped?.line, long.rows.length + 1);
});

test('empty bodies, headers alone and one row without a line end', async () => {
  assert.match(problem(await csv(''), 422).detail, /no header line/);
  assert.equal(readLines((await ndjson('')).body).trailer.rows, 0);
  const alone = await csv('zip');
  assert.match(alone.body.toString(), /^zip,situs_rate,.*situs_message\n$/);
  const one = await csv('zip\r\n91020');
  assert.match(one.body.toString(), /^zip,.*\r\n91020,[\d.]+,.*$/);
});

const REFUSALS: readonly (readonly [
  ask: Partial<BulkAsk>,
  body: string,
  status: number,
  detail: RegExp,
])[] = [
  [{ key: null }, '', 401, /Key format is not valid/],
  [{ key: 'starter' }, 'zip\n1', 403, /Pro or Enterprise/],
  [{ type: 'application/json' }, '{}', 415, /text\/csv or/],
  [{ headers: { 'Content-Type': 'text/csv; charset=latin1' } }, 'zip', 415, /UTF-8/],
  [{ headers: { 'Content-Encoding': 'br' } }, 'zip', 415, /gzip/],
  [{ headers: { Accept: 'application/json' } }, 'zip', 406, /CSV is answered as/],
  [{ type: NDJSON, headers: { Accept: 'text/csv' } }, '{}', 406, /NDJSON is answered as/],
  [{ path: '/bulk/lookup?strict=yes' }, 'zip', 422, /strict is true or false/],
  [{ path: '/bulk/lookup?delimiter=x' }, 'zip', 422, /delimiter is comma/],
  [{ path: '/bulk/lookup?historicall=202501' }, 'zip', 422, /no such option/],
  [{ path: '/bulk/lookup?historical=2025' }, 'zip', 422, /Parameter historical/],
  [{ path: '/bulk/lookup?map=zip:PLZ' }, 'zip\n1', 422, /no column "PLZ"/],
  [{}, 'name\nx\n', 422, /No column is known to hold a location/],
  [{}, '"zip\n', 422, /quotes of the header line/],
  [{}, `${'x'.repeat(70_000)}\n`, 413, /header line may have 65536 bytes/],
  [{}, '\n', 422, /no header line/],
];

test('each refusal is a problem document that names what is wrong', async () => {
  for (const [ask, body, status, detail] of REFUSALS) {
    const refused = problem(await csv(body, ask), status);
    assert.match(refused.detail, detail, `${status} ${body}`);
    if (status === 401) assert.equal(refused.metadata?.response.code, 101);
    if (status === 413) assert.equal(refused.limit, 65_536);
  }
  const wide = Buffer.from('\ufeffzip\n1', 'utf16le');
  assert.match(problem(await csv(wide), 415).detail, /UTF-16/);
  const declared = problem(await csv(Buffer.alloc(BYTES_MAX + 1)), 413);
  assert.equal(declared.limit, BYTES_MAX);
});

test('the request takes one place in the minute, whatever its rows', async () => {
  const first = await ndjson(rowsOf(5), { key: 'slow' });
  assert.equal(first.status, 200);
  assert.equal(first.headers['x-ratelimit-remaining'], '0');
  assert.equal(problem(await ndjson(rowsOf(1), { key: 'slow' }), 429).metadata?.response.code, 108);
});

/** The code of each row; 100 where it has no error. */
function codesOf(rows: ReturnType<typeof readLines>['rows']): readonly number[] {
  return rows.map(({ error }) => (error as { code: number } | undefined)?.code ?? 100);
}

test('a quota that is used up ends the stream with its row, and refuses the next', async () => {
  const bad = JSON.stringify({ postalcode: 'x' });
  const body = `${rowsOf(3)}${bad}\n${rowsOf(9)}`;
  const { rows, trailer } = readLines((await ndjson(body, { key: 'quota' })).body);
  // Five rows are answered with rates; the bad one is none of them.
  assert.deepEqual(codesOf(rows), [100, 100, 100, 104, 100, 100, 107]);
  assert.equal(trailer.complete, false);
  assert.deepEqual([trailer.stopped?.code, trailer.stopped?.line], [107, 7]);
  const next = problem(await ndjson(rowsOf(1), { key: 'quota' }), 405);
  assert.equal(next.metadata?.response.code, 107);
});

test('a geocoding quota takes the entitlement away and leaves the ZIPs', async () => {
  const body = `${rowsOf(5)}${rowsOf(2, { postalcode: '91010' })}`;
  const { rows, trailer } = readLines((await ndjson(body, { key: 'geo' })).body);
  assert.deepEqual(codesOf(rows), [100, 100, 100, 107, 107, 100, 100]);
  assert.equal(trailer.complete, true);
});

test('each row counts in the month like a request', async () => {
  const used = async (): Promise<readonly number[]> => {
    const answer = await sendBulk({ port, path: '/account/metrics', method: 'GET', key: 'other' });
    const text = answer.body.toString();
    return ['core', 'geo'].map((name) =>
      Number(new RegExp(`"${name}_request_count":\\{?[^0-9]*(\\d+)`).exec(text)?.[1] ?? Number.NaN),
    );
  };
  const [core = 0, geo = 0] = await used();
  await ndjson(`${rowsOf(4)}${rowsOf(3, { postalcode: '91010' })}{\n`, { key: 'other' });
  assert.deepEqual(await used(), [core + 7, geo + 4]);
});

test('strict refuses the whole file for its first bad row, and sends it whole otherwise', async () => {
  const strict = { path: '/bulk/lookup?strict=true' };
  const bad = `${rowsOf(300)}${rowsOf(2, { postalcode: 'x' })}`;
  const { line, error } = problem(await ndjson(bad, strict), 422);
  assert.deepEqual([line, error?.code, error?.field], [301, 104, 'postalcode']);
  const sent = await csv(`zip\n${'91020\n'.repeat(600)}`, strict);
  assert.equal(sent.status, 200);
  assert.equal(sent.body.toString().split('\n').length, 602);
  const kept = await trailerOf(String(sent.headers['x-situs-job']));
  const trailer = JSON.parse(kept.body.toString()) as Trailer;
  assert.equal(trailer.sha256, sha256(sent.body));
});

test('a stream has a limit of rows', async () => {
  const row = '{"postalcode":"1"}\n';
  const { trailer } = readLines((await ndjson(row.repeat(50_001))).body);
  assert.deepEqual(
    [trailer.complete, trailer.rows, trailer.stopped?.line],
    [false, 50_000, 50_001],
  );
  assert.match(trailer.stopped?.message ?? '', /may have 50000 rows/);
  assert.equal(readLines((await ndjson(row.repeat(50_000))).body).trailer.complete, true);
});
