/** What stands around every request: its id, metrics, the log, other origins, HEAD. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Environment } from '../../src/config.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { createLog } from '../../src/log.js';
import { RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { releaseNumber } from '../support/http-var-dir.js';
import {
  metricsOf,
  parsedLines as parsed,
  startWatched as start,
  WATCHED_KEY as KEY,
} from '../support/watched-service.js';

const WRONG = 'another-key-that-is-secret-and-wrong';
const SECRETS = [KEY, WRONG, 'Spectrum', '127.0.0.1'];

const HEADERS = { 'X-API-KEY': KEY };

/** As a proxy sends on what comes from an address. */
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });

const LOOKUP = '/request/v60?echo&address=200+Spectrum+Center+Dr';

test('a request is one line: whose, what, how, how long, and nothing secret', async (context) => {
  const running = await start(context);
  const { base } = running;
  const answer = await fetch(base + LOOKUP, { headers: { ...HEADERS, 'X-Request-Id': 'mine-1' } });
  assert.equal(answer.headers.get('x-request-id'), 'mine-1');
  const made = (await fetch(`${base}${LOOKUP}&key=${WRONG}`)).headers.get('x-request-id');
  assert.match(made ?? '', /^[0-9a-f-]{36}$/);
  const bad = await fetch(`${base}/nowhere`, { headers: { 'X-Request-Id': 'no spaces here' } });
  assert.match(bad.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  await fetch(`${base}/merchant/create`, { method: 'POST', headers: HEADERS, body: '{}' });
  const lines = await running.lines();
  for (const { level, time, microseconds } of lines) {
    assert.equal(level, 'info');
    assert.ok(Number.isInteger(microseconds) && !Number.isNaN(Date.parse(String(time))));
  }
  assert.deepEqual(
    lines.map(({ id, method, operation, status, code }) => [id, method, operation, status, code]),
    [
      ['mine-1', 'GET', 'GET /request/v60', 200, 100],
      [made, 'GET', 'GET /request/v60', 401, 101],
      [bad.headers.get('x-request-id'), 'GET', 'none', 404, null],
      [lines[3]?.['id'], 'POST', 'POST /merchant/create', lines[3]?.['status'], null],
    ],
  );
  const datasets = lines.map((line) => line['dataset']);
  assert.deepEqual(datasets, [releaseNumber(1), '', '', '']);
  assert.ok(KEY.startsWith(String(lines[0]?.['key'])) && lines[0]?.['key'] !== '');
  assert.ok(WRONG.startsWith(String(lines[1]?.['key'])) && String(lines[1]?.['key']).length <= 10);
  const text = JSON.stringify(lines);
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
});

test('addresses and queries are in lines where that is switched on, keys never', async (context) => {
  const running = await start(context, {
    SITUS_REQUEST_LOG_CLIENTS: '1',
    SITUS_REQUEST_LOG_QUERIES: '1',
    SITUS_PROXIES: '127.0.0.0/8',
  });
  await fetch(`${running.base}${LOOKUP}&key=${KEY}`, from('198.51.100.7'));
  for (const name of ['apiKey', 'api_key', 'KEY', 'x-api-key', '%61pi%5Fkey']) {
    assert.equal((await fetch(`${running.base}${LOOKUP}&${name}=${KEY}`)).status, 401);
  }
  const lines = await running.lines();
  assert.equal(lines[0]?.['client'], '198.51.100.7');
  assert.equal(lines.length, 6);
  for (const { query } of lines) assert.equal(query, 'echo&address=200+Spectrum+Center+Dr');
});

test('of answered requests one in so many is logged, of refused ones each', async (context) => {
  const running = await start(context, { SITUS_REQUEST_LOG_EVERY: '5' });
  for (let sent = 0; sent < 10; sent += 1) await fetch(`${running.base}/system/live`);
  for (let sent = 0; sent < 3; sent += 1) await fetch(running.base + LOOKUP);
  const statuses = (await running.lines()).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 401, 401, 401]);
});

