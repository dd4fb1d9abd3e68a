/** Old questions: `dataset` and `at` of lookups and carts, receipts, and `situs replay`. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { App } from '../../src/app.js';
import { ASKED_OPEN_MAX } from '../../src/dataset/generations.js';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { createLog } from '../../src/log.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { eventually } from '../support/http-eventually.js';
import { getBare, type Receipted, receiptedOf } from '../support/receipted.js';
import { runMany } from '../support/run-command.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';
import { startApp } from '../support/own-app.js';

const KEY = 'a-key-of-the-replay-test';

let built: Built;
let dir: string;
let app: App;
let base: string;
/** Names by rate. */
let names: ReadonlyMap<number, string>;
const lines: string[] = [];
const commands = new CommandProcess();

before(async () => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-replay-'));
  names = await writeRates(built.varDir, [40, 41, 42, 43]);
  app = await startApp(
    built.varDir,
    { SITUS_BOOTSTRAP_KEY: KEY, SITUS_BASE_URL: 'https://rates.example' },
    { log: createLog('error', (line) => lines.push(line)) },
  );
  base = `http://127.0.0.1:${await app.listen()}`;
});

after(async () => {
  await commands.end();
  await app.stop();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

async function get(path: string, key = KEY): Promise<Receipted> {
  return receiptedOf(await fetch(base + path, { headers: { 'x-api-key': key } }));
}

async function post(path: string, body: string): Promise<Receipted> {
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  return receiptedOf(await fetch(base + path, { method: 'POST', body, headers }));
}

async function replayed(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly out: string; readonly told: string }> {
  const { code, out, err } = await commands.run(['replay', ...args], { SITUS_VAR: built.varDir });
  return { code, out, told: err };
}

function kept(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

const ADDRESS = 'address=120+Main+St,+Elmton,+QA+91010';
const LINE = { address: '120 Main St, Elmton, QA 91010' };
const CART = JSON.stringify({
  items: [
    {
      customerId: 'c',
      currency: { currencyCode: 'USD' },
      origin: LINE,
      destination: LINE,
      lineItems: [{ itemId: 'i', price: 10.75, quantity: 1.5 }],
    },
  ],
});

test('the release that is named answers, and the active one all others', async () => {
  for (const [rate, name] of names) {
    const { status, body, dataset } = await get(`/request/v60?postalcode=${ZIP}&dataset=${name}`);
    assert.equal(status, 200, body);
    assert.equal(rateOf(body), rate);
    assert.equal(dataset?.split(';')[0], name);
  }
  const active = await get(`/request/v60?postalcode=${ZIP}`);
  assert.equal(active.dataset?.split(';')[0], built.name);
  const [first] = names.values();
  const of = `postalcode=${ZIP}&dataset=${first}`;
  assert.match((await get(`/request/v10?${of}`)).body, /"taxSales":0.04,/);
  const [plain, escaped] = await Promise.all(
    ['dataset', '%64ataset'].map((parameter) =>
      get(`/request/v60?postalcode=${ZIP}&${parameter}=${built.name}&at=2025-01-01T00:00:00Z`),
    ),
  );
  assert.deepEqual([plain?.status, escaped], [200, plain]);
  assert.match((await get(`/request/v60?format=xml&${of}`)).body, /<taxSales>0.04</);
});

test('no more releases than are foreseen stay open, and copies of others go', async () => {
  for (const name of [...names.values(), ...names.values()]) {
    assert.equal((await get(`/request/v60?postalcode=${ZIP}&dataset=${name}`)).status, 200);
  }
  await eventually(() => app.live.openCount <= 1 + ASKED_OPEN_MAX);
  await eventually(() => readdirSync(join(built.varDir, 'open')).length <= 1 + ASKED_OPEN_MAX);
  const all = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const [rate, name] = [...names][at % names.size]!;
      const { body } = await get(`/request/v60?postalcode=${ZIP}&dataset=${name}`);
      return rateOf(body) === rate;
    }),
  );
  assert.ok(all.every(Boolean));
});

