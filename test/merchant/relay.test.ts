/** Orders, refunds and certificates through the service to a simulated provider and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Simulator } from '../../src/provider/simulator/server.js';
import { COMPONENTS } from '../../src/describe/document.js';
import { KEYS, type RawAnswered } from '../support/merchant-service.js';
import { checker, faults } from '../support/schema-check.js';
import {
  BODIES,
  CONNECTION_ID,
  postRaw,
  startRelay,
  type RelayName,
  type RelayService,
} from '../support/relay-service.js';
import { startRawProvider, startSimulator } from '../support/simulated-provider.js';

const ajv = checker();
const PATH = `/tax/connections/${CONNECTION_ID}`;

function relayed(
  service: RelayService,
  name: RelayName,
  body: object = BODIES[name],
): Promise<RawAnswered> {
  const whole = JSON.stringify({ merchantId: service.connected, ...body });
  return postRaw(service, `/merchant/${name}`, whole);
}

function last(simulator: Simulator): { readonly call: string; readonly body: string } {
  const { method = '', url = '', body = Buffer.alloc(0) } = simulator.received.at(-1) ?? {};
  return { call: `${method} ${url}`, body: body.toString() };
}

function assertLast(simulator: Simulator, call: string, body = ''): void {
  assert.deepEqual(last(simulator), { call, body });
}

/** Creates an order, which goes to the provider as it is, and comes back as the provider has it. */
async function assertCreated(service: RelayService, simulator: Simulator): Promise<void> {
  const created = await relayed(service, 'order/create');
  assert.equal(created.status, 201);
  assert.equal(created.headers.get('location'), `${simulator.url}${PATH}/orders/order-1`);
  assert.equal(created.headers.get('content-type'), 'application/json');
  assertLast(simulator, `POST ${PATH}/orders`, JSON.stringify(BODIES['order/create']));
  const order = JSON.parse(created.text) as Record<string, unknown>;
  assert.deepEqual(order, {
    connectionId: CONNECTION_ID,
    ...BODIES['order/create'],
    kind: 'order',
    channel: null,
    deliveredBySeller: false,
    excludeFromFiling: false,
    exemption: { exemptionId: null, isExempt: null },
  });
  assert.equal(faults(ajv.compile(COMPONENTS.Order), order), '');
}

test('orders: created, read, completed, refunded', async (t) => {
  const simulator = await startSimulator(t, { now: () => Date.UTC(2026, 0, 2) });
  const service = await startRelay(t, { providerUrl: simulator.url });
  await assertCreated(service, simulator);

  const updated = await relayed(service, 'order/update');
  assert.equal(updated.status, 200);
  assert.equal(last(simulator).call, `PATCH ${PATH}/orders/order-1`);

  const refund = await relayed(service, 'refund/create');
  assert.equal(refund.status, 201, refund.text);
  assert.equal(last(simulator).call, `POST ${PATH}/orders/refunds/order-1`);
  assert.deepEqual(JSON.parse(refund.text), {
    connectionId: CONNECTION_ID,
    createdDate: '2026-01-02T00:00:00.000Z',
    items: [
      { index: 0, itemId: 'item-1', price: 10.75, quantity: 0.5, tic: 0, tax: { amount: 0.44 } },
    ],
  });
  const rest = await relayed(service, 'refund/create', { orderId: 'order-1', items: null });
  assert.equal((JSON.parse(rest.text) as { items: { quantity: number }[] }).items[0]?.quantity, 1);
  const more = await relayed(service, 'refund/create');
  assert.equal(more.status, 400, 'everything was refunded');
  assert.equal(more.headers.get('content-type'), 'application/problem+json');

  const read = await relayed(service, 'order/get');
  assertLast(simulator, `GET ${PATH}/orders/order-1?expand=refunds`);
  const whole = JSON.parse(read.text) as Record<string, unknown>;
  const refunds = whole['refunds'] as readonly unknown[];
  assert.equal(refunds.length, 2);
  assert.equal(faults(ajv.compile(COMPONENTS.Refund), refunds[0]), '');
  assert.equal(whole['completedDate'], '2024-08-02T00:00:00Z');
  const plain = await relayed(service, 'order/get', { orderId: 'order-1' });
  assert.equal(last(simulator).call, `GET ${PATH}/orders/order-1`);
  assert.ok(!('refunds' in (JSON.parse(plain.text) as object)));

  const again = await relayed(service, 'order/create');
  assert.equal(again.status, 400);
  assert.match(again.text, /already exists/);
});

