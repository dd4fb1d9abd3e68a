/** Who may have what relayed, and which bodies are refused before the provider hears of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BODY_BYTES_MAX } from '../../src/http/body.js';
import { Simulator } from '../../src/provider/simulator/server.js';
import { KEYS, UNKNOWN_ID } from '../support/merchant-service.js';
import { BODIES, RELAY_NAMES, startRelay, type RelayName } from '../support/relay-service.js';

let simulator: Simulator;

before(async () => {
  simulator = await Simulator.start();
});

after(() => simulator.close());

function bodyOf(name: RelayName, merchantId: string, more: object = {}): object {
  return { merchantId, ...BODIES[name], ...more };
}

test('who is refused', async (t) => {
  const service = await startRelay(t, { providerUrl: simulator.url });
  const bare = await startRelay(t, { providerUrl: null });
  for (const name of RELAY_NAMES) {
    const path = `/merchant/${name}`;
    const body = bodyOf(name, service.connected);
    assert.equal((await service.post(path, body, { key: null })).status, 401, name);
    assert.equal(
      (await service.post(`${path}?key=${KEYS.alpha}`, body, { key: null })).status,
      401,
    );
    for (const key of [KEYS.starter, KEYS.growth, KEYS.pro]) {
      const { status, text } = await service.post(path, body, { key });
      assert.deepEqual([status, /Enterprise plan/.test(text)], [403, true], name);
    }
    const texts = new Set<string>();
    for (const id of [service.foreign, UNKNOWN_ID, service.deleted]) {
      const { status, text } = await service.post(path, bodyOf(name, id));
      assert.equal(status, 403, name);
      texts.add(text);
    }
    assert.equal(texts.size, 1, 'foreign, unknown and deleted are told the same');
    const own = await service.post(path, { merchantId: service.selfManaged });
    assert.equal(own.status, 403);
    assert.match(own.text, /provider type/);
    const none = await service.post(path, bodyOf(name, service.unconnected));
    assert.equal(none.status, 404);
    assert.match(none.text, /No credentials/);
    const unset = await bare.post(path, bodyOf(name, bare.connected));
    assert.equal(unset.status, 503);
    assert.match(unset.text, /no compliance provider configured/);
    const long = await service.post(path, ' '.repeat(BODY_BYTES_MAX + 1));
    assert.equal(long.status, 413);
    assert.ok(long.headers.get('x-ratelimit-limit'));
  }
  assert.equal(simulator.received.length, 0);
  assert.equal(
    (await service.post('/merchant/cert/list', bodyOf('cert/list', UNKNOWN_ID), { key: KEYS.slow }))
      .status,
    403,
  );
  assert.equal((await service.post('/merchant/cert/list', {}, { key: KEYS.slow })).status, 429);
});

test('writes count for the quota when they were carried out, reads never', async (t) => {
  const metered = await startRelay(t, { providerUrl: simulator.url });
  const {
    body: { merchantId },
  } = await metered.post('/merchant/create', { merchantName: 'M' });
  assert.equal(
    (await metered.post('/merchant/order/create', bodyOf('order/create', String(merchantId))))
      .status,
    404,
  );
  const counts = async (): Promise<unknown> =>
    (
      (await (await fetch(`${metered.base}/account/metrics?key=${KEYS.alpha}`)).json()) as {
        merchant_request_count: number;
      }
    ).merchant_request_count;
  const before = await counts();
  await metered.post('/merchant/order/create', bodyOf('order/create', metered.connected));
  assert.equal(await counts(), Number(before) + 1);
  await metered.post('/merchant/order/create', bodyOf('order/create', metered.connected));
  await metered.post('/merchant/order/get', bodyOf('order/get', metered.connected));
  assert.equal(await counts(), Number(before) + 1);
});

/** Bodies that are refused: the operation, what is changed, the status, where the fault is. */
const REFUSED: readonly (readonly [
  name: RelayName,
  change: object,
  status: number,
  location: string,
])[] = [
  ['order/get', { orderId: undefined }, 400, 'body.orderId'],
  ['order/get', { orderId: '' }, 400, 'body.orderId'],
  ['order/get', { orderId: 7 }, 400, 'body.orderId'],
  ['order/get', { orderId: 'x'.repeat(51) }, 400, 'body.orderId'],
  ['order/get', { orderId: '..' }, 400, 'body.orderId'],
  ['order/get', { orderId: '.' }, 400, 'body.orderId'],
  ['order/get', { orderId: 'a\n' }, 400, 'body.orderId'],
  ['order/get', { orderId: '\ud800' }, 400, 'body.orderId'],
  ['order/get', { expand: 'all' }, 422, 'body.expand'],
  ['order/get', { expand: ['x'] }, 422, 'body.expand[0]'],
  ['order/create-from-cart', { cartId: '' }, 400, 'body.cartId'],
  ['order/create-from-cart', { cartId: 'x'.repeat(51) }, 400, 'body.cartId'],
  ['order/create-from-cart', { completed: 'yes' }, 422, 'body.completed'],
  ['order/create-from-cart', { completedDate: 'yesterday' }, 422, 'body.completedDate'],
  ['order/create-from-cart', { kind: 'return' }, 422, 'body.kind'],
  ['order/create', { orderId: undefined }, 400, 'body.orderId'],
  ['order/create', { customerId: 'x'.repeat(51) }, 422, 'body.customerId'],
  ['order/create', { transactionDate: undefined }, 422, 'body.transactionDate'],
  ['order/create', { completedDate: '2024-02-30T00:00:00Z' }, 422, 'body.completedDate'],
  ['order/create', { currency: { currencyCode: 'EUR' } }, 422, 'body.currency.currencyCode'],
  ['order/create', { origin: {} }, 422, 'body.origin.line1'],
  ['order/create', { destination: null }, 422, 'body.destination'],
  ['order/create', { lineItems: [{}] }, 422, 'body.lineItems[0].index'],
  ['order/create', { deliveredBySeller: 'no' }, 422, 'body.deliveredBySeller'],
  ['order/update', { completedDate: 5 }, 422, 'body.completedDate'],
  ['refund/create', { items: [{ itemId: '', quantity: 1 }] }, 422, 'body.items[0].itemId'],
  ['refund/create', { items: [{ itemId: 'a', quantity: 100_000 }] }, 422, 'body.items[0].quantity'],
  ['refund/create', { items: {} }, 422, 'body.items'],
  ['refund/create', { returnedDate: 'x' }, 422, 'body.returnedDate'],
  ['cert/create', { customerId: '' }, 422, 'body.customerId'],
  ['cert/create', { customerBusinessType: 'Piracy' }, 422, 'body.customerBusinessType'],
  ['cert/create', { reason: 'None' }, 422, 'body.reason'],
  ['cert/create', { reasonDescription: 'x'.repeat(21) }, 422, 'body.reasonDescription'],
  ['cert/create', { states: [{ abbreviation: 'Minnesota' }] }, 422, 'body.states[0].abbreviation'],
  ['cert/create', { states: [{ abbreviation: '12' }] }, 422, 'body.states[0].abbreviation'],
  ['cert/create', { address: { line1: 'x' } }, 422, 'body.address.city'],
  ['cert/get', { certificateId: '' }, 400, 'body.certificateId'],
  ['cert/delete', { certificateId: undefined }, 400, 'body.certificateId'],
  ['cert/list', { limit: 101 }, 422, 'body.limit'],
  ['cert/list', { limit: -1 }, 422, 'body.limit'],
  ['cert/list', { limit: 1.5 }, 422, 'body.limit'],
  ['cert/list', { sortBy: 'name' }, 422, 'body.sortBy'],
  ['cert/list', { ascending: 'true' }, 422, 'body.ascending'],
  ['cert/list', { customerId: 'x'.repeat(51) }, 422, 'body.customerId'],
];

