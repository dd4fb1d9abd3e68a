/** Carts as rows: answered as the cart endpoints do, in NDJSON and CSV, whatever their neighbours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Papa from 'papaparse';
import { seeded } from '../../bench/case/case.js';
import { OP_CART, readAnswers, RequestFrame } from '../../src/engine/frame.js';
import { answerFrame } from '../../src/wire/answer.js';
import { CART_COLUMNS } from '../../src/wire/bulk/cart-columns.js';
import { columnTermsOf } from '../../src/wire/bulk/cart-mapping.js';
import { CART_ROW_BYTES_MAX } from '../../src/wire/bulk/limit.js';
import { mapColumns } from '../../src/wire/bulk/mapping.js';
import { CART_CALCULATE, CART_MERCHANT } from '../../src/wire/cart-answer.js';
import { optionBits, optionsOfQuery, isBodyError } from '../../src/wire/cart-options.js';
import { below, cut, oneOf, runBulk, type BulkRun, type Random } from '../support/bulk-bodies.js';
import { cartWorld, NOW } from '../support/cart-world.js';
import { sentCart, sentLine, type Sent } from '../support/sent-carts.js';

const DATASET = cartWorld([
  { state: 'NY', county: '061', percents: [['state', '4'], ['city', '4.875']] },
  { state: 'CA', county: '059', percents: [['state', '7.25'], ['county', '0.5']] },
  { state: 'TX', county: '201', percents: [['state', '6.25']] },
  { state: 'DE', county: '003', percents: [['state', '0']] },
]);
const RUN: BulkRun = { dataset: DATASET, nowMs: NOW, output: 'ndjson', kind: 'cart' };
const MERCHANT = '0b2f4a66-7f0e-4c3b-9d3a-0f5c8f1f2a11';
const OF_MERCHANT = { merchantId: MERCHANT };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const NY = '1 Main St, Ashford, NY 10001';
const CA = '1 Main St, Birchton, CA 10002';
const NY_PARTS = { line1: '1 Main St', city: 'Ashford', state: 'NY', zip: '10001' };
const CA_PARTS = { line1: '1 Main St', city: 'Birchton', state: 'CA', zip: '10002' };

function linesOf(rows: readonly (object | string)[], run: Partial<BulkRun> = {}): readonly string[] {
  const body = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const { output } = runBulk('ndjson', [Buffer.from(`${body}\n`)], { ...RUN, ...run });
  return output.toString('utf8').split('\n').slice(0, -1);
}

interface ErrorLine {
  readonly line: number;
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly field: string | null };
}

function errorOf(line: string): ErrorLine {
  return JSON.parse(line) as ErrorLine;
}

interface Endpoint {
  readonly status: number;
  readonly text: string;
}

/** What a cart endpoint answers. */
function endpoint(body: object, ofMerchant: boolean, query = ''): Endpoint {
  const options = optionsOfQuery(query);
  assert.ok(!isBodyError(options));
  const frame = new RequestFrame();
  frame.add(OP_CART, ofMerchant ? CART_MERCHANT : CART_CALCULATE, optionBits(options),
    Buffer.from(JSON.stringify(body)));
  let found: Endpoint = { status: 0, text: '' };
  readAnswers(answerFrame(DATASET, frame.bytes(), NOW), 1, (_index, { status, body: bytes }) => {
    found = { status, text: Buffer.from(bytes).toString('utf8') };
  });
  return found;
}

/** The one item of an answer, without its id. */
function itemOf({ status, text }: Endpoint): string {
  assert.equal(status, 200, text);
  return withoutId(text.slice('{"items":['.length, -2));
}

function withoutId(item: string): string {
  return item.replace(/"cartId":"[0-9a-f-]{36}",/, '');
}

/** The cart of a line, without its id. */
function cartOf(line: string): string {
  const found = /^\{"line":\d+,"id":(?:null|-?\d+|"(?:[^"\\]|\\.)*"),(?!"error")/.exec(line);
  assert.ok(found !== null, line);
  return withoutId(`{${line.slice(found[0].length)}`);
}

