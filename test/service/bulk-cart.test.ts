/** Files of carts over real sockets: the answers of the cart endpoints, merchants, quotas, jobs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { CSV, NDJSON, readLines, type Trailer } from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import {
  newMerchant,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  UNKNOWN_ID,
  type MerchantService,
} from '../support/merchant-service.js';
import { type PlainAnswer, sendPlain } from '../support/plain-request.js';
import { sentCalculation, sentCart, sentLine, type Sent } from '../support/sent-carts.js';

const CARTS = '/bulk/cart';
const HERE = '5 Border Ave, Elmton, QA 91011';
const THERE = '120 Main St, Elmton, QA 91010';
const SPLIT = { line1: '5 Border Ave', city: 'Elmton', state: 'QA', zip: '91011' };
const WAIT_MS = 120_000;
/** Keys whose quotas are three rows. */
const OF_GEO = 'a-key-of-three-carts';
const OF_MERCHANT = 'a-key-of-three-operations';
const NO_GEO = 'a-key-without-geocoding';

let built: Built;
let service: MerchantService;
let own: string;
let relayed: string;
let metered: string;

before(async () => {
  built = buildRecipe('fixture');
  const varDir = await newMerchantDir(built.varDir);
  const store = await Store.open(varDir);
  await createKey(store, { text: OF_GEO, plan: 'pro', account: 'doors', geoLimit: 3 });
  // Creating the merchant is an operation of its own.
  const few = { plan: 'pro', account: 'metered-carts', merchantLimit: 4 } as const;
  await createKey(store, { text: OF_MERCHANT, ...few });
  await createKey(store, { text: NO_GEO, plan: 'pro', account: 'alpha', grants: 0 });
  await store.close();
  service = await startMerchants(varDir, {}, { SITUS_BULK_WORKERS: '2' });
  own = await newMerchant(service, 'self-managed', KEYS.alpha);
  relayed = await newMerchant(service, 'provider', KEYS.alpha);
  metered = await newMerchant(service, 'self-managed', OF_MERCHANT);
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
  built.remove();
});

function send(
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  key: string = KEYS.alpha,
  method = 'POST',
): Promise<PlainAnswer> {
  return sendPlain(service.base + path, method, { 'X-API-KEY': key, ...headers }, body);
}

function ndjson(
  rows: readonly object[],
  query = '',
  key: string = KEYS.alpha,
): Promise<PlainAnswer> {
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return send(CARTS + query, body, { 'Content-Type': NDJSON }, key);
}

function csv(body: string, query = '', key: string = KEYS.alpha): Promise<PlainAnswer> {
  return send(CARTS + query, body, { 'Content-Type': CSV }, key);
}

interface Problem {
  readonly detail: string;
  readonly line?: number;
  readonly errors?: readonly { readonly location: string }[];
  readonly error?: { readonly code: number; readonly field: string | null };
}

function problem(answer: PlainAnswer, status: number): Problem {
  assert.equal(answer.status, status, answer.body.toString());
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  return JSON.parse(answer.body.toString()) as Problem;
}

/** A cart of some price in parts, and the same on one line. */
function cart(price: number, change: Sent = {}): Sent {
  return sentCart({
    origin: SPLIT,
    destination: SPLIT,
    lineItems: [sentLine({ price })],
    ...change,
  });
}
function lineCart(price: number): Sent {
  const places = { origin: { address: HERE }, destination: { address: THERE } };
  const [item] = sentCalculation(places, { price })['items'] as Sent[];
  return item!;
}

function withoutIds(value: unknown): unknown {
  const { cartId: _cart, line: _line, id: _id, ...rest } = value as Sent;
  return rest;
}

async function counts(key: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await send('/account/metrics', '', {}, key, 'GET');
  assert.equal(answer.status, 200, answer.body.toString());
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}

/** The items of a body as lines have them: each with what the answer rests on. */
function itemsOf({ items, situs }: Readonly<Record<string, unknown>>): readonly object[] {
  return (items as readonly object[]).map((item) => ({ ...item, situs }));
}

