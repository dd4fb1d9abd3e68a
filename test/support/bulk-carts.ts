/** Carts as rows of bulk files over a small world, beside what the cart endpoints answer. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { unpackValue } from '../../src/pool/value.js';
import { answerFrame } from '../../src/worker.js';
import { optionBits, optionsOfQuery, PRODUCT_BIT } from '../../src/api/cart/options.js';
import { below, oneOf, runBulk, type BulkRun, type Random } from './bulk-bodies.js';
import { cartWorld, NOW } from './cart-world.js';
import type { Sent } from './sent-carts.js';
import { engineOf } from './engine-of.js';

const DATASET = cartWorld([
  {
    state: 'NY',
    county: '061',
    percents: [
      ['state', '4'],
      ['city', '4.875'],
    ],
  },
  {
    state: 'CA',
    county: '059',
    percents: [
      ['state', '7.25'],
      ['county', '0.5'],
    ],
  },
  { state: 'TX', county: '201', percents: [['state', '6.25']] },
  { state: 'DE', county: '003', percents: [['state', '0']] },
]);
export const RUN: BulkRun = { dataset: DATASET, nowMs: NOW, output: 'ndjson', kind: 'cart' };
export const MERCHANT = '0b2f4a66-7f0e-4c3b-9d3a-0f5c8f1f2a11';
export const OF_MERCHANT = { merchantId: MERCHANT };
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const NY = '1 Main St, Ashford, NY 10001';
export const CA = '1 Main St, Birchton, CA 10002';
export const NY_PARTS = { line1: '1 Main St', city: 'Ashford', state: 'NY', zip: '10001' };
export const CA_PARTS = { line1: '1 Main St', city: 'Birchton', state: 'CA', zip: '10002' };

export function linesOf(
  rows: readonly (object | string)[],
  run: Partial<BulkRun> = {},
): readonly string[] {
  const body = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const { output } = runBulk('ndjson', [Buffer.from(`${body}\n`)], { ...RUN, ...run });
  return output.toString('utf8').split('\n').slice(0, -1);
}

interface ErrorLine {
  readonly line: number;
  readonly id: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly field: string | null;
  };
}

export function errorOf(line: string): ErrorLine {
  return JSON.parse(line) as ErrorLine;
}

interface Endpoint {
  readonly status: number;
  readonly text: string;
}

/** What a cart endpoint answers. */
export function endpoint(body: object, ofMerchant: boolean, query = ''): Endpoint {
  const options = optionsOfQuery(query);
  assert.ok(!isProblem(options));
  const frame = new RequestFrame();
  frame.add(
    {
      kind: 'cart',
      endpoint: ofMerchant ? 'merchant' : 'calculation',
      optionBits: optionBits(options) | PRODUCT_BIT,
    },
    Buffer.from(JSON.stringify(body)),
  );
  let found: Endpoint = { status: 0, text: '' };
  readAnswers(
    answerFrame(engineOf(DATASET), frame.bytes(), NOW),
    1,
    (_index, { status, body: bytes }) => {
      const text =
        status === 200 ? Buffer.from(bytes).toString('utf8') : JSON.stringify(unpackValue(bytes));
      found = { status, text };
    },
  );
  return found;
}

/** The one item of an answer, without its id, and what the answer rests on as its last member. */
export function itemOf({ status, text }: Endpoint): string {
  assert.equal(status, 200, text);
  const end = text.lastIndexOf('],"situs":');
  return withoutId(`${text.slice('{"items":['.length, end - 1)}${text.slice(end + 1)}`);
}

function withoutId(item: string): string {
  return item.replace(/"cartId":"[0-9a-f-]{36}",/, '');
}

/** The cart of a line, without its id. */
export function cartOf(line: string): string {
  const found = /^\{"line":\d+,"id":(?:null|-?\d+|"(?:[^"\\]|\\.)*"),(?!"error")/.exec(line);
  assert.ok(found !== null, line);
  return withoutId(`{${line.slice(found[0].length)}`);
}

export function randomCart(random: Random, parts: boolean): Sent {
  const place = (): object =>
    parts
      ? oneOf(random, [
          NY_PARTS,
          CA_PARTS,
          NY_PARTS,
          CA_PARTS,
          CA_PARTS,
          { ...NY_PARTS, line1: 'x' },
          { ...CA_PARTS, line1: '' },
        ])
      : { address: oneOf(random, [NY, CA, NY, CA, CA, 'Nowhere 1', '']) };
  const price = oneOf<unknown>(random, [
    49.99,
    0.01,
    1e-9,
    12.345,
    1e9,
    -1,
    1e10,
    '5',
    1.0000000001,
  ]);
  const tic = oneOf<unknown>(random, [null, 0, 20010, 10001, 40030, 90103, 99999, 'x']);
  const line = (index: number): Sent => ({
    ...(parts ? { index } : {}),
    itemId: `item-${index}`,
    price: random() < 0.8 ? 20.5 : price,
    quantity: oneOf(random, [1, 2, 0.3333, 1.5]),
    ...(random() < 0.3 ? { [parts ? 'tic' : 'taxabilityCode']: tic } : {}),
  });
  return {
    customerId: 'c',
    currency: {},
    origin: place(),
    destination: place(),
    lineItems: Array.from({ length: 1 + below(random, 4) }, (_, index) => line(index)),
    ...(parts && random() < 0.2 ? { cartId: `mine ${below(random, 99)}` } : {}),
    ...(random() < 0.05 ? { discounts: [{ x: 1 }] } : {}),
  };
}
