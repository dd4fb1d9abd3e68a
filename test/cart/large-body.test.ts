/** Large bodies of carts, which are read cart by cart, are answered as those that are read at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerCarts } from '../../src/api/cart/answer.js';
import { CART_DEFAULTS, optionBits } from '../../src/api/cart/options.js';
import { cartsInTurn } from '../../src/api/cart/merchant-cart.js';
import { openWire } from '../../src/api/lookup/context.js';
import { isProblem, type Problem } from '../../src/base/problem.js';
import type { Answer } from '../../src/pool/types.js';
import { unpackValue } from '../../src/pool/value.js';
import { cartWorld, NOW } from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { levies } from '../support/product-facts.js';
import { sentCart, sentLine, type Sent } from '../support/sent-carts.js';

const ENGINE = engineOf(
  cartWorld([{ state: 'OH', county: '049', percents: levies('state 5.75, county 1.25') }]),
);
const CONTEXT = openWire({ report: (error) => assert.fail(String(error)) });
const HERE = { line1: '1 Main St', city: 'Ashford', state: 'OH', zip: '10001' };
const NOWHERE = { line1: '1 Main St', city: 'Nowhere', state: 'OH', zip: '00000' };
const CARTS = 8;
const LINES = 250;

function cart(index: number, change: Sent = {}): Sent {
  const lineItems = Array.from({ length: LINES }, (_line, at) =>
    sentLine({ index: at, itemId: `sku-${index}-${at}`, price: at + 0.99 }),
  );
  return sentCart({ cartId: `c-${index}`, origin: HERE, destination: HERE, lineItems, ...change });
}

/** Carts of which some are changed. */
function carts(changes: Readonly<Record<number, Sent>> = {}): readonly Sent[] {
  return Array.from({ length: CARTS }, (_cart, index) => cart(index, changes[index]));
}

interface Told {
  readonly status: number;
  /** The text of amounts, or the problem. */
  readonly body: string | Problem;
  readonly marks: readonly unknown[];
}

function toldOf({ status, code, precision, flags, body }: Answer): Told {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part as Uint8Array)));
  return {
    status,
    body: status === 200 ? bytes.toString() : unpackValue<Problem>(bytes),
    marks: [code, precision, flags],
  };
}

function answered(text: string): Told {
  const payload = Buffer.from(text);
  const optionBitsOf = optionBits(CART_DEFAULTS);
  return toldOf(
    answerCarts(CONTEXT, ENGINE, { endpoint: 'merchant', optionBits: optionBitsOf, payload }, NOW),
  );
}

/** The answer, which is the same with a member in escapes: that has the body parsed at once. */
function bothWays(body: Sent): Told {
  const text = JSON.stringify(body);
  const parsed = `{"more":"\\u0061",${text.slice(1)}`;
  assert.ok(text.length > 65_536);
  assert.equal(cartsInTurn(Buffer.from(parsed), CART_DEFAULTS), null);
  const told = answered(text);
  assert.deepEqual(answered(parsed), told);
  return told;
}

test('amounts are the same, and those of each cart alone', () => {
  const { status, body } = bothWays({ items: carts() });
  assert.equal(status, 200);
  const all = JSON.parse(body as string) as { items: readonly unknown[] };
  assert.equal(all.items.length, CARTS);
  for (const [index, item] of all.items.entries()) {
    const alone = answered(JSON.stringify({ items: [cart(index)] }));
    assert.deepEqual(JSON.parse(alone.body as string), { ...all, items: [item] });
  }
});

test('what stands behind the carts holds for them too', () => {
  const items = carts();
  const plain = bothWays({ items });
  const explained = bothWays({ items, explain: true });
  assert.equal(explained.status, 200);
  assert.ok(String(explained.body).length > 2 * String(plain.body).length);
  const old = bothWays({ items, transactionDate: '2000-01-01T00:00:00Z' });
  assert.notDeepEqual(old, plain);
});

test('what is refused first is refused as before', () => {
  const line = (change: Sent): Sent => ({ lineItems: [sentLine(change)] });
  const away = { destination: NOWHERE };
  const twice = { lineItems: [sentLine(), sentLine()] };
  const refused: readonly (readonly [Sent, number, string])[] = [
    [{ items: carts({ 2: away, 5: away }) }, 422, 'body.items[2]'],
    // A cart that cannot be read comes before one that cannot be calculated.
    [{ items: carts({ 2: away, 5: twice }) }, 422, 'body.items[5].lineItems[1].index'],
    [{ items: carts({ 3: twice, 5: line({ price: 1e12 }) }) }, 422, 'body.items[3]'],
    [{ items: carts({ 2: away, 7: { discounts: [1] } }) }, 400, 'body.items[7].discounts'],
    [
      { items: carts({ 7: line({ quantity: 'two' }) }) },
      422,
      'body.items[7].lineItems[0].quantity',
    ],
    [
      { items: carts({ 7: line({ price: 1.12345678901 }) }) },
      422,
      'body.items[7].lineItems[0].price',
    ],
    [{ items: carts({ 1: twice }), transactionDate: 'today' }, 422, 'body.transactionDate'],
    [{ items: carts({ 1: twice }), rounding: { mode: 'up' } }, 422, 'body.rounding'],
  ];
  for (const [body, status, location] of refused) {
    const told = bothWays(body);
    assert.equal(told.status, status, location);
    const { errors = [] } = told.body as Problem;
    assert.ok(errors[0]?.location.startsWith(location), `${errors[0]?.location} ${location}`);
  }
});

test('a cart is read when its turn comes', () => {
  const text = Buffer.from(
    JSON.stringify({ items: carts({ 1: { lineItems: [sentLine(), sentLine()] } }) }),
  );
  const read = cartsInTurn(text, CART_DEFAULTS);
  assert.ok(read !== null && !isProblem(read));
  assert.equal(read.count, CARTS);
  const found = [0, 1, 2].map((index) => read.at(index));
  assert.deepEqual(found.map(isProblem), [false, true, false]);
  const [first] = found;
  assert.ok(first !== undefined && !isProblem(first));
  assert.equal(first.sent.cartId, 'c-0');
  assert.equal(first.query.lines.length, LINES);
});