test('certificates: created, read, listed in pages, deleted', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url });
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { status, text, headers } = await relayed(service, 'cert/create');
    assert.equal(status, 201, text);
    const { certificateId } = JSON.parse(text) as { certificateId: string };
    assert.ok(headers.get('location')?.endsWith(`/exemption-certificates/${certificateId}`));
    ids.push(certificateId);
  }
  const [certificateId = ''] = ids;
  const read = await relayed(service, 'cert/get', { certificateId });
  assert.equal(read.status, 200);
  assert.equal(last(simulator).call, `GET ${PATH}/exemption-certificates/${certificateId}`);
  assert.equal((JSON.parse(read.text) as { disabledAt: null }).disabledAt, null);

  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const asked = { cursor, limit: 2, sortBy: 'id', ascending: true };
    const { text } = await relayed(service, 'cert/list', asked);
    const page = JSON.parse(text) as {
      items: { certificateId: string }[];
      nextCursor: string | null;
    };
    assert.equal(faults(ajv.compile(COMPONENTS.CertificatePage), page), '');
    pages.push(...page.items.map((item) => item.certificateId));
    cursor = page.nextCursor;
  }
  assert.deepEqual(pages, [...ids].sort());
  const newest = { limit: 0, sortBy: 'createdDate', ascending: false };
  await relayed(service, 'cert/list', { customerId: 'a b&c=d', ...newest, disabled: true });
  assert.equal(
    last(simulator).call,
    `GET ${PATH}/exemption-certificates` +
      '?customerId=a+b%26c%3Dd&limit=0&sortBy=createdDate&ascending=false&disabled=true',
  );

  const gone = await relayed(service, 'cert/delete', { certificateId });
  assert.equal(gone.status, 204);
  assert.equal(gone.bytes.length, 0);
  assert.equal(gone.headers.get('content-type'), null);
  assert.equal(gone.headers.get('content-length'), null);
  assert.ok(gone.headers.get('x-ratelimit-limit'));
  assertLast(simulator, `DELETE ${PATH}/exemption-certificates/${certificateId}`);
  assert.equal((await relayed(service, 'cert/delete', { certificateId })).status, 404);
});

/** As no serialiser would write it. */
const ODD = [
  [
    '{\n\t"merchantId": "ID",\r\n "orderId": "order-1", "completedDate" : "2024-08-01T14:00:00Z" ,"x":10.10}',
    '{\n\t"orderId": "order-1", "completedDate" : "2024-08-01T14:00:00Z" ,"x":10.10}',
  ],
  [
    '{"orderId":"order-1","z":1e2,"a":-0,"big":12345678901234567890.10,"u":"\\u00e9é\\/","merchantId":"ID"}',
    '{"orderId":"order-1","z":1e2,"a":-0,"big":12345678901234567890.10,"u":"\\u00e9é\\/"}',
  ],
  [
    '{"\\u006derchantId":"ID","orderId":"order-1","nested":{"merchantId":"stays"}}',
    '{"orderId":"order-1","nested":{"merchantId":"stays"}}',
  ],
] as const;

test("every byte but the merchant's id reaches the provider", async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url });
  await relayed(service, 'order/create');
  for (const [sent, arrived] of ODD) {
    const body = sent.replace('ID', service.connected.toUpperCase());
    const { status, text } = await postRaw(service, '/merchant/order/update', body, {
      headers: { 'X-ENV': 'TEST', 'X-Other': '1', Cookie: 'a=b' },
    });
    assert.equal(status, 200, text);
    assert.equal(last(simulator).body, arrived);
    const { host } = new URL(simulator.url);
    assert.deepEqual(
      { ...simulator.received.at(-1)?.headers },
      {
        host,
        connection: 'keep-alive',
        'x-api-key': 'simulated-key',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(arrived)),
      },
    );
  }
});