test('broken bodies are told where, and reach nobody', async (t) => {
  const checked = await startRelay(t, { providerUrl: simulator.url });
  const sent = simulator.received.length;
  for (const [name, change, status, location] of REFUSED) {
    const got = await checked.post(`/merchant/${name}`, bodyOf(name, checked.connected, change));
    const what = `${name} ${JSON.stringify(change)} ${got.text}`;
    assert.equal(got.status, status, what);
    const errors = got.body['errors'] as readonly { location: string; message: string }[];
    assert.ok(
      errors.some((error) => error.location === location),
      what,
    );
    for (const { message } of errors) assert.match(message, /^(?:expected|not as)/);
    assert.equal(new Set(errors.map((error) => error.location)).size, errors.length, what);
    assert.equal(got.headers.get('content-type'), 'application/problem+json');
  }
  for (const text of ['', '{', '[]', 'null', '"x"', '\xff']) {
    const got = await checked.post('/merchant/order/get', Buffer.from(text, 'latin1'));
    assert.equal(got.status, 400, text);
  }
  for (const merchantId of [undefined, null, 7, '', 'x', `${UNKNOWN_ID}0`]) {
    const got = await checked.post('/merchant/order/get', { orderId: 'a', merchantId });
    assert.equal(got.status, 400);
    assert.match(got.text, /body\.merchantId/);
  }
  assert.equal(simulator.received.length, sent);
});

test('what is documented passes, and so does what is not', async (t) => {
  const open = await startRelay(t, { providerUrl: simulator.url });
  const passes: readonly (readonly [name: RelayName, change: object])[] = [
    [
      'order/create',
      { orderId: 'a', unknown: { a: [1] }, batchId: null, channel: 'amazon', kind: 'credit' },
    ],
    ['order/create', { orderId: 'o'.repeat(50), completedDate: '2024-08-01' }],
    ['order/create', { orderId: 'b', lineItems: [], discounts: {}, exemption: {} }],
    ['refund/create', { items: [], orderId: 'order-1' }],
    ['order/get', { expand: ['refunds'] }],
    ['order/get', { expand: null }],
    ['cert/list', { limit: null, cursor: null, sortBy: null }],
    ['cert/create', { customerBusinessType: 'Other', customerBusinessDescription: 'x' }],
  ];
  for (const [name, change] of passes) {
    const got = await open.post(`/merchant/${name}`, bodyOf(name, open.connected, change));
    assert.ok(got.status < 300, `${name} ${JSON.stringify(change)} ${got.text}`);
  }
});