test('the log goes on in a new file when it was moved away', async (context) => {
  const running = await start(context);
  const { app, base, varDir } = running;
  const file = join(varDir, 'requests.log');
  await fetch(`${base}/system/live`);
  renameSync(file, `${file}.1`);
  await app.reload();
  await eventually(() => existsSync(file));
  await fetch(`${base}/system/ready`);
  const lines = [...parsed(`${file}.1`), ...(await running.lines())];
  const operations = lines.map(({ operation }) => operation);
  assert.deepEqual(operations, ['GET /system/live', 'GET /system/ready']);
});

test('a log that cannot be written ends the start by the name of its setting', async (context) => {
  const refused = (environment: Environment, told: RegExp): Promise<void> =>
    assert.rejects(start(context, environment), told);
  await refused({ SITUS_REQUEST_LOG: '/nowhere/at/all' }, /SITUS_REQUEST_LOG cannot be written/);
  await refused({ SITUS_METRICS: '9464' }, /SITUS_METRICS must be host:port/);
});

test("without a log refused keys are told in the service's own, once", async (context) => {
  const told: string[] = [];
  const log = createLog('warn', (line) => told.push(line));
  const { app, base } = await start(context, { SITUS_REQUEST_LOG: '' }, log);
  const answer = await fetch(`${base}${LOOKUP}&key=${WRONG}`);
  assert.equal(answer.headers.get('x-request-id'), null, 'nothing to be found by it');
  await fetch(`${base}${LOOKUP}&key=${WRONG}`);
  await app.stop();
  const lines = told.filter((line) => line.includes('keys refused'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"refused":2/);
  assert.ok(!lines[0]?.includes(WRONG.slice(0, 10)));
});

test('metrics count requests, refusals and times, and are not on the public port', async (context) => {
  const running = await start(context);
  const { base, app } = running;
  for (let sent = 0; sent < 3; sent += 1) await fetch(base + LOOKUP, { headers: HEADERS });
  await fetch(base + LOOKUP);
  await fetch(`${base}/nowhere`);
  await fetch(`${base}/system/health`, { method: 'HEAD' });
  assert.equal((await fetch(`${base}/metrics`)).status, 404);
  assert.equal((await fetch(`http://127.0.0.1:${app.metricsPort}/`)).status, 404);
  const text = await metricsOf(running);
  for (const line of [
    'situs_requests_total{operation="GET /request/v60",status="200"} 3',
    'situs_requests_total{operation="GET /request/v60",status="401"} 1',
    'situs_requests_total{operation="none",status="404"} 2',
    'situs_requests_total{operation="GET /system/health",status="200"} 1',
    'situs_refusals_total{code="101"} 1',
    'situs_refusals_total{code="404"} 2',
    '# TYPE situs_request_duration_seconds histogram',
    '# TYPE situs_requests_total counter',
    `situs_dataset_info{dataset="${releaseNumber(1)}"} 1`,
    'situs_dataset_stale_lists{state="WA"} 1',
    'situs_pool_workers{pool="lookup"} 1',
    'situs_outbox_records{kind="events",state="dead"} 0',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
  }
  const counts = [
    ...text.matchAll(/^situs_request_duration_seconds_(bucket|count)\{.*v60".* (\d+)$/gm),
  ].map(([, , count]) => Number(count));
  assert.equal(Math.max(...counts), 3);
  assert.match(text, /^situs_request_duration_seconds_bucket\{.*le="\+Inf".*\} 3$/m);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
  assert.match(text, /^process_resident_memory_bytes \d+$/m);
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
});

test('dashboard and alerts ask for metrics there are', async (context) => {
  const text = await metricsOf(await start(context));
  const known = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name],
    ),
  );
  const folder = join(packageRoot(), 'docs', 'monitoring');
  const dashboard = readFileSync(join(folder, 'dashboard.json'), 'utf8');
  const alerts = readFileSync(join(folder, 'alerts.yml'), 'utf8');
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  assert.ok(panels.every(({ targets }) => targets.every(({ expr }) => expr.includes('$instance'))));
  for (const page of [dashboard, alerts]) {
    const asked = page.match(/\b(?:situs|nodejs|process)_[a-z0-9_]+/g) ?? [];
    assert.ok(asked.length > 10);
    for (const name of asked) assert.ok(known.has(name), name);
  }
  const all = dashboard + alerts;
  for (const name of known) {
    if (name?.startsWith('situs_') === true && !/_(?:sum|areas|bytes|ready|refused)$/.test(name)) {
      assert.ok(all.includes(name), `${name} is on no dashboard and in no rule`);
    }
  }
  const rules = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const page = readFileSync(join(packageRoot(), 'docs', 'monitoring.md'), 'utf8');
  for (const name of rules) assert.ok(page.includes(`\`${name}\``), `${name} is not documented`);
});

test('HEAD is answered wherever GET is, and costs what it costs', async (context) => {
  const { app, base } = await start(context);
  for (const { method, path } of app.routes) {
    if (method !== 'GET' || path.includes('{')) continue;
    const get = await fetch(base + path, { headers: HEADERS });
    const head = await fetch(base + path, { method: 'HEAD', headers: HEADERS });
    assert.equal(head.status, get.status, path);
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'), path);
    const length = Buffer.byteLength(await get.text());
    if (!/metrics|live|ready/.test(path)) {
      assert.equal(Number(head.headers.get('content-length')), length, path);
    }
    assert.equal(await head.text(), '');
  }
  const put = await fetch(`${base}/system/live`, { method: 'PUT' });
  assert.equal(put.headers.get('allow'), 'GET, HEAD');
});

test('pages of named origins may ask and read', async (context) => {
  const { base } = await start(context, { SITUS_CORS_ORIGINS: 'https://shop.example' });
  const ask = (method: string, origin: string): Promise<Response> => {
    const more = method === 'OPTIONS' ? { 'Access-Control-Request-Method': 'GET' } : HEADERS;
    return fetch(base + LOOKUP, { method, headers: { Origin: origin, ...more } });
  };
  const allowed = await ask('GET', 'https://shop.example');
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://shop.example');
  assert.match(allowed.headers.get('access-control-expose-headers') ?? '', /X-Situs-Dataset/);
  assert.equal(allowed.headers.get('vary'), 'Origin');
  const other = await ask('GET', 'https://other.example');
  assert.equal(other.headers.get('access-control-allow-origin'), null);
  const preflight = await ask('OPTIONS', 'https://shop.example');
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD');
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /X-API-Key/);
  assert.equal((await ask('OPTIONS', 'https://other.example')).status, 405);
});

