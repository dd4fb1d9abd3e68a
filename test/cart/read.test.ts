/** Bodies of carts: what is read, exactly, and every way to be refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCalculation } from '../../src/api/cart/calculation.js';
import {
  CART_DEFAULTS,
  optionBits,
  optionsOfBits,
  optionsOfQuery,
} from '../../src/api/cart/options.js';
import { isProblem, type Problem } from '../../src/base/problem.js';
import { readJson } from '../../src/api/cart/cart-text.js';
import { parseInstant } from '../../src/wire/instant.js';
import { CARTS_MAX } from '../../src/api/merchant/relay-shape.js';
import { readMerchantCarts } from '../../src/api/cart/merchant-cart.js';
import { ROUNDING_LEVELS, ROUNDING_MODES } from '../../src/tax/exact.js';
import { memoryDataset } from '../support/memory-dataset.js';
import { sentCalculation, sentCart, sentLine, type Sent } from '../support/sent-carts.js';
import { ask } from '../lookup/ask.js';

function refusal(read: object): Problem & Required<Pick<Problem, 'errors'>> {
  assert.ok(isProblem(read), `it was read: ${JSON.stringify(Object.keys(read))}`);
  return { errors: [], ...read };
}

const merchant = (cart: Sent, body: Sent = {}): object =>
  readMerchantCarts({ items: [cart], ...body }, CART_DEFAULTS);

test('indexes of lines are unique in any order', () => {
  const lines = (...indexes: readonly number[]): object =>
    merchant(sentCart({ lineItems: indexes.map((index) => sentLine({ index })) }));
  assert.ok(!isProblem(lines(3, 1, 500, 0, 2)));
  for (const indexes of [
    [0, 0],
    [3, 1, 2, 1],
    [5, 4, 5],
  ]) {
    const { status, errors } = refusal(lines(...indexes));
    assert.equal(status, 422);
    assert.deepEqual(errors, [
      {
        location: `body.items[0].lineItems[${indexes.length - 1}].index`,
        message: 'expected unique in the cart',
      },
    ]);
  }
});

test('the body must be an object of JSON in UTF-8 with numbers that are kept', () => {
  const status = (text: string | Buffer): number => refusal(readJson(Buffer.from(text))).status;
  assert.equal(status('{'), 400);
  assert.equal(status(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 400);
  assert.equal(status('[]'), 422);
  assert.equal(status('{"items":[{"price":0.12345678901234567}]}'), 422);
  assert.ok(!isProblem(readJson(Buffer.from('{"items":[]}'))));
});

test('a cart is read with everything its answer and its tax need', () => {
  const cart = sentCart({
    cartId: 'c-1',
    currency: { currencyCode: 'USD' },
    deliveredBySeller: false,
    exemption: { isExempt: false, exemptionId: null },
    discounts: { lineItemDiscounts: [] },
    lineItems: [sentLine({ tic: 40030 }), sentLine({ index: 7, tic: 0, productId: 'p' })],
  });
  const read = readMerchantCarts(
    { items: [cart], transactionDate: '2026-08-07T00:00:00Z' },
    CART_DEFAULTS,
  );
  assert.ok(!isProblem(read));
  const query = read[0]?.query;
  assert.equal(query?.instantMs, Date.UTC(2026, 7, 7));
  assert.deepEqual(query?.lines, [
    { index: 0, itemId: 'sku-1', price: 49_990_000_000, quantity: 20_000, tic: '40030' },
    { index: 7, itemId: 'sku-1', price: 49_990_000_000, quantity: 20_000, tic: null },
  ]);
  assert.deepEqual(query?.destination, {
    kind: 'split',
    line1: '1 Main St',
    line2: '',
    city: 'Oldport',
    state: 'QA',
    zip: '90001',
  });
  assert.deepEqual(query?.rounding, { mode: 'half-up', level: 'line', digits: 2 });
});

const lines = (count: number): Sent[] =>
  Array.from({ length: count }, (_, index) => sentLine({ index }));

const LONG = 'x'.repeat(129);

/** Change of the cart, status, location. */
const REFUSED: readonly (readonly [Sent, number, string])[] = [
  [{ discounts: { orderDiscount: { type: 'amount', value: 1 } } }, 400, 'discounts'],
  [{ exemption: { isExempt: true } }, 400, 'exemption'],
  [{ deliveredBySeller: true }, 400, 'deliveredBySeller'],
  [{ currency: { currencyCode: 'CAD' } }, 400, 'currency.currencyCode'],
  [
    { destination: { line1: '1 A St', city: 'B', state: 'ON', zip: '1', countryCode: 'CA' } },
    400,
    'destination.countryCode',
  ],
  [{ lineItems: lines(251) }, 400, 'lineItems'],
  [{ lineItems: [] }, 422, 'lineItems'],
  [{ lineItems: [sentLine(), null] }, 422, 'lineItems[1]'],
  [{ lineItems: [sentLine(), sentLine()] }, 422, 'lineItems[1].index'],
  [{ lineItems: [sentLine({ index: 501 })] }, 422, 'lineItems[0].index'],
  [{ lineItems: [sentLine({ index: 1.5 })] }, 422, 'lineItems[0].index'],
  [{ lineItems: [sentLine({ price: -1 })] }, 422, 'lineItems[0].price'],
  [{ lineItems: [sentLine({ price: '1' })] }, 422, 'lineItems[0].price'],
  [{ lineItems: [sentLine({ price: 1e9 + 1 })] }, 422, 'lineItems[0].price'],
  [{ lineItems: [sentLine({ price: 1e-10 })] }, 422, 'lineItems[0].price'],
  [{ lineItems: [sentLine({ quantity: 100_000 })] }, 422, 'lineItems[0].quantity'],
  [{ lineItems: [sentLine({ quantity: 0.00001 })] }, 422, 'lineItems[0].quantity'],
  [{ lineItems: [sentLine({ tic: 100_001 })] }, 422, 'lineItems[0].tic'],
  [{ lineItems: [sentLine({ itemId: 'x'.repeat(51) })] }, 422, 'lineItems[0].itemId'],
  [{ lineItems: [sentLine({ discount: 1 })] }, 422, 'lineItems[0].discount'],
  [{ customerId: '' }, 422, 'customerId'],
  [{ customerId: undefined }, 422, 'customerId'],
  [{ cartId: 'x'.repeat(51) }, 422, 'cartId'],
  [{ currency: undefined }, 422, 'currency'],
  [{ currency: { currencyCode: 'EUR' } }, 400, 'currency.currencyCode'],
  [{ origin: { line1: LONG, city: 'B', state: 'QA', zip: '1' } }, 422, 'origin.line1'],
  [{ origin: { line1: '1 A St', city: 'B', state: 'QA' } }, 422, 'origin.zip'],
  [{ surprise: 1 }, 422, 'surprise'],
];

