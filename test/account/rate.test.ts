/** Rate and quotas of lookups, without a socket. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FLAG_GEO, GRANT_GEO, type LookupRequest } from '../../src/pool/types.js';
import { lookupRoutes, mayGeocode, type LookupKey } from '../../src/api/lookup/handler.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate, REFUSED } from '../../src/http/rate-limit.js';
import { EXACT_MAX, WINDOW_MS } from '../../src/http/rate-window.js';
import { routeTable } from '../../src/http/router.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { failureBytes } from '../../src/wire/failure-body.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { inject, type InjectedReply } from '../support/http-inject.js';
import { STUB_USAGE, stubKey } from '../support/http-stub-server.js';
import { newVarDir } from '../support/http-var-dir.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';

const KEY = 'situs_0123456789';
const RELEASE = { id: '2026-11-21-000000000000', dir: '/nowhere' };
const HEADER = { 'x-api-key': KEY };

/** Half a minute after noon, and a minute later. */
const AT_12_00_30 = Date.UTC(2026, 10, 21, 12, 0, 30);
const AT_12_01_30 = AT_12_00_30 + 60_000;

/** Answers as the worker would: by the grants and by whether it was geocoded. */
function work(request: LookupRequest): void {
  const text = String(request.payload);
  const geo = text.includes('address=');
  let status = text.includes('refuse') ? 422 : 200;
  if (geo && (request.grants & GRANT_GEO) === 0) status = 405;
  const flags = geo && status !== 405 ? FLAG_GEO : 0;
  request.answered({ status, code: 100, precision: 0, flags, body: Buffer.alloc(0) }, RELEASE);
}

test('10,000 requests at 12:00:30, over all versions: none until 12:01:30', () => {
  let now = AT_12_00_30;
  const table = routeTable(
    lookupRoutes({
      gate: new Gate({
        find: () => stubKey('k', 10_000),
        rates: createRateGate(() => now),
        baseUrl: '',
      }),
      usage: STUB_USAGE,
      pool: { submit: work },
      renderFailure: failureBytes,
      baseUrl: '',
    }),
  );
  const ask = (version: number): InjectedReply =>
    inject(table, 'GET', `/request/v${version}`, HEADER);
  for (let index = 0; index < 10_000; index += 1) {
    const { status, headers } = ask(API_VERSIONS[index % API_VERSIONS.length]!);
    assert.equal(status, 200);
    assert.equal(headers.get('x-ratelimit-remaining'), String(9_999 - index));
  }
  for (now of [AT_12_00_30, AT_12_00_30 + 30_000, AT_12_01_30 - 1]) {
    for (const version of API_VERSIONS) {
      const { status, headers, body } = ask(version);
      assert.equal(status, 429);
      assert.match(body, version === 60 ? /"code":108/ : /"rCode":108/);
      assert.equal(headers.get('x-ratelimit-limit'), '10000');
      assert.equal(headers.get('x-ratelimit-remaining'), '0');
      assert.ok(!headers.has('retry-after'));
    }
  }
  now = AT_12_01_30;
  assert.equal(ask(10).headers.get('x-ratelimit-remaining'), '9999');
});

test('asking what remains takes nothing, and knows keys that have asked nothing yet', () => {
  let now = 0;
  const gate = createRateGate(() => now);
  for (const rate of [3, EXACT_MAX + 3]) {
    const key = { id: String(rate), rate };
    assert.equal(gate.remaining(key), rate);
    gate.take(key);
    assert.equal(gate.remaining(key), rate - 1);
    assert.equal(gate.remaining({ ...key, rate: rate - 1 }), rate - 2);
    now += WINDOW_MS;
    assert.equal(gate.remaining(key), rate);
  }
  gate.take({ id: 'b', rate: 2 });
  assert.equal(gate.remaining({ id: 'b', rate: 0 }), 0, 'never below none');
});

test('windows that emptied are dropped without being missed', () => {
  let now = 0;
  const gate = createRateGate(() => now);
  gate.take({ id: 'idle', rate: 2 });
  now += WINDOW_MS - 1;
  gate.take({ id: 'busy', rate: 1 });
  now += 1;
  gate.take({ id: 'other', rate: 9 });
  assert.equal(gate.take({ id: 'busy', rate: 1 }), REFUSED);
  assert.equal(gate.take({ id: 'idle', rate: 2 }), 1);
});

test('a rate lowered from millions keeps a window of bounded size', () => {
  let now = 0;
  const gate = createRateGate(() => now);
  const fast = { id: 'k', rate: 100_000_000 };
  for (let index = 0; index < EXACT_MAX * 2; index += 1) {
    if (index === EXACT_MAX) now += 1;
    gate.take(fast);
  }
  assert.equal(gate.take({ id: 'k', rate: EXACT_MAX }), REFUSED);
  now = WINDOW_MS;
  assert.equal(gate.take({ id: 'k', rate: EXACT_MAX }), REFUSED, 'the newest still count');
  now = WINDOW_MS + 1;
  assert.equal(gate.take({ id: 'k', rate: EXACT_MAX }), EXACT_MAX - 1);
});

interface Metered {
  readonly usage: UsageBook;
  ask(query: string, version?: number): InjectedReply;
}