test('without named origins nothing is said of them', async (context) => {
  const { base } = await start(context);
  const headers = { Origin: 'https://shop.example' };
  const answer = await fetch(`${base}/system/live`, { headers });
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
  assert.equal(answer.headers.get('vary'), null);
});

test('the catalogue is limited by the address that a trusted proxy names', async (context) => {
  const { base } = await start(context, { SITUS_PROXIES: '127.0.0.1' });
  const left = async (forwarded: string): Promise<string | null> =>
    (await fetch(`${base}/data/tic`, from(forwarded))).headers.get('x-ratelimit-remaining');
  assert.equal(await left('198.51.100.1'), '99');
  assert.equal(await left('198.51.100.1'), '98');
  assert.equal(await left('198.51.100.2'), '99');
  // A proxy may add a field of its own behind the client's.
  const client = await RawClient.open(Number(new URL(base).port));
  const fields = ['198.51.100.3', '198.51.100.2'].map((each) => `X-Forwarded-For: ${each}\r\n`);
  client.write(`GET /data/tic HTTP/1.1\r\nHost: x\r\n${fields.join('')}\r\n`);
  assert.equal((await client.answer())?.headers.get('x-ratelimit-remaining'), '98');
  client.close();
  const plain = await start(context);
  await fetch(`${plain.base}/data/tic`, from('198.51.100.1'));
  const second = await fetch(`${plain.base}/data/tic`, from('198.51.100.2'));
  assert.equal(second.headers.get('x-ratelimit-remaining'), '98', 'nobody else is believed');
});
