/** Carts over HTTP: self-managed merchants and carts of no merchant, every status, both options. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { COMPONENTS } from '../../src/describe/document.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  KEYS,
  newMerchantDir,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { faults, strictly } from '../support/schema-check.js';
import { sentCalculation, sentCart, sentLine, type Sent } from '../support/sent-carts.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CART = '/merchant/cart/calculate';
const ONE = '/calculate/cart';
const HERE = '5 Border Ave, Elmton, QA 91011';
const SPLIT = { line1: '5 Border Ave', city: 'Elmton', state: 'QA', zip: '91011' };

let built: Built;
let service: MerchantService;
let own: string;

async function newMerchant(type: string, key: string = KEYS.alpha): Promise<string> {
  const merchant = { merchantName: 'Acme', merchantType: type };
  const made = await service.post('/merchant/create', merchant, { key });
  assert.equal(made.status, 201);
  return String(made.body['merchantId']);
}

before(async () => {
  built = buildRecipe('fixture');
  service = await startMerchants(await newMerchantDir(built.varDir));
  own = await newMerchant('self-managed');
});

after(async () => {
  await service.stop();
  built.remove();
});

const here = (change: Sent = {}): Sent =>
  sentCart({ origin: SPLIT, destination: SPLIT, ...change });
const oneLine = (line: Sent = {}): Sent =>
  sentCalculation({ origin: { address: HERE }, destination: { address: HERE } }, line);

interface Cart {
  readonly cartId: string;
  readonly lineItems: readonly (Sent & {
    readonly tax: { readonly rate: number; readonly amount: number };
  })[];
}

function cartsOf(body: Readonly<Record<string, unknown>>): readonly Cart[] {
  return body['items'] as readonly Cart[];
}

test('a cart of a self-managed merchant is answered in the documented shape', async () => {
  const lines = [
    sentLine({ tic: 0 }),
    sentLine({ index: 1, itemId: 'b', price: 10.1, quantity: 1.5 }),
  ];
  const answer = await service.post(CART, {
    merchantId: own,
    transactionDate: '2026-08-07T00:00:00Z',
    items: [
      here({ lineItems: lines }),
      here({ cartId: 'my cart', currency: { currencyCode: 'USD' } }),
    ],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(faults(strictly(COMPONENTS.CartAnswer), answer.body), '');
  const [first, second] = cartsOf(answer.body);
  assert.match(first?.cartId ?? '', UUID);
  assert.equal(second?.cartId, 'my cart');
  assert.match(answer.headers.get('x-situs-precision') ?? '', /^(?:point|range|street|postal)/);
  assert.ok((answer.headers.get('x-situs-dataset') ?? '').startsWith(built.name));
  assert.notEqual(answer.headers.get('x-ratelimit-limit'), null);
  const { tax, ...rest } = first!.lineItems[1]!;
  assert.deepEqual(rest, {
    index: 1,
    itemId: 'b',
    price: 10.1,
    originalPrice: 10.1,
    quantity: 1.5,
    tic: null,
  });
  assert.deepEqual(Object.keys(tax), ['rate', 'amount']);
  assert.equal(first?.lineItems[0]?.['tic'], 0);
  assert.ok(!('connectionId' in answer.body) && !('transactionDate' in answer.body));
});

test('a line has the rate of the lookup of its address, to two and to five decimals', async () => {
  const query = new URLSearchParams({ address: HERE });
  const found = await fetch(`${service.base}/request/v60?${query}`, {
    headers: { 'X-API-KEY': KEYS.alpha },
  });
  const { taxSummaries } = (await found.json()) as { taxSummaries: { rate: number }[] };
  const rate = taxSummaries[0]?.rate ?? 0;
  assert.ok(rate > 0);
  const line = { price: 49.99, quantity: 2 };
  const merchant = await service.post(CART, {
    merchantId: own,
    items: [here({ lineItems: [sentLine(line)] })],
  });
  const single = await service.post(ONE, oneLine(line));
  assert.equal(single.status, 200, single.text);
  assert.equal(faults(strictly(COMPONENTS.CalculationAnswer), single.body), '');
  const exact = 9998n * BigInt(Math.round(rate * 1e9));
  const [two, five] = [merchant, single].map(({ body }) => cartsOf(body)[0]?.lineItems[0]?.tax);
  assert.equal(two?.amount, Number((exact + 500_000_000n) / 1_000_000_000n) / 100);
  assert.equal(five?.amount, Number((exact + 500_000n) / 1_000_000n) / 1e5);
  assert.equal(two?.rate, Math.round(rate * 1e5) / 1e5);
  assert.equal(five?.rate, two?.rate);
});

test('a change of a merchant counts from its next cart on', async () => {
  const merchantId = await newMerchant('self-managed');
  const cart = (): Promise<{ readonly status: number; readonly text: string }> =>
    service.post(CART, { merchantId, items: [here()] });
  assert.equal((await cart()).status, 200);
  const change = async (type: string): Promise<void> => {
    const { status, text } = await service.post('/merchant/update', {
      merchantId,
      setMerchantType: type,
      ...(type === 'provider' ? { sendProviderInvite: false } : {}),
    });
    assert.equal(status, 200, text);
  };
  await change('provider');
  assert.match((await cart()).text, /No credentials are stored/);
  await change('self-managed');
  assert.equal((await cart()).status, 200);
  assert.equal((await service.post('/merchant/delete', { merchantId })).status, 200);
  assert.equal((await cart()).status, 403);
});

test('rounding and explanation come from the query or the body', async () => {
  const amount = async (query: string, body: Sent = {}): Promise<number | undefined> => {
    const answer = await service.post(`${CART}${query}`, {
      merchantId: own,
      items: [here({ lineItems: [sentLine({ price: 0.01, quantity: 1 })] })],
      ...body,
    });
    assert.equal(answer.status, 200, answer.text);
    return cartsOf(answer.body)[0]?.lineItems[0]?.tax.amount;
  };
  assert.equal(await amount(''), 0);
  assert.equal(await amount('?rounding=up'), 0.01);
  assert.equal(await amount('?rounding=up,cart'), 0.01);
  assert.equal(await amount('?rounding=up', { rounding: 'down' }), 0);
  const told = await service.post(`${ONE}?explain=true`, oneLine());
  assert.equal(told.status, 200);
  const text = JSON.stringify(told.body);
  assert.match(text, /"explain":\{/);
  assert.ok(text.includes(built.name));
  assert.equal(
    (await service.post(`${CART}?rounding=x`, { merchantId: own, items: [here()] })).status,
    422,
  );
  assert.equal((await service.post(`${ONE}?explain=2`, oneLine())).status, 422);
});

const OTHER_ID = '11111111-2222-4333-8444-555555555555';

test('whose cart it is decides first', async () => {
  const items = [here()];
  const foreign = await newMerchant('self-managed', KEYS.beta);
  const gone = await newMerchant('self-managed');
  await service.post('/merchant/delete', { merchantId: gone });
  const refusals = [];
  for (const merchantId of [OTHER_ID, foreign, gone]) {
    const { status, text } = await service.post(CART, { merchantId, items });
    assert.equal(status, 403);
    refusals.push(text);
  }
  assert.equal(new Set(refusals).size, 1);
  for (const body of [
    '{',
    '[]',
    '',
    { items },
    { merchantId: 'x', items },
    { merchantId: 7, items },
  ]) {
    assert.equal((await service.post(CART, body)).status, 400, JSON.stringify(body));
  }
  const provider = await newMerchant('provider');
  assert.equal((await service.post(CART, { merchantId: provider, items })).status, 404);
  const upper = await service.post(CART, { merchantId: own.toUpperCase(), items });
  assert.equal(upper.status, 200);
});

test('each refusal has its status and its place', async () => {
  const item = 'body.items[0]';
  const nowhere = { ...SPLIT, line1: '1 Nowhere', city: 'Nowhere', zip: '00001' };
  for (const [change, status, location] of [
    [{ discounts: { orderDiscount: { type: 'amount', value: 1 } } }, 400, `${item}.discounts`],
    [{ lineItems: [] }, 422, `${item}.lineItems`],
    [{ lineItems: [sentLine({ tic: 99_999 })] }, 422, `${item}.lineItems[0]`],
    [{ destination: nowhere }, 422, `${item}.destination`],
  ] as const) {
    const answer = await service.post(CART, { merchantId: own, items: [here(change)] });
    assert.equal(answer.status, status, answer.text);
    const errors = answer.body['errors'] as { location: string; message: string }[];
    assert.ok(errors[0]?.location.startsWith(location), answer.text);
    assert.ok((errors[0]?.message.length ?? 0) > 5);
  }
  const whole = JSON.stringify({ merchantId: own, items: [here()] });
  for (const text of [whole.slice(0, -1), `[${whole}]`, ` [1,${whole}]`, `\ufeff[${whole}]`]) {
    assert.equal((await service.post(CART, text)).status, 400, text);
  }
  assert.equal((await service.post(CART, `\ufeff\n${whole}`)).status, 200);
  const nothing = await service.post(ONE, sentCalculation({ destination: { address: 'nowhere' } }));
  assert.equal(nothing.status, 422);
  assert.equal(nothing.headers.get('content-type'), 'application/problem+json');
  for (const body of [{ items: [] }, '{'])
    assert.equal((await service.post(ONE, body)).status, 400);
});

test('keys, plans, rates and quotas', async () => {
  const body = { merchantId: own, items: [here()] };
  for (const path of [CART, ONE]) {
    assert.equal((await service.post(path, body, { key: null })).status, 401);
    assert.equal(
      (await service.post(`${path}?key=${KEYS.alpha}`, body, { key: null })).status,
      401,
    );
    const wrong = await fetch(service.base + path, { headers: { 'X-API-KEY': KEYS.alpha } });
    assert.equal(wrong.status, 405);
  }
  assert.equal((await service.post(CART, body, { key: KEYS.growth })).status, 403);
  assert.equal((await service.post(ONE, oneLine(), { key: KEYS.starter })).status, 200);
  const coded = await service.post(ONE, oneLine({ taxabilityCode: 20010 }), { key: KEYS.starter });
  assert.equal(coded.status, 403, coded.text);
  assert.match(coded.text, /"code":113,"name":"RESPONSE_CODE_PRODUCT_RULES_NOT_ENABLED"/);
  const general = oneLine({ taxabilityCode: 0 });
  assert.equal((await service.post(ONE, general, { key: KEYS.starter })).status, 200);
  const metered = await newMerchant('self-managed', KEYS.metered);
  const quota = { merchantId: metered, items: [here()] };
  const spent = await service.post(CART, quota, { key: KEYS.metered });
  assert.equal(spent.status, 405);
  assert.match(spent.text, /"code":107/);
  assert.equal((await service.post(ONE, oneLine(), { key: KEYS.slow })).status, 200);
  const limited = await service.post(ONE, oneLine(), { key: KEYS.slow });
  assert.deepEqual([limited.status, limited.headers.get('x-ratelimit-remaining')], [429, '0']);
});

test('a cart of no merchant counts as a geocoded lookup and ends with their quota', async () => {
  const statuses = [];
  for (let sent = 0; sent < 5; sent += 1) {
    statuses.push((await service.post(ONE, oneLine(), { key: KEYS.counted })).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 405]);
});

test('a hundred carts of 250 lines are answered in one go, and more than 8 MiB are not', async () => {
  const lineItems = Array.from({ length: 250 }, (_, index) =>
    sentLine({ index, price: index + 0.99 }),
  );
  const items = Array.from({ length: 100 }, () => here({ lineItems }));
  const answer = await service.post(CART, { merchantId: own, items });
  assert.equal(answer.status, 200);
  const carts = cartsOf(answer.body);
  assert.equal(carts.length, 100);
  assert.equal(new Set(carts.map(({ lineItems: lines }) => JSON.stringify(lines))).size, 1);
  const { length } = JSON.stringify({ merchantId: own, items });
  assert.ok(length > 1_048_576);
  const padding = ' '.repeat(8_388_608);
  assert.equal(
    (await service.post(CART, `${JSON.stringify({ merchantId: own, items })}${padding}`)).status,
    413,
  );
});

test('without a dataset it is 503', async () => {
  const bare = await startMerchants(await newMerchantDir(null));
  try {
    const merchant = { merchantName: 'A', merchantType: 'self-managed' };
    const made = await bare.post('/merchant/create', merchant);
    const cart = { merchantId: made.body['merchantId'], items: [here()] };
    assert.equal((await bare.post(CART, cart)).status, 503);
    assert.equal((await bare.post(ONE, oneLine())).status, 503);
  } finally {
    await bare.stop();
  }
});

test('an id in escapes is read as the parser reads it, and depth has an end', async () => {
  const escaped = `\\u00${own.charCodeAt(0).toString(16)}${own.slice(1)}`;
  const items = JSON.stringify([here()]);
  const read = await service.post(CART, `{"merchantId":"${escaped}","items":${items}}`);
  assert.equal(read.status, 200, read.text);
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const cart = JSON.stringify(here()).slice(0, -1);
  const body = `{"merchantId":"${own}","items":[${cart},"exemption":${deep}}]}`;
  assert.equal((await service.post(CART, body)).status, 400);
});