function randomCart(random: Random, parts: boolean): Sent {
  const place = (): object => (parts
    ? oneOf(random, [NY_PARTS, CA_PARTS, NY_PARTS, CA_PARTS, CA_PARTS, { ...NY_PARTS, line1: 'x' }, { ...CA_PARTS, line1: '' }])
    : { address: oneOf(random, [NY, CA, NY, CA, CA, 'Nowhere 1', '']) });
  const price = oneOf<unknown>(random, [49.99, 0.01, 1e-9, 12.345, 1e9, -1, 1e10, '5', 1.0000000001]);
  const tic = oneOf<unknown>(random, [null, 0, 20010, 10001, 40030, 99999, 'x']);
  const line = (index: number): Sent => ({
    ...(parts ? { index } : {}), itemId: `item-${index}`, price: random() < 0.8 ? 20.5 : price,
    quantity: oneOf(random, [1, 2, 0.3333, 1.5]),
    ...(random() < 0.3 ? { [parts ? 'tic' : 'taxabilityCode']: tic } : {}),
  });
  return {
    customerId: 'c', currency: {}, origin: place(), destination: place(),
    lineItems: Array.from({ length: 1 + below(random, 4) }, (_, index) => line(index)),
    ...(parts && random() < 0.2 ? { cartId: `mine ${below(random, 99)}` } : {}),
    ...(random() < 0.05 ? { discounts: [{ x: 1 }] } : {}),
  };
}

