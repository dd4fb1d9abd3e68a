/** Account metrics without a socket. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { accountRoutes } from '../../src/api/account/handler.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate, type RateGate } from '../../src/http/rate-limit.js';
import { routeTable } from '../../src/http/router.js';
import { KeyCache } from '../../src/store/watched.js';
import { createKey, disableKey, updateKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { inject, type InjectedReply } from '../support/http-inject.js';
import { newVarDir } from '../support/http-var-dir.js';

const KEY = 'situs_0123456789';
const UNKNOWN = 'other_0123456789';
const MESSAGE = 'Ask the shop <a@b>';

const ZEROS = {
  request_count: 0,
  request_limit: 0,
  usage_percent: 0,
  is_active: false,
  message: MESSAGE,
};

const LEGACY_ZEROS = {
  core_request_count: 0,
  core_request_limit: 0,
  core_usage_percent: 0,
  geo_request_count: 0,
  geo_request_limit: 0,
  geo_usage_percent: 0,
  geo_enabled: false,
  is_active: false,
  message: MESSAGE,
};

interface Account {
  readonly store: Store;
  readonly usage: UsageBook;
  readonly rates: RateGate;
  readonly keys: KeyCache;
  get(target: string, headers?: Readonly<Record<string, string>>, method?: string): InjectedReply;
}

async function openAccount(context: TestContext): Promise<Account> {
  const store = await Store.open(newVarDir(context));
  const keys = new KeyCache(store);
  const usage = new UsageBook(store);
  context.after(() => usage.close().then(() => store.close()));
  const rates = createRateGate(() => 0);
  const own = { rates, baseUrl: '' };
  await createKey(store, { text: KEY, plan: 'pro', coreLimit: 1_000, geoLimit: 40 });
  const table = routeTable(
    accountRoutes({
      gate: new Gate({ ...own, find: (text) => keys.findAny(text) }),
      counts: (id) => usage.counts(id),
      message: MESSAGE,
    }),
  );
  const { fieldsOf } = new Gate({ ...own, find: (text) => keys.find(text) });
  return {
    store,
    usage,
    rates,
    keys,
    get: (target, headers = {}, method = 'GET') =>
      inject(table, method, target, headers, '', fieldsOf),
  };
}

function rateOf({ headers }: InjectedReply): readonly (string | undefined)[] {
  return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
}

function use({ keys, usage }: Account, lookups: number, geo: number): void {
  const key = keys.find(KEY);
  assert.ok(key);
  for (let index = 0; index < lookups; index += 1) {
    const admission = usage.admit(key, index < geo);
    assert.ok(admission);
    usage.settle(admission, true, index < geo);
  }
}

test('each path has its own members and tells what was used', async (context) => {
  const account = await openAccount(context);
  use(account, 57, 30);
  const legacy = {
    core_request_count: 57,
    core_request_limit: 1_000,
    core_usage_percent: 5.7,
    geo_request_count: 30,
    geo_request_limit: 40,
    geo_usage_percent: 75,
    geo_enabled: true,
    is_active: true,
    message: MESSAGE,
  };
  const current = {
    request_count: 57,
    request_limit: 1_000,
    usage_percent: 5.7,
    is_active: true,
    message: MESSAGE,
  };
  for (const version of API_VERSIONS) {
    for (const path of [`/account/v${version}/metrics`, `/account/v${version}/metrics/`]) {
      const reply = account.get(`${path}?key=${KEY}`);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get('content-type'), 'application/json');
      assert.deepEqual(JSON.parse(reply.body), version === 60 ? current : legacy);
    }
  }
  for (const path of ['/account/metrics', '/account/metrics/']) {
    assert.deepEqual(JSON.parse(account.get(path, { 'x-api-key': KEY }).body), {
      ...current,
      ...legacy,
      merchant_request_count: 0,
      merchant_request_limit: 0,
      merchant_usage_percent: 0,
    });
  }
});

test('a missing key is a 400 with error and message, in either format', async (context) => {
  const { get } = await openAccount(context);
  for (const query of ['', '?key=', '?apiKey=situs_0123456789', '?format=yaml']) {
    const reply = get(`/account/v60/metrics${query}`);
    assert.equal(reply.status, 400);
    const body = JSON.parse(reply.body) as Readonly<Record<string, unknown>>;
    assert.deepEqual(Object.keys(body), ['error', 'message']);
    assert.ok(Object.values(body).every((text) => typeof text === 'string' && text !== ''));
    assert.deepEqual(rateOf(reply), ['0', '0']);
  }
  const xml = get('/account/metrics?format=xml');
  assert.equal(xml.status, 400);
  assert.match(xml.body, /<response><error>[^<]+<\/error><message>[^<]+<\/message><\/response>$/);
});

test('an unknown key of valid form has zeros and is inactive', async (context) => {
  const { get } = await openAccount(context);
  for (const key of [UNKNOWN, 'x'.repeat(10), 'x'.repeat(100)]) {
    const reply = get(`/account/v60/metrics?key=${key}`);
    assert.equal(reply.status, 200);
    assert.deepEqual(JSON.parse(reply.body), ZEROS);
    assert.deepEqual(JSON.parse(get(`/account/v10/metrics?key=${key}`).body), LEGACY_ZEROS);
    assert.deepEqual(rateOf(reply), ['0', '0']);
  }
  const header = { 'x-api-key': UNKNOWN };
  assert.deepEqual(JSON.parse(get(`/account/v60/metrics?key=${KEY}`, header).body), ZEROS);
});

test('a malformed key is a malformed parameter and is not repeated', async (context) => {
  const { get } = await openAccount(context);
  for (const key of ['x'.repeat(9), 'y'.repeat(101)]) {
    const reply = get(`/account/metrics?key=${key}`);
    assert.equal(reply.status, 422);
    assert.equal(reply.headers.get('content-type'), 'application/problem+json');
    assert.ok(!reply.body.includes(key));
    const { errors } = JSON.parse(reply.body) as { errors: readonly { location: string }[] };
    assert.deepEqual(
      errors.map(({ location }) => location),
      ['query.key'],
    );
  }
  assert.match(get('/account/metrics', { 'x-api-key': 'short' }).body, /"header\.X-API-KEY"/);
});

test('a disabled key keeps its counters', async (context) => {
  const account = await openAccount(context);
  use(account, 3, 0);
  await disableKey(account.store, KEY);
  const reply = account.get(`/account/v60/metrics?key=${KEY}`);
  assert.equal(reply.status, 200);
  assert.deepEqual(JSON.parse(reply.body), {
    request_count: 3,
    request_limit: 1_000,
    usage_percent: 0.3,
    is_active: false,
    message: MESSAGE,
  });
  assert.deepEqual(rateOf(reply), ['0', '0']);
});

test('a denied entitlement shows', async (context) => {
  const { get, store } = await openAccount(context);
  await updateKey(store, KEY, { deny: 1 });
  assert.match(get(`/account/v50/metrics?key=${KEY}`).body, /"geo_enabled":false/);
});

test('format is json or xml in any case, anything else is refused', async (context) => {
  const { get } = await openAccount(context);
  const xml = get(`/account/v60/metrics?key=${KEY}&format=XML`);
  assert.equal(xml.headers.get('content-type'), 'application/xml; charset=utf-8');
  assert.match(xml.body, /<message>Ask the shop &lt;a@b&gt;<\/message><\/response>$/);
  assert.equal(get(`/account/v60/metrics?key=${KEY}&format=Json`).status, 200);
  const bad = get(`/account/v60/metrics?format=c%20v&key=${KEY}`);
  assert.equal(bad.status, 422);
  assert.match(bad.body, /"location":"query\.format".*"value":"c v"/);
  assert.deepEqual(rateOf(bad), ['500', '500']);
});

test('metrics tell the rate of the key and take nothing from it', async (context) => {
  const { get, rates, keys } = await openAccount(context);
  const key = keys.find(KEY);
  assert.ok(key);
  rates.take(key);
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(rateOf(get(`/account/metrics?key=${KEY}`)), ['500', '499']);
  }
});

test('wrong methods and paths below these operations tell the rate too', async (context) => {
  const { get } = await openAccount(context);
  const header = { 'x-api-key': KEY };
  assert.deepEqual(rateOf(get('/account/metrics', header, 'POST')), ['500', '500']);
  assert.deepEqual(rateOf(get('/account/v70/metrics', header)), ['500', '500']);
  const bare = get('/account/v70/metrics');
  assert.equal(bare.status, 404);
  assert.deepEqual(rateOf(bare), ['0', '0']);
  assert.deepEqual(rateOf(get('/elsewhere', header)), [undefined, undefined]);
});