test('what is not there, malformed or not included is refused as lookups are', async () => {
  const refusal = async (query: string, key = KEY): Promise<readonly [number, number, string]> => {
    const { status, body } = await get(`/request/v60?postalcode=${ZIP}&${query}`, key);
    const { code, message } = (
      JSON.parse(body) as { metadata: { response: { code: number; message: string } } }
    ).metadata.response;
    return [status, code, message];
  };
  const absent = '2020-01-01-000000000000';
  assert.deepEqual((await refusal(`dataset=${absent}`)).slice(0, 2), [422, 110]);
  assert.match((await refusal(`dataset=${absent}`))[2], /2020-01-01-000000000000 is not kept here/);
  assert.match((await refusal(`%64ataset=${absent}`))[2], /is not kept here/);
  const { headers } = await fetch(`${base}/request/v60?postalcode=${ZIP}&dataset=${absent}`, {
    headers: { 'x-api-key': KEY },
  });
  assert.equal(headers.get('x-situs-precision'), 'none');
  for (const [query, told] of [
    ['dataset=../../etc', /Parameter dataset/],
    [`dataset=${built.name}&at=yesterday`, /Parameter at/],
    ['at=2026-05-31T12:00:00Z', /Parameter at/],
    ['receipt=perhaps', /Parameter receipt/],
  ] as const) {
    const [status, code, message] = await refusal(query);
    assert.deepEqual([status, code], [422, 105], query);
    assert.match(message, told);
  }
  const words = ['key', 'create', '--plan', 'starter', '--json'];
  const { out: made } = await commands.run(words, { SITUS_VAR: built.varDir });
  const { key } = JSON.parse(made) as { key: string };
  const poor = (query: string): Promise<Receipted> =>
    get(`/request/v60?postalcode=${ZIP}&${query}`, key);
  await eventually(async () => (await poor('')).status === 200);
  assert.deepEqual((await refusal(`dataset=${built.name}`, key)).slice(0, 2), [405, 107]);
  assert.match((await poor('receipt=true')).receipt ?? '', /"grants":\["geo_enabled"\]/);
  const cart = await post(`/calculate/cart?dataset=${absent}`, CART);
  assert.equal(cart.status, 422);
  assert.match(cart.body, /"location":"query\.dataset"/);
  for (const query of ['dataset=x', 'at=2026-05-31T12:00:00Z', `%64ataset=${absent}`]) {
    assert.equal((await post(`/calculate/cart?${query}`, CART)).status, 422, query);
  }
});

test('a receipt gives the same bytes after another release is active', async () => {
  const asked = [
    `/request/v60?${ADDRESS}&receipt=true&explain=true`,
    `/request/v60?postalcode=${ZIP}&receipt=true`,
    `/request/v60?postalcode=${ZIP}&rec%65ipt=true`,
    `/request/v50?${ADDRESS}&receipt=true`,
    `/request/v10?postalcode=${ZIP}&receipt=true&format=xml`,
    `/request/v60?${ADDRESS}&receipt=TRUE&historical=202601&city=Caf\u00e9%20%2b`,
    '/request/v60?address=nowhere&receipt=true',
  ];
  const answers = await Promise.all(asked.map((path) => get(path)));
  const cart = await post('/calculate/cart?rounding=up&receipt=true&key=secret&k%65y=secret', CART);
  assert.equal(cart.status, 200, cart.body);
  assert.doesNotMatch(cart.receipt ?? '', /secret/);
  const [other = ''] = names.values();
  activateRelease(built.varDir, other);
  await eventually(async () => (await get(`/request/v60?postalcode=${ZIP}`)).dataset === other);
  for (const [index, { body, receipt }] of answers.entries()) {
    assert.ok(receipt !== null, asked[index]);
    assert.doesNotMatch(receipt, new RegExp(KEY));
    const { code, out, told } = await replayed(kept(`${index}.json`, receipt));
    assert.equal(out, body, asked[index]);
    assert.equal(code, 0, told);
    assert.match(told, /byte for byte/);
    const { dataset, at } = JSON.parse(receipt) as { dataset: string; at: string };
    const again = await get(`${asked[index]}&dataset=${dataset}&at=${at}`);
    assert.equal(again.body, body, asked[index]);
  }
  const file = kept('cart.json', cart.receipt ?? '');
  const { code, out, told } = await replayed(file, '--body', kept('body.json', CART));
  assert.equal(out, cart.body, told);
  assert.equal(code, 0);
  const { dataset, at } = JSON.parse(cart.receipt ?? '') as { dataset: string; at: string };
  const again = await post(`/calculate/cart?rounding=up&dataset=${dataset}&at=${at}`, CART);
  assert.equal(again.body, cart.body);
  activateRelease(built.varDir, built.name);
});