test('a line holds the item of the cart endpoint, in either shape, bare or in its body', () => {
  const random = seeded(11);
  let [answered, refused] = [0, 0];
  for (const [parts, defaults] of [[true, OF_MERCHANT], [true, {}], [false, {}]] as const) {
    const carts = Array.from({ length: 400 }, () => randomCart(random, parts));
    const beside = carts.map(() => (random() < 0.3
      ? { rounding: oneOf(random, ['up', 'half-even,cart', 'sideways']) } : {}));
    const bare = linesOf(carts.map((cart, id) => ({ id, ...cart, ...beside[id] })), { defaults });
    const whole = linesOf(carts.map((cart, id) => ({ id, ...beside[id], items: [cart] })), { defaults });
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
        detail: string; errors: { location: string; message: string }[];
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
  const cart = sentCart({ origin: NY_PARTS, destination: CA_PARTS, lineItems: [sentLine({ price: 9.99 })] });
  for (const [rounding, explain] of [['up', 'true'], ['down', 'false'], ['half-even,cart', 'true']] as const) {
    const [line] = linesOf([cart], { defaults: { ...OF_MERCHANT, rounding, explain } });
    const single = endpoint({ items: [cart] }, true, `rounding=${rounding}&explain=${explain}`);
    assert.equal(cartOf(line!), itemOf(single));
  }
  const transactionDate = '2026-03-07T00:00:00Z';
  const [line] = linesOf([{ ...cart, transactionDate, explain: true }], { defaults: OF_MERCHANT });
  assert.equal(cartOf(line!), itemOf(endpoint({ items: [cart], transactionDate, explain: true }, true)));
});

test('a cart without an id has one of job, line and row', () => {
  const cart = sentCart({ origin: NY_PARTS, destination: CA_PARTS });
  const rows = [cart, cart, { ...cart, cartId: 'mine' }];
  const idsOf = (run: Partial<BulkRun> = {}): readonly string[] => linesOf(rows, { defaults: OF_MERCHANT, ...run })
    .map((line) => (JSON.parse(line) as { cartId: string }).cartId);
  const [first = '', second = '', third] = idsOf();
  assert.match(first, UUID);
  assert.match(second, UUID);
  assert.notEqual(first, second);
  assert.equal(third, 'mine');
  assert.deepEqual(idsOf({ rowsPerChunk: 1 }), [first, second, third]);
  assert.notEqual(idsOf({ job: 'another' })[0], first);
});

test('a bad line is an error of its own and says where', () => {
  const good = { customerId: 'c', currency: {}, origin: { address: NY }, destination: { address: CA }, lineItems: [{ itemId: 'i', price: 1, quantity: 1 }] };
  const cases: readonly (readonly [row: object | string, code: number, message: RegExp, field: string | null])[] = [
    ['', 105, /The line is empty/, null],
    ['{', 105, /not valid JSON/, null],
    ['[]', 105, /no JSON object/, null],
    [`{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 105, /more than 64 levels/, null],
    [{ ...good, id: {} }, 105, /Parameter id: up to 255/, 'id'],
    [{ items: [good, good] }, 105, /expected one cart/, 'items'],
    [{ items: [] }, 105, /exactly one cart/, 'items'],
    [{ ...good, merchantId: MERCHANT }, 105, /merchantId: the merchant of all rows/, 'merchantId'],
    [{ ...good, origin: { address: 'Nowhere 1' } }, 109, /The cart cannot be calculated/, 'origin'],
    [{ ...good, lineItems: [] }, 105, /at least 1 item/, 'lineItems'],
    [{ ...good, transactionDate: 'today' }, 105, /unexpected property/, 'transactionDate'],
    [JSON.stringify(good).replace('"price":1', '"price":1.0000000000000001'), 105, /15 significant digits/, null],
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
  const [own, other] = linesOf([
    { ...sentCart({ origin: NY_PARTS, destination: CA_PARTS }), merchantId: MERCHANT.toUpperCase() },
    { ...good, merchantId: 7 },
  ], { defaults: OF_MERCHANT });
  assert.equal(errorOf(own!).error, undefined);
  assert.match(errorOf(other!).error?.message ?? '', /all rows are of merchant 0b2f/);
});

test('a row is counted as a geocoded lookup, or as an operation of its merchant', () => {
  const cart = sentCart({ origin: NY_PARTS, destination: CA_PARTS });
  const tallyOf = (run: Partial<BulkRun>): readonly unknown[] => {
    const body = Buffer.from(`${JSON.stringify(cart)}\n{}\n`);
    const [tally] = runBulk('ndjson', [body], { ...RUN, ...run }).tallies;
    return [tally?.rows, tally?.codes, tally?.core, tally?.geo, tally?.merchant, tally?.refusal?.line];
  };
  assert.deepEqual(tallyOf({}), [2, { 100: 1, 105: 1 }, 1, 1, 0, 2]);
  assert.deepEqual(tallyOf({ defaults: OF_MERCHANT }), [2, { 100: 1, 105: 1 }, 0, 0, 1, 2]);
  assert.deepEqual(tallyOf({ grants: 0 }), [2, { 107: 2 }, 0, 0, 0, 1]);
  assert.deepEqual(tallyOf({ defaults: OF_MERCHANT, grants: 0 }), [2, { 100: 1, 105: 1 }, 0, 0, 1, 2]);
});

type Table = readonly Readonly<Record<string, string>>[];

function csvTo(text: string | Buffer, run: Partial<BulkRun> = {}): string {
  return runBulk('csv', [Buffer.from(text)], { ...RUN, output: 'csv', ...run }).output.toString('utf8');
}

function tableOf(text: string | Buffer, run: Partial<BulkRun> = {}): Table {
  return Papa.parse<Record<string, string>>(csvTo(text, run).trim(), { header: true }).data;
}

test('a table with semicolons and quotes comes back untouched, with its tax', () => {
  const rows = [
    `"A;1";"1 Main St";Birchton;CA;10002;49.99;2;"a ""b"""`,
    `B;1 Main St;Ashford;NY;10001;100;;`,
    `C;1 Main St;Milford;DE;10004;x;1;`,
  ];
  const header = '"Order";Ship To Street;City;State;Zip Code;Price;Qty;Note';
  const output = csvTo(`\ufeff${header}\r\n${rows.join('\r\n')}`, { defaults: { origin: NY } });
  assert.deepEqual(output.split('\r\n'), [
    `\ufeff${header};${CART_COLUMNS.join(';')}`,
    `${rows[0]};0.0775;7.75;CA;2026-11-21;D;;point;100;`,
    `${rows[1]};0.08875;8.88;NY;2026-11-21;D;;point;100;`,
    `${rows[2]};;;;;;;;105;Parameter price: 0 to 1000000000 with at most 9 decimals, like 49.99.`,
  ]);
});

test('a row in parts is the cart of a merchant, and NDJSON tells it as the endpoint does', () => {
  const header = 'id,origin street,origin city,origin state,origin zip,street,unit,city,state,zip,price,qty,tic,sku,customer,date';
  const row = 'r1,1 Main St,Ashford,NY,10001,1 Main St,Apt 2,Birchton,CA,10002,19.995,1.5,20010,shoe,anna,2026-03-07';
  const [line] = csvTo(`${header}\n${row}\n`, { output: 'ndjson', defaults: { explain: 'true' } }).split('\n');
  assert.deepEqual([errorOf(line!).line, errorOf(line!).id], [2, 'r1']);
  assert.match((JSON.parse(line!) as { cartId: string }).cartId, UUID);
  const cart = {
    customerId: 'anna', currency: {}, origin: NY_PARTS, destination: { ...CA_PARTS, line2: 'Apt 2' },
    lineItems: [{ index: 0, itemId: 'shoe', price: 19.995, quantity: 1.5, tic: 20010 }],
  };
  const single = endpoint({ items: [cart], transactionDate: '2026-03-07T12:00:00Z' }, true, 'explain=true');
  // The endpoint prints the parts in its own order; so do rows.
  assert.equal(cartOf(line!), itemOf(single));
});

test('amounts have two decimals, also of addresses on one line', () => {
  const text = `from,to,amount\n"${NY}","${CA}",10.755\n`;
  const [row] = tableOf(text);
  assert.deepEqual([row?.['situs_tax_rate'], row?.['situs_tax_amount']], ['0.0775', '0.83']);
  const up = tableOf(text, { defaults: { rounding: 'up' } });
  assert.equal(up[0]?.['situs_tax_amount'], '0.84');
  const item = JSON.parse(csvTo(text, { output: 'ndjson' }).split('\n')[0]!) as {
    destination: object; lineItems: { price: number; tax: { amount: number } }[];
  };
  assert.deepEqual(item.destination, { address: CA });
  assert.deepEqual(item.lineItems[0]?.tax, { rate: 0.0775, amount: 0.83 });
});

test('decimals are read from their digits, not through a double', () => {
  const answers = csvTo(`origin,destination,price,quantity\n"${NY}","${CA}",123456789.123456789,0.0001\n`
    + `"${NY}","${CA}",000.1000000000000000000000,99999.9999\n`, { output: 'ndjson' });
  assert.match(answers, /"price":123456789\.123456789,"originalPrice":123456789\.123456789,"quantity":0\.0001/);
  assert.match(answers, /"price":0\.1,"originalPrice":0\.1,"quantity":99999\.9999/);
});

test('each cell at fault is named', () => {
  const cases: readonly (readonly [cells: Readonly<Record<string, string>>, code: string, field: string])[] = [
    ...['', '-1', '1e3', '$5', '1,5', '1.0000000001', '1000000000.1', '.'].map((price) =>
      [{ price }, '105', 'price'] as const),
    ...['-1', 'x', '1.00001', '100000'].map((qty) => [{ qty }, '105', 'quantity'] as const),
    ...['abc', '100001', '1.5'].map((tic) => [{ tic }, '105', 'taxabilityCode'] as const),
    ...['2024-02-30', 'May', '2026-03-07T25:00:00Z'].map((date) => [{ date }, '105', 'transactionDate'] as const),
    [{ sku: 'x'.repeat(51) }, '105', 'itemId'], [{ customer: 'x'.repeat(51) }, '105', 'customerId'],
    [{ destination: '' }, '105', 'destination'], [{ origin: '' }, '105', 'origin'],
    [{ destination: 'x'.repeat(101) }, '105', 'destination'], [{ destination: 'a\u0001b' }, '105', 'destination'],
    [{ destination: 'Nowhere 1' }, '109', 'destination'], [{ origin: 'Nowhere 1' }, '109', 'origin'],
    [{ destination: '', city: 'Ashford', state: 'NY', zip: '10001' }, '105', 'street'],
    [{ destination: '', street: 'x'.repeat(129), city: 'Ashford', state: 'NY', zip: '10001' }, '105', 'street'],
  ];
  const good = { id: 'x', origin: NY, destination: CA, street: '', city: '', state: '', zip: '', price: '5', qty: '1', tic: '', sku: '', customer: '', date: '' };
  const rows = cases.map(([cells]) => ({ ...good, ...cells }));
  const text = Papa.unparse(rows, { newline: '\n' });
  // Without this the destination would be the street, which it is beside a city.
  const run = { map: ['destination:destination', 'street:street'] };
  const table = tableOf(text, run);
  const lines = csvTo(text, { ...run, output: 'ndjson' }).split('\n');
  for (const [index, [cells, code, field]] of cases.entries()) {
    const row = table[index];
    const { error } = errorOf(lines[index]!);
    const told = JSON.stringify(cells);
    assert.deepEqual([row?.['situs_code'], row?.['situs_tax_amount']], [code, ''], told);
    assert.deepEqual([String(error?.code), error?.field, error?.message], [code, field, row?.['situs_message']], told);
  }
});

test('what of an address is there makes a line; a whole one in the street is enough', () => {
  const rows = [
    `1 Main St,,CA,10002,5`, `"${CA}",Birchton,CA,10002,5`, `1 Main St,Birchton,CA,10002-1234,5`,
  ];
  const table = tableOf(`street,city,state,zip,price\n${rows.join('\n')}\n`, { defaults: { origin: NY } });
  assert.deepEqual(table.map((row) => row['situs_code']), ['100', '100', '100']);
  assert.deepEqual(new Set(table.map((row) => row['situs_tax_rate'])).size, 1);
});

test('bytes that are no UTF-8 are refused where they are asked', () => {
  const csv = Buffer.concat([
    Buffer.from('note,destination,price\n'), Buffer.from([0xe4]), Buffer.from(`,"${CA}",5\nx,`),
    Buffer.from([0xe4]), Buffer.from(',5\n'),
  ]);
  const { output } = runBulk('csv', [csv], { ...RUN, output: 'csv', defaults: { origin: NY } });
  const lines = output.toString('latin1').split('\n');
  assert.match(lines[1] ?? '', /,100,$/);
  assert.match(lines[2] ?? '', /,105,.*Parameter destination: not valid UTF-8/);
});

test('columns are known by obvious names, and a file that lacks some is refused', () => {
  const terms = columnTermsOf('cart', {});
  assert.deepEqual(mapColumns(['Ship From', 'Ship To', 'Unit Price', 'Qty'], [], terms),
    { origin: 0, destination: 1, price: 2, quantity: 3 });
  assert.deepEqual(mapColumns(['Address', 'City', 'Origin Address', 'Origin ZIP', 'amount'], [], terms),
    { street: 0, city: 1, originStreet: 2, originZip: 3, price: 4 });
  assert.deepEqual(mapColumns(['a', 'b', 'c'], ['origin:a', 'destination:#2', 'price:c'], terms),
    { origin: 0, destination: 1, price: 2 });
  for (const [headers, problem] of [
    [['origin', 'destination'], /hold a price/], [['origin', 'price', 'zip'], /hold the destination/],
    [['destination', 'price'], /hold the origin/],
  ] as const) {
    const found = mapColumns(headers, [], terms);
    assert.match('problem' in found ? found.problem : '', problem);
  }
  assert.ok(!('problem' in mapColumns(['destination', 'price'], [], columnTermsOf('cart', { origin: NY }))));
  const lat = mapColumns(['lat'], ['lat:lat'], terms);
  assert.match('problem' in lat ? lat.problem : '', /no role "lat"; roles: destination/);
});

test('as many rows out as in, whatever the rows and the cuts', () => {
  const random = seeded(12);
  for (let index = 0; index < 300; index += 1) {
    const rows = Array.from({ length: below(random, 12) }, (_, id) => (random() < 0.3
      ? oneOf(random, ['', '{', '[]', '{"items":3}', '{"items":[null]}', 'null', '{"lineItems":[1]}'])
      : JSON.stringify({ id, ...randomCart(random, random() < 0.5) })));
    const body = Buffer.from(rows.map((row) => `${row}\n`).join(''));
    const defaults = random() < 0.5 ? OF_MERCHANT : {};
    const first = runBulk('ndjson', cut(random, body), { ...RUN, defaults, rowsPerChunk: 1 + below(random, 5) });
    const again = runBulk('ndjson', [body], { ...RUN, defaults });
    assert.ok(first.output.equals(again.output));
    const lines = first.output.toString('utf8').split('\n').slice(0, -1);
    assert.deepEqual(lines.map((line) => errorOf(line).line), rows.map((_, at) => at + 1));
  }
  for (let index = 0; index < 300; index += 1) {
    const count = below(random, 12);
    const rows = Array.from({ length: count }, (_, id) => (random() < 0.15
      ? oneOf(random, ['"a"b', '5" pipe', '1,2,3,4,5,6'])
      : Papa.unparse([[`r${id}`, oneOf(random, [NY, CA, 'x', '', 'a\nb']), oneOf(random, ['5', '', '1.5', 'x'])]])));
    const body = Buffer.from(`id,destination,price\n${rows.map((row) => `${row}\n`).join('')}`);
    for (const output of ['csv', 'ndjson'] as const) {
      const run: BulkRun = { ...RUN, output, defaults: { origin: NY } };
      const first = runBulk('csv', cut(random, body), { ...run, rowsPerChunk: 1 + below(random, 5) });
      assert.ok(first.output.equals(runBulk('csv', [body], run).output));
      const lines = first.output.toString('utf8');
      const found = output === 'ndjson' ? lines.split('\n').length - 1
        : Papa.parse<string[]>(lines, { delimiter: ',', newline: '\n' }).data.length - 2;
      assert.equal(found, count, `${index}: ${lines}`);
    }
  }
});