test('each member of a cart is refused with its place', () => {
  for (const [change, expected, at] of REFUSED) {
    const { status, errors } = refusal(merchant(sentCart(change)));
    assert.equal(status, expected, at);
    assert.equal(errors[0]?.location, `body.items[0].${at}`);
  }
});

test('lengths are counted in characters, whatever units they take', () => {
  assert.ok(!isProblem(merchant(sentCart({ cartId: '\u{1f6d2}'.repeat(50) }))));
  for (const cartId of ['\u{1f6d2}'.repeat(51), `${'x'.repeat(50)}\u{1f6d2}`, 'x'.repeat(101)]) {
    const { status, errors } = refusal(merchant(sentCart({ cartId })));
    assert.deepEqual([status, errors[0]?.message], [422, 'expected length <= 50']);
  }
});

test('250 lines and 100 carts are the most', () => {
  assert.ok(!isProblem(merchant(sentCart({ lineItems: lines(250) }))));
  const carts = (count: number): object =>
    readMerchantCarts({ items: Array.from({ length: count }, () => sentCart()) }, CART_DEFAULTS);
  assert.ok(!isProblem(carts(CARTS_MAX)));
  for (const count of [0, CARTS_MAX + 1]) {
    const { status, errors } = refusal(carts(count));
    assert.deepEqual([status, errors[0]?.location], [422, 'body.items']);
  }
});

