/** Carts that came in one task answer as each of them does alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionBits, type CartOptions } from '../../src/api/cart/options.js';
import { openWire } from '../../src/api/lookup/context.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { PRECISIONS } from '../../src/engine/situs.js';
import { answerFrame } from '../../src/worker.js';
import { cartWorld, NOW } from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { type FactPlace, levies } from '../support/product-facts.js';

const LEVIED: readonly FactPlace[] = [
  { state: 'OH', county: '049', percents: levies('state 5.75, county 1.25') },
  { state: 'DE', county: '003', percents: [['state', '0']] },
];
const ENGINE = engineOf(cartWorld(LEVIED));
const CONTEXT = openWire({ baseUrl: 'https://rates.example' });
const OHIO = { line1: '1 Main St', city: 'Ashford', state: 'OH', zip: '10001' };
const NOWHERE = { ...OHIO, state: 'ZZ' };

function cart(price: number, destination: object = OHIO, more: object = {}): object {
  return {
    cartId: 'mine',
    customerId: 'c',
    currency: {},
    origin: OHIO,
    destination,
    lineItems: [
      { index: 0, itemId: 'i0', price, quantity: 2 },
      { index: 1, itemId: 'i1', price: 7, quantity: 1, tic: 10001 },
    ],
    ...more,
  };
}

interface Asked {
  readonly endpoint: 'merchant' | 'calculation';
  readonly body: string;
  readonly options: CartOptions;
}

const PLAIN: CartOptions = { mode: 'half-up', level: 'line', explain: false };

function asked(items: unknown, options = PLAIN, endpoint: Asked['endpoint'] = 'merchant'): Asked {
  return { endpoint, options, body: typeof items === 'string' ? items : JSON.stringify({ items }) };
}

const ADDRESS = { address: '1 Main St, Ashford, OH 10001' };
const BARE = {
  customerId: 'c',
  currency: { currencyCode: 'USD' },
  origin: ADDRESS,
  destination: ADDRESS,
  lineItems: [{ itemId: 'i', price: 10, quantity: 1 }],
};

const LONG = { index: 0, itemId: 'i', price: 3.21, quantity: 1, productId: 'p'.repeat(1_000) };

const BODIES: readonly Asked[] = [
  asked([cart(19.99)]),
  asked([cart(5), cart(0.01), cart(1_234.56)]),
  asked([cart(5), cart(6, NOWHERE), cart(7)]),
  // A cart that cannot be read refuses the body, whatever was calculated before it.
  asked([cart(5), cart(6, NOWHERE), cart(7, OHIO, { customerId: '' })]),
  asked([cart(5, OHIO, { discounts: [{}] })]),
  asked('{"items":[{]}'),
  asked('{"items":[]}'),
  asked(`{"items":[${JSON.stringify(cart(3)).replace('i0', '\\u0069')}]}`),
  asked([cart(33.33)], { mode: 'up', level: 'cart', explain: false }),
  asked([cart(33.33), cart(44)], { mode: 'half-even', level: 'line', explain: true }),
  asked([BARE], PLAIN, 'calculation'),
  asked([cart(19.99, { ...OHIO, line1: 'x'.repeat(2_000) })]),
  // Longer than what is read at once.
  asked(Array.from({ length: 70 }, (_, at) => cart(at + 0.5, OHIO, { lineItems: [LONG] }))),
];

function answers(bodies: readonly Asked[]): readonly string[] {
  const frame = new RequestFrame();
  for (const { endpoint, body, options } of bodies) {
    frame.add({ kind: 'cart', endpoint, optionBits: optionBits(options) }, Buffer.from(body));
  }
  const found: string[] = [];
  readAnswers(answerFrame(ENGINE, frame.bytes(), NOW, CONTEXT), bodies.length, (_, slice) => {
    const { status, code, precision, flags, body } = slice;
    const text = Buffer.from(body).toString('latin1');
    found.push([status, code, PRECISIONS[precision], flags, text].join(' '));
  });
  return found;
}

/** Ids of carts of no merchant are new each time. */
function withoutIds(text: string): string {
  return text.replace(/"cartId":"[0-9a-f]{8}-[0-9a-f-]{27}"/g, '"cartId":"new"');
}

test('each body of a task has the answer that it has alone, in any order', () => {
  const alone = BODIES.map((body) => withoutIds(answers([body])[0]!));
  assert.deepEqual(
    alone.map((text) => text.slice(0, 3)),
    ['200', '200', '422', '422', '400', '400', '422', '200', '200', '200', '200', '422', '200'],
  );
  for (let turn = 0; turn < BODIES.length; turn += 1) {
    const turned = [...BODIES.slice(turn), ...BODIES.slice(0, turn)];
    const together = answers(turned).map(withoutIds);
    assert.deepEqual(together, [...alone.slice(turn), ...alone.slice(0, turn)]);
  }
});
