/** Everything that can go wrong at the provider, and what the caller is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultName } from '../../src/provider/simulator/faults.js';
import { RESPONSE_BYTES_MAX } from '../../src/provider/client.js';
import { eventually } from '../support/http-eventually.js';
import { KEYS, type RawAnswered } from '../support/merchant-service.js';
import {
  BODIES,
  CONNECTION_ID,
  postRaw,
  startRelay,
  type RelayName,
  type RelayService,
} from '../support/relay-service.js';
import { startRawProvider, startSimulator } from '../support/simulated-provider.js';

/** Long enough for what is not slow on purpose, whatever else the machine does. */
const TIMEOUT_MS = 5_000;
const SECRET = 'sk-a-very-secret-provider-key';

function relayed(
  service: RelayService,
  name: RelayName,
  signal?: AbortSignal,
  idempotencyKey?: string,
): Promise<RawAnswered> {
  return postRaw(
    service,
    `/merchant/${name}`,
    JSON.stringify({ merchantId: service.connected, ...BODIES[name] }),
    {
      ...(signal === undefined ? {} : { signal }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    },
  );
}

/** The detail of a problem of ours, which is checked to be one. */
function detailOf({ status, text, headers }: RawAnswered): string {
  assert.equal(headers.get('content-type'), 'application/problem+json');
  const problem = JSON.parse(text) as { status: number; detail: string; instance: string };
  assert.equal(problem.status, status);
  assert.match(problem.instance, /^\/merchant\//);
  return problem.detail;
}

test('faults of the simulated provider', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url, timeoutMs: TIMEOUT_MS });
  const met = async (fault: FaultName, name: RelayName) => {
    simulator.plan(fault);
    return relayed(service, name);
  };
  const slow = await met('slow', 'order/create');
  assert.equal(slow.status, 504);
  assert.match(detailOf(slow), /did not answer in time.*not known/);

  const reset = await met('reset', 'order/create');
  assert.equal(reset.status, 502);
  assert.match(detailOf(reset), /could not be reached, or cut the call.*not known/);

  const broken = await met('500', 'order/create');
  assert.equal(broken.status, 502);
  assert.match(detailOf(broken), /no usable answer/);

  const garbage = await met('garbage', 'order/get');
  assert.equal(garbage.status, 502);
  assert.ok(!garbage.text.includes('html'));

  const limited = await met('429', 'order/get');
  assert.equal(limited.status, 429);
  assert.equal(limited.text, '{"title":"Too Many Requests","status":429,"detail":"simulated"}');
  assert.equal(limited.headers.get('retry-after'), null);
  assert.equal(limited.headers.get('set-cookie'), null);
  assert.equal(limited.headers.get('x-ratelimit-limit'), '1000000', "the caller's own");

  const calls = simulator.received.length;
  const read = await met('reset', 'order/get');
  assert.equal(read.status, 200, 'reading is tried once more');
  assert.equal(simulator.received.length, calls + 2);
});

/** Answers of a provider, and what the caller gets; null bodies are problems of ours. */
const ANSWERS: readonly (readonly [
  status: string,
  type: string,
  body: string,
  told: number,
  relayed: boolean,
])[] = [
  ['200 OK', 'application/json', '{"a":1}', 200, true],
  ['201 Created', 'application/json', '[]', 201, true],
  ['200 OK', '', '{"a":1}', 200, true],
  ['200 OK', 'text/html', '{"a":1}', 502, false],
  ['200 OK', 'application/json', '{"a":1', 502, false],
  ['200 OK', 'application/json', '', 502, false],
  ['200 OK', 'application/json', '{"a":"\xff"}', 502, false],
  ['202 Accepted', 'application/json', '{}', 502, false],
  ['206 Partial Content', 'application/json', '{}', 502, false],
  ['301 Moved', 'application/json', '{}', 502, false],
  ['307 Moved', 'application/json', '{}', 502, false],
  ['400 Bad', 'application/problem+json', '{"detail":"duplicate"}', 400, true],
  ['404 None', 'application/json', '{"detail":"no order"}', 404, true],
  ['409 Conflict', 'application/json', '{}', 409, true],
  ['413 Large', 'application/json', '{}', 413, true],
  ['422 Bad', 'application/json', '{"errors":[{"location":"body.x"}]}', 422, true],
  ['429 Many', 'application/json', '{}', 429, true],
  ['404 None', 'text/html', '<html>', 404, false],
  ['422 Bad', 'application/json', '', 422, false],
  ['401 Unauthorized', 'application/json', '{"detail":"bad key"}', 404, false],
  ['403 Forbidden', 'application/json', '{}', 404, false],
  ['405 Not Allowed', 'application/json', '{}', 502, false],
  ['408 Timeout', 'application/json', '{}', 502, false],
  ['500 Broken', 'application/json', '{"detail":"stack trace"}', 502, false],
  ['503 Away', 'application/json', '{}', 502, false],
  ['504 Late', 'application/json', '{}', 502, false],
];