test('options come from the query, and from the body over it', () => {
  for (const mode of ROUNDING_MODES) {
    for (const level of ROUNDING_LEVELS) {
      for (const explain of [true, false]) {
        const options = { mode, level, explain };
        assert.deepEqual(optionsOfBits(optionBits(options)), options);
        const query = `x=1&explain=${explain}&rounding=${mode}%2C${level}`;
        assert.deepEqual(optionsOfQuery(query), options);
      }
    }
  }
  for (const [query, location] of [
    ['rounding=nearest', 'query.rounding'],
    ['rounding=up,cart,x', 'query.rounding'],
    ['explain=1', 'query.explain'],
  ] as const) {
    const wrong = optionsOfQuery(query);
    assert.equal(refusal(wrong).errors[0]?.location, location, query);
  }
  const read = merchant(sentCart(), { rounding: 'down,cart', explain: true });
  assert.ok(!isProblem(read) && Array.isArray(read));
  assert.equal(
    refusal(merchant(sentCart(), { rounding: 'x' })).errors[0]?.location,
    'body.rounding',
  );
  assert.equal(
    refusal(merchant(sentCart(), { explain: 'yes' })).errors[0]?.location,
    'body.explain',
  );
});

test('moments are RFC 3339 with a zone', () => {
  assert.equal(parseInstant('2026-08-07T00:00:00Z'), Date.UTC(2026, 7, 7));
  assert.equal(parseInstant('2026-08-07t02:00:00.250+02:00'), Date.UTC(2026, 7, 7, 0, 0, 0, 250));
  assert.equal(parseInstant('2016-12-31T23:59:60Z'), Date.UTC(2017, 0, 1));
  const long = `2026-08-07T00:00:00.250${'9'.repeat(20)}Z`;
  assert.equal(parseInstant(long), Date.UTC(2026, 7, 7, 0, 0, 0, 250));
  for (const text of [
    '2026-08-07',
    '2026-08-07T00:00:00',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-08-07T24:00:00Z',
    '2026-08-07T00:60:00Z',
    '2026-08-07T00:00:00+24:00',
    'now',
    '',
  ]) {
    assert.equal(parseInstant(text), null, text);
  }
  const { status, errors } = refusal(merchant(sentCart(), { transactionDate: 'today' }));
  assert.deepEqual([status, errors[0]?.location], [422, 'body.transactionDate']);
});

test('the one-line endpoint takes exactly one cart and refuses everything with 400', () => {
  const read = readCalculation(sentCalculation({}, { taxabilityCode: 20010 }), CART_DEFAULTS);
  assert.ok(!isProblem(read));
  assert.deepEqual(read.query.lines[0], {
    index: 0,
    itemId: 'sku-1',
    price: 10_750_000_000,
    quantity: 15_000,
    tic: '20010',
  });
  assert.equal(read.query.rounding.digits, 5);
  const many = Array.from({ length: 251 }, () => ({ itemId: 'a', price: 1, quantity: 1 }));
  const one = sentCalculation();
  const dataset = memoryDataset();
  const fields = { kind: 'cart', endpoint: 'calculation', optionBits: 0 } as const;
  for (const [body, at] of [
    [{}, 'items'],
    [{ items: [] }, 'items'],
    [{ items: [...(one['items'] as Sent[]), ...(one['items'] as Sent[])] }, 'items'],
    [{ ...one, merchantId: 'x' }, 'merchantId'],
    [sentCalculation({ lineItems: many }), 'items[0].lineItems'],
    [
      sentCalculation({ destination: { address: 'x'.repeat(101) } }),
      'items[0].destination.address',
    ],
    [sentCalculation({ currency: { currencyCode: 'CAD' } }), 'items[0].currency.currencyCode'],
    [sentCalculation({}, { price: 0 }), 'items[0].lineItems[0].price'],
    [sentCalculation({}, { quantity: 0 }), 'items[0].lineItems[0].quantity'],
    [sentCalculation({ cartId: 'x' }), 'items[0].cartId'],
  ] as const) {
    const { errors } = refusal(readCalculation(body, CART_DEFAULTS));
    assert.equal(errors[0]?.location, `body.${at}`);
    assert.equal(ask(60, JSON.stringify(body), { dataset, fields }).status, 400, at);
  }
});

test('one cart: whatever is wrong with the body is 400', () => {
  const dataset = memoryDataset();
  for (const body of ['[]', 'null', '5', '{"items":[{"price":1.2345678901234567}]}', '{', '{}']) {
    const fields = { kind: 'cart', endpoint: 'calculation', optionBits: 0 } as const;
    const { status } = ask(60, body, { dataset, fields });
    assert.equal(status, 400, body);
  }
});