async function openMetered(
  context: TestContext,
  limits: Partial<LookupKey>,
  submit = work,
): Promise<Metered> {
  const store = await Store.open(newVarDir(context));
  const usage = new UsageBook(store);
  context.after(() => usage.close().then(() => store.close()));
  const key = { ...stubKey('k', 1_000), ...limits };
  const rates = createRateGate(() => 0);
  const table = routeTable(
    lookupRoutes({
      gate: new Gate({ find: (text) => (text === KEY ? key : null), rates, baseUrl: '' }),
      usage,
      pool: { submit },
      renderFailure: failureBytes,
      baseUrl: '',
    }),
  );
  return {
    usage,
    ask: (query, version = 60) =>
      inject(
        table,
        'GET',
        `/request/v${version}?${query}`,
        HEADER,
        '',
        new Gate({ find: () => key, rates, baseUrl: '' }).fieldsOf,
      ),
  };
}

test('answers count, refusals count against the rate alone', async (context) => {
  const { usage, ask } = await openMetered(context, { coreLimit: 3 });
  assert.equal(ask('address=1').status, 200);
  for (let turn = 0; turn < 5; turn += 1) assert.equal(ask('address=refuse').status, 422);
  assert.equal(ask('postalcode=1').status, 200);
  assert.deepEqual(usage.counts('k'), { core: 2, geo: 1, merchant: 0 });
  assert.equal(ask('postalcode=1').headers.get('x-ratelimit-remaining'), '992');
});

test('a used-up quota is 107 and 405 in the envelope of the version', async (context) => {
  const { ask } = await openMetered(context, { coreLimit: 2 });
  assert.deepEqual(
    ['a', 'b', 'c'].map((query) => ask(query).status),
    [200, 200, 405],
  );
  for (const version of API_VERSIONS) {
    const { status, headers, body } = ask('postalcode=90210', version);
    assert.equal(status, 405);
    assert.match(
      body,
      version === 60
        ? /"code":107,"name":"RESPONSE_CODE_FEATURE_NOT_ENABLED"/
        : /"rCode":107,"rName":"RESPONSE_CODE_FEATURE_NOT_ENABLED"/,
    );
    assert.equal(headers.get('x-ratelimit-limit'), '1000');
  }
  assert.match(ask('format=xml').body, /<code>107<\/code>/);
});

test('a used-up geocoding quota leaves lookups by postal code', async (context) => {
  const { ask, usage } = await openMetered(context, { geoLimit: 1 });
  assert.deepEqual(
    ['address=1', 'address=2', 'postalcode=1'].map((query) => ask(query).status),
    [200, 405, 200],
  );
  assert.deepEqual(usage.counts('k'), { core: 2, geo: 1, merchant: 0 });
});

test('requests under way together never exceed a quota, lost ones give it back', async (context) => {
  const waiting: LookupRequest[] = [];
  const statuses: number[] = [];
  const { ask, usage } = await openMetered(context, { coreLimit: 3 }, (request) => {
    waiting.push(request);
  });
  const askAndWait = (): void => {
    try {
      statuses.push(ask('postalcode=1').status);
    } catch {
      // It waits in the pool.
    }
  };
  for (let index = 0; index < 10; index += 1) askAndWait();
  assert.equal(waiting.length, 3);
  assert.deepEqual(statuses, Array<number>(7).fill(405));
  waiting.shift()?.failed('overloaded');
  waiting.splice(0).forEach(work);
  assert.equal(usage.counts('k').core, 2);
  askAndWait();
  askAndWait();
  assert.equal(waiting.length, 1);
});

test('every query that the worker geocodes has its geocoding quota asked', () => {
  const metered = { ...stubKey('k', 1), geoLimit: 1 };
  const point = 'lng=-117.5&lat=33.5';
  for (const query of [
    'address=1+Main',
    'a=1&address=2',
    point,
    '%61ddress=1+Main+St',
    'l%61t=1&lng=2',
    'postalcode=92618&lng=1&lat=2',
    'add%72ess=x',
  ]) {
    const parsed = parseQuery(query, 60, 15);
    assert.ok(!('query' in parsed) || parsed.query.kind !== 'postal', query);
    assert.ok(mayGeocode(metered, query), query);
    assert.ok(!mayGeocode(stubKey('k', 1), query));
  }
  for (const query of ['postalcode=92618', 'postalcode=92618&city=Latrobe', 'city=a%20b', '']) {
    assert.ok(!mayGeocode(metered, query), query);
  }
});

test('a fault in the handler tells the rate of the key', () => {
  const rates = createRateGate(() => 0);
  const key = stubKey('k', 9);
  const table = routeTable(
    lookupRoutes({
      gate: new Gate({ find: () => key, rates, baseUrl: '' }),
      usage: STUB_USAGE,
      pool: {
        submit: () => {
          throw new Error('a bug');
        },
      },
      renderFailure: failureBytes,
      baseUrl: '',
    }),
  );
  const { status, headers } = inject(table, 'GET', '/request/v60', HEADER);
  assert.equal(status, 500);
  assert.equal(headers.get('x-ratelimit-limit'), '9');
  assert.equal(headers.get('x-ratelimit-remaining'), '8');
});