test('what becomes of each status', async (t) => {
  let answer = '';
  const raw = await startRawProvider(t, (socket) => socket.write(answer, 'latin1'));
  const service = await startRelay(t, { providerUrl: raw.url });
  for (const [status, type, body, told, isRelayed] of ANSWERS) {
    answer = [
      `HTTP/1.1 ${status}`,
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      'Location: http://127.0.0.1:1/',
      'Retry-After: 9',
      'WWW-Authenticate: Basic',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    const before = raw.requests.length;
    const got = await relayed(service, 'order/create');
    const what = `${status} ${type} ${body}`;
    assert.equal(got.status, told, what);
    assert.equal(raw.requests.length, before + 1, what);
    assert.equal(got.headers.get('www-authenticate'), null);
    assert.equal(got.headers.get('retry-after'), null);
    if (isRelayed) {
      assert.equal(got.text, body, what);
      assert.equal(got.headers.get('content-type'), type === '' ? 'application/json' : type);
    } else assert.ok(detailOf(got).includes('compliance provider'), what);
  }
  answer = 'HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n';
  assert.equal((await relayed(service, 'cert/delete')).status, 204);
});

test('an answer over the limit is 502', async (t) => {
  const body = `"${'x'.repeat(RESPONSE_BYTES_MAX - 1)}"`;
  const raw = await startRawProvider(t, (socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  const service = await startRelay(t, { providerUrl: raw.url });
  const got = await relayed(service, 'order/get');
  assert.equal(got.status, 502);
  assert.match(detailOf(got), /too long/);
});

test('a provider that is not there is 502', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: 'http://127.0.0.1:1' });
  assert.equal((await relayed(service, 'order/create')).status, 502);
  assert.equal(simulator.received.length, 0);
});

test('credentials are in no log and no answer, whatever happens', async (t) => {
  const simulator = await startSimulator(t, { key: SECRET });
  const service = await startRelay(t, {
    providerUrl: simulator.url,
    apiKey: SECRET,
    timeoutMs: TIMEOUT_MS,
  });
  const answers: string[] = [];
  const faults = ['slow', 'reset', '429', '500', 'garbage'] as const;
  for (const fault of faults) {
    simulator.plan(fault);
    answers.push((await relayed(service, 'order/create')).text);
  }
  simulator.plan('reset', 'reset');
  answers.push((await relayed(service, 'order/get')).text);
  assert.equal(simulator.received.at(-1)?.headers['x-api-key'], SECRET);
  const logged = service.logged();
  assert.match(
    logged,
    /"event":"provider call failed","operation":"order\/create","trouble":"timeout /,
  );
  for (const secret of [SECRET, KEYS.alpha]) {
    assert.ok(!logged.includes(secret));
    assert.ok(!answers.join('').includes(secret));
  }
  assert.ok(!logged.includes(CONNECTION_ID));
});

test('a caller that goes takes its call along', async (t) => {
  const raw = await startRawProvider(t, () => undefined);
  const service = await startRelay(t, { providerUrl: raw.url });
  const gone = new AbortController();
  const asked = relayed(service, 'order/create', gone.signal);
  await eventually(() => raw.requests.length === 1);
  assert.equal(raw.sockets[0]?.destroyed, false);
  gone.abort();
  await assert.rejects(asked, /abort/i);
  await eventually(() => raw.sockets[0]?.destroyed === true);
});

test('with an Idempotency-Key the call is finished, and its answer is given again', async (t) => {
  const simulator = await startSimulator(t, { slowMs: 200 });
  const service = await startRelay(t, { providerUrl: simulator.url });
  simulator.plan('slow');
  const gone = new AbortController();
  const asked = relayed(service, 'order/create', gone.signal, 'k-1');
  await eventually(() => simulator.received.length === 1);
  const running = await relayed(service, 'order/create', undefined, 'k-1');
  assert.equal(running.status, 409);
  gone.abort();
  await assert.rejects(asked, /abort/i);
  let again = await relayed(service, 'order/create', undefined, 'k-1');
  await eventually(async () => {
    again = await relayed(service, 'order/create', undefined, 'k-1');
    return again.status !== 409;
  });
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(
    again.headers.get('location'),
    `${simulator.url}/tax/connections/${CONNECTION_ID}/orders/order-1`,
  );
  assert.equal(again.headers.get('content-type'), 'application/json');
  assert.equal((JSON.parse(again.text) as { orderId: string }).orderId, 'order-1');
  assert.equal(simulator.received.length, 1, 'asked once');
  const other = await postRaw(
    service,
    '/merchant/order/create',
    JSON.stringify({
      merchantId: service.connected,
      ...BODIES['order/create'],
      orderId: 'order-9',
    }),
    { idempotencyKey: 'k-1' },
  );
  assert.equal(other.status, 422);
});

test('a refused call is not kept under its Idempotency-Key', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url });
  simulator.plan('429');
  for (const status of [429, 201, 201]) {
    assert.equal((await relayed(service, 'order/create', undefined, 'k')).status, status);
  }
  assert.equal(simulator.received.length, 2);
});

test('a call of which nobody knows what became is not sent again under its key', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url, timeoutMs: TIMEOUT_MS });
  const told = { 500: 502, reset: 502, garbage: 502, slow: 504 } as const;
  for (const fault of ['500', 'reset', 'garbage', 'slow'] as const) {
    simulator.plan(fault);
    const before = simulator.received.length;
    const first = await relayed(service, 'cert/create', undefined, fault);
    assert.equal(first.status, told[fault], fault);
    const again = await relayed(service, 'cert/create', undefined, fault);
    assert.equal(again.status, 409, fault);
    assert.match(detailOf(again), /was not sent again: look it up/);
    assert.equal(simulator.received.length, before + 1, fault);
    const other = await postRaw(
      service,
      '/merchant/cert/create',
      JSON.stringify({
        merchantId: service.connected,
        ...BODIES['cert/create'],
        reason: 'Charity',
      }),
      { idempotencyKey: fault },
    );
    assert.equal(other.status, 422);
    assert.equal((await relayed(service, 'cert/create', undefined, `${fault} 2`)).status, 201);
  }
});

test('a call that never left may be sent again under its key', async (t) => {
  const service = await startRelay(t, { providerUrl: 'http://127.0.0.1:1' });
  for (const status of [502, 502]) {
    assert.equal((await relayed(service, 'order/create', undefined, 'k')).status, status);
  }
});