test('characters beyond ASCII that were sent bare are told and asked again as they were', async () => {
  for (const city of ['Caf\u00e9', 'B\u0159eclav', '\u{1f600}']) {
    const path = `/request/v60?postalcode=${ZIP}&receipt=true&address=1+${city}`;
    const { status, body, receipt } = await getBare(base, path, KEY);
    assert.equal(status, 422, body);
    const { request } = JSON.parse(receipt ?? '') as { request: string };
    assert.ok(
      request.toLowerCase().endsWith(`=1+${encodeURIComponent(city).toLowerCase()}`),
      request,
    );
    const { code, out, told } = await replayed(kept('bare.json', receipt ?? ''));
    assert.equal(out, body);
    assert.equal(code, 0, told);
  }
});

test('no character of a query ends the service, with a key or without', async () => {
  for (const path of [
    '/request/v60?format=',
    '/request/v10?receipt=true&city=',
    '/account/metrics?format=',
    '/data/tic?format=',
  ]) {
    for (const key of [KEY, '']) {
      const { status, body } = await getBare(base, `${path}\u{1f600}`, key);
      assert.ok(status > 0 && status < 500, `${path} ${status} ${body}`);
    }
  }
});

test('the day of an old question is that of its moment', async () => {
  const month = (at: string): Promise<Receipted> =>
    get(`/request/v60?${ADDRESS}&historical=202606&dataset=${built.name}&at=${at}`);
  assert.match((await month('2026-06-15T12:00:00Z')).body, /"code":111,/);
  assert.match((await month('2026-07-15T12:00:00%2b02:00')).body, /"code":100,/);
});

test('replay tells a wrong receipt, a changed answer and a release that is gone', async () => {
  const { receipt } = await get(`/request/v60?postalcode=${ZIP}&receipt=true`);
  const parts = JSON.parse(receipt ?? '') as Record<string, unknown>;
  const changed = (change: Record<string, unknown>, name = 'changed.json'): string =>
    kept(name, JSON.stringify({ ...parts, ...change }));
  const other = await replayed(changed({ sha256: '0'.repeat(64), engine: 'situs 0.0.1' }));
  assert.equal(other.code, 3);
  const { code: differs, told } = await replayed(changed({ status: 404 }));
  assert.deepEqual([differs, /status 200, .* not 404, /.test(told)], [3, true], told);
  assert.equal(
    (await replayed(kept('marked.json', `\ufeff${receipt}`))).code,
    0,
    'a byte order mark',
  );
  assert.match(other.told, /another than the one that was given.*given by situs 0\.0\.1/);
  const broken: readonly (readonly [change: Record<string, unknown>, why: RegExp])[] = [
    [{ receipt: 2 }, /its member receipt/],
    [{ at: 'x' }, /its at is broken/],
    [{ dataset: '../x' }, /its dataset is broken/],
    [{ grants: ['all'] }, /its grants is broken/],
    [{ settings: {} }, /its settings is broken/],
    [{ request: 'GET /system/health' }, /cannot be/],
    [{ dataset: '2020-01-01-000000000000' }, /is not kept in/],
    [{ request: 'POST /calculate/cart' }, /--body FILE names it/],
    [{ request: 'GET /request/v61?postalcode=91010' }, /v61, which cannot be answered/],
  ];
  const [text, ...refused] = runMany(built.varDir, [
    ['replay', kept('text', 'no JSON')],
    ...broken.map(([change], at) => ['replay', changed(change, `broken-${at}.json`)]),
  ]);
  assert.match(text!.err, /not JSON/);
  for (const [at, { code, err }] of refused.entries()) {
    assert.equal(code, 1, err);
    assert.match(err, broken[at]![1]);
  }
});

test('a lookup of the command line gives a receipt as well', async () => {
  const file = join(dir, 'lookup.json');
  const { out: body } = await commands.run(
    ['lookup', '--json', '--receipt', file, '120 Main St, Elmton, QA 91010'],
    { SITUS_VAR: built.varDir },
  );
  const { code, out, told } = await replayed(file);
  assert.equal(`${out}\n`, body);
  assert.equal(code, 0, told);
});

test('a release that was damaged is not asked', async () => {
  const name = [...names.values()].at(-1) ?? '';
  for (const each of names.values()) {
    if (each !== name) await get(`/request/v60?postalcode=${ZIP}&dataset=${each}`);
  }
  rmSync(join(releasesDir(built.varDir), name, 'data.mdb'));
  const { status, body } = await get(`/request/v60?postalcode=${ZIP}&dataset=${name}`);
  assert.equal(status, 500, body);
  assert.match(body, /"code":106/);
  assert.match(lines.join(''), /dataset asked for not opened.*has no data\.mdb/);
});
