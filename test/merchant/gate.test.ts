/** The gate of every merchant operation: key, rate, plan, quota, body size, faults. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createKey, disableKey } from '../../src/store/keys.js';
import { merchantKey } from '../../src/store/merchant-format.js';
import { PLANS, PLAN_FEATURES } from '../../src/store/plan.js';
import { Store } from '../../src/store/store.js';
import { COMPONENTS } from '../../src/describe/document.js';
import { operationObject, OPERATIONS } from '../../src/describe/operations.js';
import { bodyAboutNobody, ENDPOINTS } from '../support/merchant-routes.js';
import {
  ask,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  UNKNOWN_ID,
  type Answered,
  type AskOptions,
  type MerchantService,
} from '../support/merchant-service.js';
import { faults, strictly } from '../support/schema-check.js';

const BROKEN_KEY = 'a-key-of-a-broken-account';

let service: MerchantService;

before(async () => {
  const varDir = await newMerchantDir(null);
  const store = await Store.open(varDir);
  await createKey(store, { text: KEYS.disabled, plan: 'enterprise' });
  await disableKey(store, KEYS.disabled);
  await createKey(store, { text: BROKEN_KEY, account: 'broken', plan: 'enterprise' });
  await store.write((transaction) => {
    transaction.put(merchantKey('broken', UNKNOWN_ID), { v: 1, merchantId: UNKNOWN_ID });
  });
  await store.close();
  service = await startMerchants(varDir);
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
});

const isProblem = strictly(COMPONENTS.Problem);

function send(
  { method, path }: { readonly method: 'GET' | 'POST'; readonly path: string },
  body: unknown,
  options: AskOptions = {},
): Promise<Answered> {
  return ask(service.base, method, path, body, options);
}

function assertProblem(answer: Answered, status: number, name: string): void {
  assert.equal(answer.status, status, `${name}: ${answer.text}`);
  assert.equal(answer.headers.get('content-type'), 'application/problem+json', name);
  assert.equal(faults(isProblem, answer.body), '', name);
}

function codeOf(answer: Answered): unknown {
  const { metadata } = answer.body as { metadata?: { response?: { code?: unknown } } };
  return metadata?.response?.code;
}

test('the key comes in the header alone, and an unusable one is 401 with code 101', async () => {
  for (const endpoint of ENDPOINTS) {
    const body = bodyAboutNobody(endpoint);
    for (const key of [null, 'short', 'x'.repeat(101), 'an-unknown-key', KEYS.disabled]) {
      const answer = await send(endpoint, body, { key });
      assertProblem(answer, 401, `${endpoint.path} ${key}`);
      assert.equal(codeOf(answer), 101);
      assert.equal(answer.headers.get('x-ratelimit-limit'), '0');
      assert.equal(answer.headers.get('x-ratelimit-remaining'), '0');
    }
    const path = `${endpoint.path}?key=${KEYS.alpha}`;
    assertProblem(await send({ ...endpoint, path }, body, { key: null }), 401, path);
  }
});

test('every endpoint is open to the plans that include it, and 403 to the others', async () => {
  for (const endpoint of ENDPOINTS) {
    for (const plan of PLANS) {
      const answer = await send(endpoint, bodyAboutNobody(endpoint), { key: KEYS[plan] });
      const name = `${endpoint.path} on ${plan}`;
      assert.equal(answer.headers.get('x-ratelimit-limit'), '1000', name);
      if (PLAN_FEATURES[plan][endpoint.needs]) {
        // What an account without the merchant is answered, or a success.
        assert.equal(answer.status, endpoint.foreign ?? (endpoint.writes ? 201 : 200), name);
      } else {
        assertProblem(answer, 403, name);
        assert.match(String(answer.body['detail']), /plan/, name);
      }
    }
  }
});

test('merchants of the provider type need Enterprise, at creation and to switch', async () => {
  const key = KEYS.pro;
  for (const body of [
    { merchantName: 'P' },
    { merchantName: 'P', merchantType: 'provider' },
    { merchantName: 'P', merchant_type: 'connected' },
  ]) {
    assertProblem(await service.post('/merchant/create', body, { key }), 403, 'create');
    const made = await service.post('/merchant/create', body, { key: KEYS.enterprise });
    assert.equal(made.status, 201);
  }
  const own = await service.post(
    '/merchant/create',
    { merchantName: 'S', merchantType: 'self-managed' },
    { key },
  );
  const merchantId = own.body['merchantId'];
  const change = { merchantId, setMerchantType: 'provider', sendProviderInvite: false };
  assertProblem(await service.post('/merchant/update', change, { key }), 403, 'switch');
  const switched = await service.post('/merchant/update', change, { key: KEYS.enterprise });
  assert.equal(switched.status, 200);
  // It has that type already: nothing is asked of the plan.
  assert.equal((await service.post('/merchant/update', change, { key })).status, 200);
});

test('over the rate every endpoint is 429 with code 108', async () => {
  const options = { key: KEYS.slow };
  await service.list(options);
  for (const endpoint of ENDPOINTS) {
    const answer = await send(endpoint, bodyAboutNobody(endpoint), options);
    assertProblem(answer, 429, endpoint.path);
    assert.equal(codeOf(answer), 108);
    assert.equal(answer.headers.get('x-ratelimit-limit'), '1');
    assert.equal(answer.headers.get('x-ratelimit-remaining'), '0');
    assert.equal(answer.headers.get('retry-after'), null);
  }
});

test('a used-up quota is 405 with code 107 on writes, and reading goes on', async () => {
  const options = { key: KEYS.metered };
  const body = { merchantName: 'Only one', merchantType: 'self-managed' };
  // Refused requests do not count.
  assert.equal((await service.post('/merchant/create', {}, options)).status, 422);
  const made = await service.post('/merchant/create', body, { ...options, idempotencyKey: 'one' });
  assert.equal(made.status, 201);
  const again = await service.post('/merchant/create', body, { ...options, idempotencyKey: 'one' });
  assert.equal(again.status, 201, 'what used the quota up is answered again');
  assert.equal(again.text, made.text);
  for (const endpoint of ENDPOINTS) {
    const answer = await send(endpoint, bodyAboutNobody(endpoint), options);
    if (endpoint.writes) {
      assertProblem(answer, 405, endpoint.path);
      assert.equal(codeOf(answer), 107);
      assert.equal(answer.headers.get('x-ratelimit-limit'), '10000');
    } else {
      assert.equal(answer.status, endpoint.foreign ?? 200, endpoint.path);
    }
  }
  const metrics = await ask(service.base, 'GET', '/account/metrics', null, options);
  assert.equal(metrics.body['merchant_request_count'], 1);
});

test('a body over 1 MiB is 413', async () => {
  const body = JSON.stringify({ merchantName: 'x'.repeat(1_048_576) });
  for (const endpoint of ENDPOINTS.filter(({ method }) => method === 'POST')) {
    const answer = await send(endpoint, body);
    assertProblem(answer, 413, endpoint.path);
    assert.equal(answer.headers.get('x-ratelimit-limit'), '1000000');
  }
});

test('a fault is a 500 that tells nothing, with the fields of the rate', async () => {
  for (const endpoint of ENDPOINTS.filter(
    ({ about, path }) => about !== null || path.endsWith('list'),
  )) {
    const answer = await send(endpoint, bodyAboutNobody(endpoint), { key: BROKEN_KEY });
    assertProblem(answer, 500, endpoint.path);
    assert.equal(answer.body['detail'], 'The service failed to answer.');
    assert.equal(answer.headers.get('x-ratelimit-limit'), '10000');
  }
  assert.match(service.logged(), /"event":"handler failed","path":"\/merchant\/get"/);
});

test('answers carry what is left in the window', async () => {
  const first = await service.list({ key: KEYS.beta });
  const second = await service.list({ key: KEYS.beta });
  const left = (answer: Answered): number => Number(answer.headers.get('x-ratelimit-remaining'));
  assert.equal(first.headers.get('x-ratelimit-limit'), '1000000');
  assert.equal(left(second), left(first) - 1);
});

/** What may stand behind a path; everything else is told in bodies. */
const QUERY: Readonly<Record<string, readonly string[]>> = {
  '/merchant/list': ['limit', 'cursor'],
};

test('the document describes the bodies that are taken, and the header that is asked for', () => {
  for (const endpoint of ENDPOINTS) {
    const operation = OPERATIONS.get(`${endpoint.method} ${endpoint.path}`);
    assert.ok(operation !== undefined, endpoint.path);
    const { security } = operationObject(operation);
    assert.deepEqual(security, [{ key: [] }]);
    const fields = operation.parameters.filter((each) => each.in === 'header');
    assert.deepEqual(
      fields.map(({ name }) => name),
      endpoint.writes ? ['Idempotency-Key'] : [],
    );
    const others = operation.parameters.filter((each) => each.in !== 'header');
    assert.deepEqual(
      others.map(({ name }) => name),
      QUERY[endpoint.path] ?? [],
    );
    if (operation.body === undefined) continue;
    const check = strictly(COMPONENTS[operation.body]);
    const body = { ...bodyAboutNobody(endpoint) };
    assert.equal(faults(check, body), '', endpoint.path);
    assert.notEqual(faults(check, { ...body, more: 1 }), '', endpoint.path);
  }
});