test('rows are answered as the cart endpoints answer them', async () => {
  const prices = [0.01, 9.99, 49.99, 1234.5, 1e9];
  const merchant = await ndjson(
    prices.map((price, id) => ({ id, ...cart(price) })),
    `?merchantId=${own}`,
  );
  const single = await service.post('/merchant/cart/calculate', {
    merchantId: own,
    items: prices.map((price) => cart(price)),
  });
  assert.equal(merchant.headers['x-situs-dataset'], built.name);
  const lines = readLines(merchant.body);
  assert.equal(lines.header['kind'], 'cart');
  assert.deepEqual(lines.rows.map(withoutIds), itemsOf(single.body).map(withoutIds));
  assert.deepEqual(
    lines.rows.map(({ line, id }) => [line, id]),
    prices.map((_, id) => [id + 1, id]),
  );
  assert.deepEqual([lines.trailer.complete, lines.trailer.codes], [true, { 100: prices.length }]);
  const bare = readLines((await ndjson(prices.map(lineCart))).body);
  for (const [index, price] of prices.entries()) {
    const one = await service.post('/calculate/cart', { items: [lineCart(price)] });
    assert.deepEqual(withoutIds(bare.rows[index]), withoutIds(itemsOf(one.body)[0]));
  }
});

test('a table gets its tax, and its trailer beside it', async () => {
  const text = `sku;to;price\nA;"${THERE}";100\nB;nowhere;5\n`;
  const answer = await csv(text, `?origin=${encodeURIComponent(HERE)}`);
  assert.equal(answer.status, 200, answer.body.toString());
  const lines = answer.body.toString('utf8').split('\n');
  assert.match(lines[0] ?? '', /^sku;to;price;situs_tax_rate;situs_tax_amount;/);
  assert.match(
    lines[1] ?? '',
    /^A;"120 Main St, Elmton, QA 91010";100;0\.\d+;\d+\.\d\d;QA;\d{4}-\d\d-\d\d;[DOM];.*;100;$/,
  );
  assert.match(lines[2] ?? '', /^B;nowhere;5;;;;;;;;109;The cart cannot be calculated/);
  const job = String(answer.headers['x-situs-job']);
  const kept = await send(`/bulk/trailer?job=${job}`, '', {}, KEYS.alpha, 'GET');
  const trailer = JSON.parse(kept.body.toString()) as Trailer;
  assert.deepEqual([trailer.complete, trailer.codes], [true, { 100: 1, 109: 1 }]);
  const asLines = await send(`${CARTS}?origin=${encodeURIComponent(HERE)}`, gzipSync(text), {
    'Content-Type': CSV,
    'Content-Encoding': 'gzip',
    Accept: NDJSON,
    'Accept-Encoding': 'gzip',
  });
  const { rows } = readLines(gunzipSync(asLines.body));
  assert.deepEqual(
    rows.map(({ line, error }) => [line, error === undefined]),
    [
      [2, true],
      [3, false],
    ],
  );
});

test('options that no row could be answered with are refused, each with its place', async () => {
  for (const [query, location] of [
    ['?merchantId=7', 'query.merchantId'],
    ['?rounding=sideways', 'query.rounding'],
    ['?explain=perhaps', 'query.explain'],
    [`?origin=${encodeURIComponent(HERE)}`, 'query.origin'],
    ['?historical=202501', 'query.historical'],
  ] as const) {
    const { errors } = problem(await ndjson([cart(1)], query), 422);
    const places = errors?.map((error) => error.location);
    assert.deepEqual(places, [location], query);
  }
  const long = problem(await csv('origin,price,to\n', `?origin=${'x'.repeat(101)}`), 422);
  assert.equal(long.errors?.[0]?.location, 'query.origin');
  assert.match(problem(await csv('to,price\n'), 422).detail, /hold the origin/);
  problem(await send(CARTS, '', { 'Content-Type': 'application/json' }), 415);
});

test('merchants are self-managed ones of the account', async () => {
  for (const [merchantId, key, detail] of [
    [UNKNOWN_ID, KEYS.alpha, /not one of this account/],
    [own, KEYS.beta, /not one of this account/],
    [relayed, KEYS.alpha, /connected to the compliance provider/],
  ] as const) {
    const refused = problem(await ndjson([cart(1)], `?merchantId=${merchantId}`, key), 403);
    assert.match(refused.detail, detail);
    assert.equal(refused.errors?.[0]?.location, 'query.merchantId');
  }
  const upper = readLines(
    (await ndjson([{ ...cart(1), merchantId: own }], `?merchantId=${own.toUpperCase()}`)).body,
  );
  assert.deepEqual(upper.trailer.codes, { 100: 1 });
});

