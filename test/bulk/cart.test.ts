/** Carts as rows of NDJSON: answered as the cart endpoints do, whatever their neighbours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../bench/case/case.js';
import { CART_ROW_BYTES_MAX } from '../../src/bulk/row/record-form.js';
import { GRANT_ALL, GRANT_PRODUCT } from '../../src/pool/types.js';
import { below, cut, oneOf, runBulk, type BulkRun } from '../support/bulk-bodies.js';
import {
  CA,
  CA_PARTS,
  cartOf,
  endpoint,
  errorOf,
  itemOf,
  linesOf,
  MERCHANT,
  NY,
  NY_PARTS,
  OF_MERCHANT,
  randomCart,
  RUN,
  UUID,
} from '../support/bulk-carts.js';
import { sentCart, sentLine } from '../support/sent-carts.js';

test('a line holds the item of the cart endpoint, in either shape, bare or in its body', () => {
  const random = seeded(11);
  let [answered, refused] = [0, 0];
  for (const [parts, defaults] of [
    [true, OF_MERCHANT],
    [true, {}],
    [false, {}],
  ] as const) {
    const carts = Array.from({ length: 400 }, () => randomCart(random, parts));
    const beside = carts.map(() =>
      random() < 0.3 ? { rounding: oneOf(random, ['up', 'half-even,cart', 'sideways']) } : {},
    );
    const bare = linesOf(
      carts.map((cart, id) => ({ id, ...cart, ...beside[id] })),
      { defaults },
    );
    const whole = linesOf(
      carts.map((cart, id) => ({ id, ...beside[id], items: [cart] })),
      { defaults },
    );
    for (const [index, cart] of carts.entries()) {
      const single = endpoint({ items: [cart], ...beside[index] }, parts);
      if (single.status === 200) {
        answered += 1;
        assert.equal(cartOf(bare[index]!), itemOf(single));
        assert.equal(cartOf(whole[index]!), itemOf(single));
        continue;
      }
      refused += 1;
      const { detail, errors } = JSON.parse(single.text) as {
        detail: string;
        errors: { location: string; message: string }[];
      };
      const { error } = errorOf(whole[index]!);
      assert.ok(error !== undefined);
      assert.ok(error.message.startsWith(detail) && error.message.includes(errors[0]!.message));
      assert.equal(error.field, errors[0]!.location.replace('body.', ''));
      const told = errorOf(bare[index]!).error;
      assert.deepEqual([told?.code, told?.message], [error.code, error.message]);
      assert.equal(told?.field, (error.field ?? '').replace(/^items\[0\]\.?/, ''));
    }
  }
  assert.ok(answered > 200 && refused > 200, `${answered} answered, ${refused} refused`);
});

test('rounding, explanation and the moment of the sale are those of the endpoint', () => {
  const cart = sentCart({
    origin: NY_PARTS,
    destination: CA_PARTS,
    lineItems: [sentLine({ price: 9.99 })],
  });
  for (const [rounding, explain] of [
    ['up', 'true'],
    ['down', 'false'],
    ['half-even,cart', 'true'],
  ] as const) {
    const [line] = linesOf([cart], { defaults: { ...OF_MERCHANT, rounding, explain } });
    const single = endpoint({ items: [cart] }, true, `rounding=${rounding}&explain=${explain}`);
    assert.equal(cartOf(line!), itemOf(single));
  }
  const transactionDate = '2026-03-07T00:00:00Z';
  const [line] = linesOf([{ ...cart, transactionDate, explain: true }], { defaults: OF_MERCHANT });
  assert.equal(
    cartOf(line!),
    itemOf(endpoint({ items: [cart], transactionDate, explain: true }, true)),
  );
});

test('a cart without an id has one of job, line and row', () => {
  const cart = sentCart({ origin: NY_PARTS, destination: CA_PARTS });
  const rows = [cart, cart, { ...cart, cartId: 'mine' }];
  const idsOf = (run: Partial<BulkRun> = {}): readonly string[] =>
    linesOf(rows, { defaults: OF_MERCHANT, ...run }).map(
      (line) => (JSON.parse(line) as { cartId: string }).cartId,
    );
  const [first = '', second = '', third] = idsOf();
  assert.match(first, UUID);
  assert.match(second, UUID);
  assert.notEqual(first, second);
  assert.equal(third, 'mine');
  assert.deepEqual(idsOf({ rowsPerChunk: 1 }), [first, second, third]);
  assert.notEqual(idsOf({ job: 'another' })[0], first);
});

test('a bad line is an error of its own and says where', () => {
  const good = {
    customerId: 'c',
    currency: {},
    origin: { address: NY },
    destination: { address: CA },
    lineItems: [{ itemId: 'i', price: 1, quantity: 1 }],
  };
  const cases: readonly (readonly [
    row: object | string,
    code: number,
    message: RegExp,
    field: string | null,
  ])[] = [
    ['', 105, /The line is empty/, null],
    ['{', 105, /not valid JSON/, null],
    ['[]', 105, /no JSON object/, null],
    [`{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 105, /more than 64 levels/, null],
    [`{"a":[${'{},'.repeat(131_072)}0]}`, 105, /more than 131,072 lists and objects/, null],
    [{ ...good, id: {} }, 105, /Parameter id: up to 255/, 'id'],
    [{ items: [good, good] }, 105, /expected one cart/, 'items'],
    [{ items: [] }, 105, /exactly one cart/, 'items'],
    [{ ...good, merchantId: MERCHANT }, 105, /merchantId: the merchant of all rows/, 'merchantId'],
    [{ ...good, origin: { address: 'Nowhere 1' } }, 109, /The cart cannot be calculated/, 'origin'],
    [{ ...good, lineItems: [] }, 105, /at least 1 item/, 'lineItems'],
    [{ ...good, transactionDate: 'today' }, 105, /unexpected property/, 'transactionDate'],
    [
      JSON.stringify(good).replace('"price":1', '"price":1.0000000000000001'),
      105,
      /15 significant digits/,
      null,
    ],
    [`{"x":"${'y'.repeat(CART_ROW_BYTES_MAX)}"}`, 105, /longer than a row may be/, null],
  ];
  const lines = linesOf([good, ...cases.map(([row]) => row), good]);
  assert.equal(lines.length, cases.length + 2);
  for (const [index, [, code, message, field]] of cases.entries()) {
    const { line, error, ...rest } = errorOf(lines[index + 1]!);
    assert.deepEqual([line, error?.code, error?.field], [index + 2, code, field], lines[index + 1]);
    assert.match(error?.message ?? '', message);
    assert.deepEqual(Object.keys(rest), ['id'], 'an error line has nothing but its error');
  }
  assert.equal(cartOf(lines[0]!), cartOf(lines.at(-1)!));
  const [own, other] = linesOf(
    [
      {
        ...sentCart({ origin: NY_PARTS, destination: CA_PARTS }),
        merchantId: MERCHANT.toUpperCase(),
      },
      { ...good, merchantId: 7 },
    ],
    { defaults: OF_MERCHANT },
  );
  assert.equal(errorOf(own!).error, undefined);
  assert.match(errorOf(other!).error?.message ?? '', /all rows are of merchant 0b2f/);
});

test('a fault of a cart is named from the row: of the cart itself, or of the body around it', () => {
  const cart = sentCart({
    origin: { address: NY },
    destination: { address: CA },
    lineItems: [{ itemId: 'i', price: 1, quantity: 1 }],
  });
  const nowhere = { ...cart, origin: { address: 'Nowhere 1' } };
  const rows: readonly (readonly [row: object, field: string])[] = [
    [nowhere, 'origin'],
    [{ items: [nowhere] }, 'items[0].origin'],
    [{ ...cart, lineItems: [] }, 'lineItems'],
    [{ items: [{ ...cart, lineItems: [] }] }, 'items[0].lineItems'],
    [{ items: [7] }, 'items[0]'],
    [{ ...cart, rounding: 'x' }, 'rounding'],
    [{ items: [cart], rounding: 'x' }, 'rounding'],
  ];
  const lines = linesOf(rows.map(([row]) => row));
  assert.deepEqual(
    lines.map((line) => errorOf(line).error?.field),
    rows.map(([, field]) => field),
  );
});

test('a row is counted as a geocoded lookup, or as an operation of its merchant', () => {
  const cart = sentCart({ origin: NY_PARTS, destination: CA_PARTS });
  const tallyOf = (run: Partial<BulkRun>): readonly unknown[] => {
    const body = Buffer.from(`${JSON.stringify(cart)}\n{}\n`);
    const [tally] = runBulk('ndjson', [body], { ...RUN, ...run }).tallies;
    return [
      tally?.rows,
      tally?.codes,
      tally?.core,
      tally?.geo,
      tally?.merchant,
      tally?.refusals[0]?.line,
    ];
  };
  assert.deepEqual(tallyOf({}), [2, { 100: 1, 105: 1 }, 1, 1, 0, 2]);
  assert.deepEqual(tallyOf({ defaults: OF_MERCHANT }), [2, { 100: 1, 105: 1 }, 0, 0, 1, 2]);
  assert.deepEqual(tallyOf({ grants: 0 }), [2, { 107: 2 }, 0, 0, 0, 1]);
  assert.deepEqual(tallyOf({ defaults: OF_MERCHANT, grants: 0 }), [
    2,
    { 100: 1, 105: 1 },
    0,
    0,
    1,
    2,
  ]);
});

test('a row with a product code needs the entitlement, but for carts of a merchant', () => {
  const coded = sentCart({
    origin: NY_PARTS,
    destination: NY_PARTS,
    lineItems: [sentLine({ tic: 20010 })],
  });
  const grants = GRANT_ALL & ~GRANT_PRODUCT;
  const [refused, plain] = linesOf([coded, sentCart({ origin: NY_PARTS, destination: NY_PARTS })], {
    grants,
  });
  const told = (line = ''): unknown[] => {
    const { error } = errorOf(line);
    return [error?.code, error?.field];
  };
  assert.deepEqual(told(refused), [113, 'lineItems[0].tic']);
  assert.equal(errorOf(plain!).error, undefined);
  const line = { itemId: 'i', price: 1, quantity: 1 };
  const ofOneLine = {
    customerId: 'c',
    currency: {},
    origin: { address: NY },
    destination: { address: NY },
    lineItems: [line, { ...line, taxabilityCode: 20010 }],
  };
  const [bare, inBody] = linesOf([ofOneLine, { items: [ofOneLine] }], { grants });
  assert.deepEqual(told(bare), [113, 'lineItems[1].taxabilityCode']);
  assert.deepEqual(told(inBody), [113, 'items[0].lineItems[1].taxabilityCode']);
  const [own] = linesOf([coded], { grants, defaults: OF_MERCHANT });
  assert.equal(errorOf(own!).error, undefined, own);
});

test('as many rows out as in, whatever the rows and the cuts', () => {
  const random = seeded(12);
  for (let index = 0; index < 300; index += 1) {
    const rows = Array.from({ length: below(random, 12) }, (_, id) =>
      random() < 0.3
        ? oneOf(random, [
            '',
            '{',
            '[]',
            '{"items":3}',
            '{"items":[null]}',
            'null',
            '{"lineItems":[1]}',
          ])
        : JSON.stringify({ id, ...randomCart(random, random() < 0.5) }),
    );
    const body = Buffer.from(rows.map((row) => `${row}\n`).join(''));
    const defaults = random() < 0.5 ? OF_MERCHANT : {};
    const first = runBulk('ndjson', cut(random, body), {
      ...RUN,
      defaults,
      rowsPerChunk: 1 + below(random, 5),
    });
    const again = runBulk('ndjson', [body], { ...RUN, defaults });
    assert.ok(first.output.equals(again.output));
    const lines = first.output.toString('utf8').split('\n').slice(0, -1);
    assert.deepEqual(
      lines.map((line) => errorOf(line).line),
      rows.map((_, at) => at + 1),
    );
  }
});
