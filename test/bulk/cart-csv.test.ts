/** Carts as rows of a table: what is read of the cells, and the columns they get. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { test } from 'node:test';
import Papa from 'papaparse';
import { seeded } from '../../bench/case/case.js';
import { CART_COLUMNS } from '../../src/bulk/row/columns.js';
import { columnRulesOf, mapColumns } from '../../src/bulk/row/mapping.js';
import { GRANT_ALL, GRANT_PRODUCT } from '../../src/pool/types.js';
import { below, cut, oneOf, runBulk, type BulkRun } from '../support/bulk-bodies.js';
import {
  CA,
  CA_PARTS,
  cartOf,
  endpoint,
  errorOf,
  itemOf,
  NY,
  NY_PARTS,
  RUN,
  UUID,
} from '../support/bulk-carts.js';

type Table = readonly Readonly<Record<string, string>>[];

function csvTo(text: string | Buffer, run: Partial<BulkRun> = {}): string {
  return runBulk('csv', [Buffer.from(text)], { ...RUN, output: 'csv', ...run }).output.toString(
    'utf8',
  );
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
  const header =
    'id,origin street,origin city,origin state,origin zip,street,unit,city,state,zip,price,qty,tic,sku,customer,date';
  const row =
    'r1,1 Main St,Ashford,NY,10001,1 Main St,Apt 2,Birchton,CA,10002,19.995,1.5,20010,shoe,anna,2026-03-07';
  const [line] = csvTo(`${header}\n${row}\n`, {
    output: 'ndjson',
    defaults: { explain: 'true' },
  }).split('\n');
  assert.deepEqual([errorOf(line!).line, errorOf(line!).id], [2, 'r1']);
  assert.match((JSON.parse(line!) as { cartId: string }).cartId, UUID);
  const cart = {
    customerId: 'anna',
    currency: {},
    origin: NY_PARTS,
    destination: { ...CA_PARTS, line2: 'Apt 2' },
    lineItems: [{ index: 0, itemId: 'shoe', price: 19.995, quantity: 1.5, tic: 20010 }],
  };
  const single = endpoint(
    { items: [cart], transactionDate: '2026-03-07T12:00:00Z' },
    true,
    'explain=true',
  );
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
    destination: object;
    lineItems: { price: number; tax: { amount: number } }[];
  };
  assert.deepEqual(item.destination, { address: CA });
  assert.deepEqual(item.lineItems[0]?.tax, { rate: 0.0775, amount: 0.83 });
});

test('decimals are read from their digits, not through a double', () => {
  const answers = csvTo(
    `origin,destination,price,quantity\n"${NY}","${CA}",123456789.123456789,0.0001\n` +
      `"${NY}","${CA}",000.1000000000000000000000,99999.9999\n"${NY}","${CA}",.0000001,1\n`,
    { output: 'ndjson' },
  );
  assert.match(
    answers,
    /"price":123456789\.123456789,"originalPrice":123456789\.123456789,"quantity":0\.0001/,
  );
  assert.match(answers, /"price":0\.1,"originalPrice":0\.1,"quantity":99999\.9999/);
  assert.match(answers, /"price":0\.0000001,"originalPrice":0\.0000001,"quantity":1,/);
});

type Fault = readonly [cells: Readonly<Record<string, string>>, code: string, field: string];

// biome-ignore format: faults of one field stand in a row
const FAULTS: readonly Fault[] = [
  ...['', '-1', '1e3', '$5', '1,5', '1.0000000001', '1000000000.1', '.'].map((price) =>
    [{ price }, '105', 'price'] as const),
  ...['-1', 'x', '1.00001', '100000'].map((qty) => [{ qty }, '105', 'quantity'] as const),
  ...['abc', '100001', '1.5'].map((tic) => [{ tic }, '105', 'taxabilityCode'] as const),
  [{ tic: '12345' }, '110', 'taxabilityCode'],
  ...['2024-02-30', 'May', '2026-03-07T25:00:00Z'].map((date) => [{ date }, '105', 'transactionDate'] as const),
  [{ sku: 'x'.repeat(51) }, '105', 'itemId'], [{ customer: 'x'.repeat(51) }, '105', 'customerId'],
  [{ destination: '' }, '105', 'destination'], [{ origin: '' }, '105', 'origin'],
  [{ destination: 'x'.repeat(101) }, '105', 'destination'], [{ destination: 'a\u0001b' }, '105', 'destination'],
  [{ destination: 'Nowhere 1' }, '109', 'destination'], [{ origin: 'Nowhere 1' }, '109', 'origin'],
  [{ destination: '', city: 'Ashford', state: 'NY', zip: '10001' }, '105', 'street'],
  [{ destination: '', street: 'x'.repeat(129), city: 'Ashford', state: 'NY', zip: '10001' }, '105', 'street'],
];

// biome-ignore format: a row of the file
const GOOD = { id: 'x', origin: NY, destination: CA, street: '', city: '', state: '', zip: '', price: '5', qty: '1', tic: '', sku: '', customer: '', date: '' };

test('each cell at fault is named', () => {
  const rows = FAULTS.map(([cells]) => ({ ...GOOD, ...cells }));
  const text = Papa.unparse(rows, { newline: '\n' });
  // Without this the destination would be the street, which it is beside a city.
  const run = { map: ['destination:destination', 'street:street'] };
  const table = tableOf(text, run);
  const lines = csvTo(text, { ...run, output: 'ndjson' }).split('\n');
  for (const [index, [cells, code, field]] of FAULTS.entries()) {
    const row = table[index];
    const { error } = errorOf(lines[index]!);
    const told = JSON.stringify(cells);
    assert.deepEqual([row?.['situs_code'], row?.['situs_tax_amount']], [code, ''], told);
    assert.deepEqual(
      [String(error?.code), error?.field, error?.message],
      [code, field, row?.['situs_message']],
      told,
    );
  }
});

test('a product code without the entitlement names its cell', () => {
  const text = Papa.unparse([{ ...GOOD, tic: '20010' }], { newline: '\n' });
  const run = { output: 'ndjson', grants: GRANT_ALL & ~GRANT_PRODUCT } as const;
  const { error } = errorOf(csvTo(text, run).split('\n')[0]!);
  assert.deepEqual([error?.code, error?.field], [113, 'taxabilityCode']);
});

test('what of an address is there makes a line; a whole one in the street is enough', () => {
  const rows = [
    `1 Main St,,CA,10002,5`,
    `"${CA}",Birchton,CA,10002,5`,
    `1 Main St,Birchton,CA,10002-1234,5`,
  ];
  const table = tableOf(`street,city,state,zip,price\n${rows.join('\n')}\n`, {
    defaults: { origin: NY },
  });
  assert.deepEqual(
    table.map((row) => row['situs_code']),
    ['100', '100', '100'],
  );
  assert.deepEqual(new Set(table.map((row) => row['situs_tax_rate'])).size, 1);
});

test('bytes that are no UTF-8 are refused where they are asked', () => {
  const csv = Buffer.concat([
    Buffer.from('note,destination,price\n'),
    Buffer.from([0xe4]),
    Buffer.from(`,"${CA}",5\nx,`),
    Buffer.from([0xe4]),
    Buffer.from(',5\n'),
  ]);
  const { output } = runBulk('csv', [csv], { ...RUN, output: 'csv', defaults: { origin: NY } });
  const lines = output.toString('latin1').split('\n');
  assert.match(lines[1] ?? '', /,100,$/);
  assert.match(lines[2] ?? '', /,105,.*Parameter destination: not valid UTF-8/);
});

test('where the goods go is not mixed with another address, and a price is of one unit', () => {
  const columns = (...headers: readonly string[]): unknown => {
    const found = mapColumns([...headers, 'origin'], [], columnRulesOf('cart', {}));
    assert.ok(!isProblem(found));
    const { origin: _origin, ...roles } = found;
    return Object.fromEntries(Object.entries(roles).map(([role, at]) => [role, headers[at]]));
  };
  const bill = ['street', 'city', 'state', 'zip'];
  const ship = bill.map((name) => `shipping ${name}`);
  const shipped = {
    ...Object.fromEntries(bill.map((name, at) => [name, ship[at]])),
    price: 'price',
  };
  for (const others of [bill, bill.slice(1), ['address'], ['address', ...bill.slice(1)], []]) {
    assert.deepEqual(columns(...others, ...ship, 'price'), shipped, others.join());
    assert.deepEqual(columns(...ship, ...others, 'price'), shipped, others.join());
  }
  assert.deepEqual(columns(...bill, 'shipping street', 'shipping zip', 'price'), {
    street: 'shipping street',
    zip: 'shipping zip',
    price: 'price',
  });
  const oneLine = { destination: 'ship to', price: 'price' };
  assert.deepEqual(columns('address', 'ship to', 'price'), oneLine);
  const parts = { street: 'address', city: 'city', zip: 'zip' };
  assert.deepEqual(columns('address', 'city', 'zip', 'ship to', 'price'), { ...parts, ...oneLine });
  assert.deepEqual(columns('ship to', 'city', 'zip', 'price'), {
    ...parts,
    street: 'ship to',
    price: 'price',
  });
  assert.deepEqual(columns('shipping street', 'city', 'state', 'price'), {
    street: 'shipping street',
    city: 'city',
    state: 'state',
    price: 'price',
  });
  for (const [first, last] of [
    ['amount', 'unit price'],
    ['price', 'item price'],
    ['amount', 'price'],
  ] as const) {
    assert.deepEqual(columns('to', first, last), { destination: 'to', price: last });
  }
});

test('columns are known by obvious names, and a file that lacks some is refused', () => {
  const rules = columnRulesOf('cart', {});
  assert.deepEqual(mapColumns(['Ship From', 'Ship To', 'Unit Price', 'Qty'], [], rules), {
    origin: 0,
    destination: 1,
    price: 2,
    quantity: 3,
  });
  assert.deepEqual(
    mapColumns(['Address', 'City', 'Origin Address', 'Origin ZIP', 'amount'], [], rules),
    { street: 0, city: 1, originStreet: 2, originZip: 3, price: 4 },
  );
  assert.deepEqual(mapColumns(['a', 'b', 'c'], ['origin:a', 'destination:#2', 'price:c'], rules), {
    origin: 0,
    destination: 1,
    price: 2,
  });
  for (const [headers, problem] of [
    [['origin', 'destination'], /hold a price/],
    [['origin', 'price', 'zip'], /hold the destination/],
    [['destination', 'price'], /hold the origin/],
  ] as const) {
    const found = mapColumns(headers, [], rules);
    assert.match(isProblem(found) ? found.detail : '', problem);
  }
  assert.ok(
    !isProblem(mapColumns(['destination', 'price'], [], columnRulesOf('cart', { origin: NY }))),
  );
  const lat = mapColumns(['lat'], ['lat:lat'], rules);
  assert.match(isProblem(lat) ? lat.detail : '', /no role "lat"; roles: destination/);
});

test('as many rows out as in, whatever the rows and the cuts', () => {
  const random = seeded(13);
  for (let index = 0; index < 300; index += 1) {
    const count = below(random, 12);
    const rows = Array.from({ length: count }, (_, id) =>
      random() < 0.15
        ? oneOf(random, ['"a"b', '5" pipe', '1,2,3,4,5,6'])
        : Papa.unparse([
            [
              `r${id}`,
              oneOf(random, [NY, CA, 'x', '', 'a\nb']),
              oneOf(random, ['5', '', '1.5', 'x']),
            ],
          ]),
    );
    const body = Buffer.from(`id,destination,price\n${rows.map((row) => `${row}\n`).join('')}`);
    for (const output of ['csv', 'ndjson'] as const) {
      const run: BulkRun = { ...RUN, output, defaults: { origin: NY } };
      const first = runBulk('csv', cut(random, body), {
        ...run,
        rowsPerChunk: 1 + below(random, 5),
      });
      assert.ok(first.output.equals(runBulk('csv', [body], run).output));
      const lines = first.output.toString('utf8');
      const found =
        output === 'ndjson'
          ? lines.split('\n').length - 1
          : Papa.parse<string[]>(lines, { delimiter: ',', newline: '\n' }).data.length - 2;
      assert.equal(found, count, `${index}: ${lines}`);
    }
  }
});