test('strict refuses the whole with the first bad row', async () => {
  const rows = [cart(1), cart(2), { ...cart(3), lineItems: [] }];
  const refused = problem(await ndjson(rows, `?strict=true&merchantId=${own}`), 422);
  assert.deepEqual(
    [refused.line, refused.error?.code, refused.error?.field],
    [3, 105, 'lineItems'],
  );
});

test('each row counts, and a used-up quota ends the file with its line', async () => {
  for (const [key, row, query] of [
    [OF_GEO, lineCart(5), ''],
    [OF_MERCHANT, cart(5), `?merchantId=${metered}`],
  ] as const) {
    const six = Array.from({ length: 6 }, () => row);
    const { rows, trailer } = readLines((await ndjson(six, query, key)).body);
    assert.deepEqual(trailer.codes, { 100: 3, 107: 1 }, key);
    assert.deepEqual(
      [trailer.complete, trailer.stopped?.code, trailer.stopped?.line],
      [false, 107, 4],
    );
    assert.deepEqual(Object.keys(rows[3]!), ['line', 'id', 'error']);
    assert.equal(problem(await ndjson([row], query, key), 405).line, undefined);
  }
  assert.match(problem(await ndjson([lineCart(1)], '', NO_GEO), 405).detail, /has no geocoded/);
  const operations = readLines((await ndjson([cart(1)], `?merchantId=${own}`, NO_GEO)).body);
  assert.deepEqual(operations.trailer.codes, { 100: 1 }, 'carts of merchants need no geocoding');
});

test('rows are told by the account, each by the right counter', async () => {
  const before = await counts(KEYS.enterprise);
  readLines((await ndjson([lineCart(1), lineCart(2), {}], '', KEYS.enterprise)).body);
  const mine = await newMerchant(service, 'self-managed', KEYS.enterprise);
  readLines((await ndjson([cart(1)], `?merchantId=${mine}`, KEYS.enterprise)).body);
  const later = await counts(KEYS.enterprise);
  const grown = Object.fromEntries(
    Object.entries(later)
      .filter(([name, value]) => typeof value === 'number' && value !== before[name])
      .map(([name, value]) => [name, Number(value) - Number(before[name])]),
  );
  assert.deepEqual(grown, {
    request_count: 2,
    core_request_count: 2,
    geo_request_count: 2,
    merchant_request_count: 2,
  });
});

test('a job of carts answers with the rows of a stream', async () => {
  const rows = [
    { id: 'a', ...cart(9.99) },
    { id: 'b' },
    { id: 'c', ...cart(5, { cartId: 'mine' }) },
  ];
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const jobs = `/bulk/jobs?kind=cart&merchantId=${own}`;
  const made = await send(jobs, body, { 'Content-Type': NDJSON });
  assert.equal(made.status, 202, made.body.toString());
  const { id } = JSON.parse(made.body.toString()) as { id: string };
  await eventually(async () => {
    const { body: job } = await send(`/bulk/jobs/${id}`, '', {}, KEYS.alpha, 'GET');
    return (JSON.parse(job.toString()) as { state: string }).state === 'done';
  }, WAIT_MS);
  const result = readLines((await send(`/bulk/jobs/${id}/result`, '', {}, KEYS.alpha, 'GET')).body);
  const stream = readLines((await ndjson(rows, `?merchantId=${own}`)).body);
  assert.deepEqual(result.trailer.codes, { 100: 2, 105: 1 });
  assert.deepEqual(result.rows.map(withoutIds), stream.rows.map(withoutIds));
  const others = `/bulk/jobs?kind=cart&merchantId=${relayed}`;
  const { errors } = problem(await send(others, body, { 'Content-Type': NDJSON }), 403);
  assert.equal(errors?.[0]?.location, 'query.merchantId');
  const table = await send('/bulk/jobs?kind=cart', 'to,price\n', { 'Content-Type': CSV });
  assert.match(problem(table, 422).detail, /hold the origin/);
});