test('every byte of the answer comes back, with its type and place and no other field', async (t) => {
  const body = ' {"b" : 10.10, "a":1e2,\r\n"big":12345678901234567890, "u":"\\u00e9é"}\n';
  const raw = await startRawProvider(t, (socket) =>
    socket.write(
      [
        'HTTP/1.1 201 Created',
        'Content-Type: application/vnd.tax+json; charset=utf-8',
        'Location: /orders/1?a=b#c',
        'Set-Cookie: a=b',
        'X-RateLimit-Limit: 1',
        'Retry-After: 5',
        'Server: provider',
        'Cache-Control: public',
        'Keep-Alive: timeout=5',
        'Via: 1.1 x',
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    ),
  );
  const service = await startRelay(t, { providerUrl: raw.url });
  const { status, bytes, headers } = await relayed(service, 'order/create');
  assert.equal(status, 201);
  assert.deepEqual(bytes, Buffer.from(body));
  const own = new Set(['date', 'uwebsockets', 'connection', 'keep-alive', 'content-length']);
  const others = [...headers.keys()].filter((name) => !own.has(name)).sort();
  const limits = ['x-ratelimit-limit', 'x-ratelimit-remaining'];
  assert.deepEqual(others, ['content-type', 'location', ...limits]);
  assert.equal(headers.get('keep-alive'), null);
  assert.equal(headers.get('content-type'), 'application/vnd.tax+json; charset=utf-8');
  assert.equal(headers.get('location'), '/orders/1?a=b#c');
  assert.equal(headers.get('x-ratelimit-limit'), '1000000');
});

test('a refund answered as a list of one comes without its list', async (t) => {
  const body = '[ {"items":[ 1.50 ]} ]';
  const raw = await startRawProvider(t, (socket) =>
    socket.write(
      `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  const service = await startRelay(t, { providerUrl: raw.url });
  assert.equal((await relayed(service, 'refund/create')).text, '{"items":[ 1.50 ]}');
  assert.equal((await relayed(service, 'order/get')).text, body, 'others stay as they are');
});

test('carts of provider-connected merchants go to the provider, new ones with a place', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url });
  const path = '/merchant/cart/calculate';
  const cart = JSON.stringify(BODIES['cart/calculate']).replace('10.75', '10.750').slice(1);
  const sent = `{ "merchantId": "${service.connected}",${cart}`;
  const made = await postRaw(service, path, sent, { headers: { 'X-ENV': 'LIVE' } });
  assert.equal(made.status, 201, made.text);
  assertLast(simulator, `POST ${PATH}/carts`, `{ ${cart}`);
  assert.equal(made.headers.get('location'), `${simulator.url}${PATH}/carts`);
  const { connectionId, items } = JSON.parse(made.text) as {
    connectionId: string;
    items: { cartId: string }[];
  };
  assert.deepEqual([connectionId, items[0]?.cartId], [CONNECTION_ID, 'cart-1']);
  assert.equal((await postRaw(service, path, sent)).status, 200, 'the same cart again');
  const order = await relayed(service, 'order/create-from-cart');
  assert.equal(order.status, 201);
  assert.equal(last(simulator).call, `POST ${PATH}/carts/orders`);

  const calls = simulator.received.length;
  const plan = await postRaw(service, path, sent, { key: KEYS.pro });
  assert.equal(plan.status, 403);
  for (const [body, status] of [
    [{ merchantId: service.unconnected, ...BODIES['cart/calculate'] }, 404],
    [{ merchantId: service.foreign, ...BODIES['cart/calculate'] }, 403],
    [{ merchantId: service.connected, items: [] }, 422],
    [{ merchantId: service.connected, items: [{}] }, 422],
    [{ merchantId: service.connected, items: Array.from({ length: 101 }, () => ({})) }, 422],
  ] as const) {
    assert.equal((await postRaw(service, path, JSON.stringify(body))).status, status);
  }
  const broken = await postRaw(service, path, `${sent.slice(0, -1)},`);
  assert.equal(broken.status, 400);
  assert.equal(simulator.received.length, calls);
  simulator.plan('500');
  assert.equal((await postRaw(service, path, sent)).status, 502);
});

test('ids are encoded into paths and cannot lead out of them', async (t) => {
  const simulator = await startSimulator(t);
  const connectionId = '../c/?#%2e é';
  const service = await startRelay(t, { providerUrl: simulator.url, connectionId });
  const orderId = '../../x/?y=1#z%2e é';
  await relayed(service, 'order/get', { orderId });
  assert.equal(
    last(simulator).call,
    'GET /tax/connections/..%2Fc%2F%3F%23%252e%20%C3%A9' +
      '/orders/..%2F..%2Fx%2F%3Fy%3D1%23z%252e%20%C3%A9',
  );
  // Refused when it is set.
  const dots = startRelay(t, { providerUrl: simulator.url, connectionId: '..' });
  await assert.rejects(dots, /body\.connectionId.*422 !== 200/s);
});

test('connections to the provider are kept between requests', async (t) => {
  const simulator = await startSimulator(t);
  const service = await startRelay(t, { providerUrl: simulator.url });
  for (let count = 0; count < 10; count += 1) await relayed(service, 'cert/list');
  assert.ok(new Set(simulator.received.map(({ remotePort }) => remotePort)).size <= 2);
});
