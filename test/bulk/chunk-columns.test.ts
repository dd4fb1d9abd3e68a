/** Rows of CSV in a worker: what is written beside each, and rows that are none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Papa from 'papaparse';
import { seeded } from '../../bench/case/case.js';
import { runBulk } from '../support/bulk-bodies.js';
import { ask } from '../lookup/ask.js';
import {
  bodyOf,
  DOOR,
  type ErrorLine,
  queryOf,
  randomRow,
  RUN,
  tableOf,
  VALUES,
} from './chunk-rows.js';

interface Body {
  readonly taxSummaries?: readonly { readonly rate: number }[];
  readonly baseRates?: readonly { readonly rate: number; readonly jurType: string }[];
  readonly addressDetail?: {
    readonly normalizedAddress: string;
    readonly geoLat: number;
    readonly geoLng: number;
  };
  readonly service?: { readonly taxable: string };
  readonly shipping?: { readonly taxable: string };
  readonly sourcingRules?: { readonly value: string };
  readonly metadata?: { readonly response: { readonly code: number; readonly message: string } };
}

function levelSum(body: Body, level: string): number {
  return (
    (body.baseRates ?? [])
      .filter(({ jurType }) => jurType === `US_${level}_SALES_TAX`)
      .reduce((sum, { rate }) => sum + Math.round(rate * 1e9), 0) / 1e9
  );
}

test('columns say what the body of a single lookup says', () => {
  const random = seeded(4);
  const names = VALUES.map(([name]) => name).filter(
    (name) =>
      !['addressDetailExtended', 'shippingExtended', 'unheard', 'state', 'city', 'county'].includes(
        name,
      ),
  );
  const rows = Array.from({ length: 1_500 }, () => randomRow(random));
  const header = names.map((name) => (name === 'postalcode' ? 'zip' : name));
  const cells = rows.map((row) => names.map((name) => String(row[name] ?? '').trim()));
  const csv = Papa.unparse([header, ...cells], { newline: '\n' });
  // Without this a column "address" beside a ZIP would be the street alone.
  const table = tableOf(csv, { map: ['address:address', 'street:'] });
  assert.equal(table.length, rows.length);
  let answered = 0;
  table.forEach((row, index) => {
    const query = Object.fromEntries(
      names
        .map((name, column): [string, string] => [name, cells[index]![column]!])
        .filter(([, value]) => value !== ''),
    );
    const { postalcode, ...rest } = query;
    const located =
      rest['address'] !== undefined || (rest['lat'] !== undefined && rest['lng'] !== undefined);
    const asked =
      located || postalcode === undefined
        ? rest
        : {
            ...rest,
            postalcode: /^\d{3,4}$/.test(postalcode) ? postalcode.padStart(5, '0') : postalcode,
          };
    const single = ask(60, queryOf(asked));
    const body = JSON.parse(single.text) as Body;
    if (single.code === 100 && body.metadata === undefined) return;
    assert.equal(row['situs_code'], String(single.code), JSON.stringify(asked));
    if (single.code !== 100) {
      assert.equal(row['situs_message'], body.metadata?.response.message);
      assert.equal(row['situs_rate'], '');
      return;
    }
    answered += 1;
    assert.equal(Number(row['situs_rate']), body.taxSummaries?.[0]?.rate);
    assert.equal(row['situs_address'], body.addressDetail?.normalizedAddress);
    if (row['situs_lat'] !== '') assert.equal(Number(row['situs_lat']), body.addressDetail?.geoLat);
    assert.equal(row['situs_freight_taxable'], body.shipping?.taxable);
    assert.equal(row['situs_service_taxable'], body.service?.taxable);
    assert.equal(row['situs_sourcing'], body.sourcingRules?.value);
    if (body.baseRates?.some(({ jurType }) => !jurType.startsWith('US_')) === true) return;
    assert.equal(Number(row['situs_use_rate']), body.taxSummaries?.[1]?.rate);
    for (const level of ['STATE', 'COUNTY', 'CITY', 'DISTRICT']) {
      assert.equal(Number(row[`situs_${level.toLowerCase()}_rate`]), levelSum(body, level));
    }
  });
  assert.ok(answered > 200, `${answered} rows were answered`);
});

test('CSV to lines gives the body of a single lookup and echoes the id', () => {
  const csv = `id;address\na;${DOOR}\n;x\n"b ""c""";"${DOOR}"\n`;
  const { output } = runBulk('csv', [Buffer.from(csv)], { ...RUN, output: 'ndjson' });
  const lines = output.toString('utf8').split('\n').slice(0, -1);
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as ErrorLine).id),
    ['a', null, 'b "c"'],
  );
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as ErrorLine).line),
    [2, 3, 4],
  );
  assert.equal(bodyOf(lines[0]!), ask(60, queryOf({ address: DOOR })).text);
  assert.equal(bodyOf(lines[1]!), ask(60, 'address=x').text);
});

test('a ZIP has columns where all its areas are taxed alike', () => {
  const [alike, apart] = tableOf('zip\n97005\n97001\n');
  assert.deepEqual([alike?.['situs_code'], alike?.['situs_precision']], ['100', 'postal']);
  assert.ok(Number(alike?.['situs_rate']) > 0);
  assert.deepEqual([apart?.['situs_code'], apart?.['situs_rate']], ['109', '']);
  assert.match(apart?.['situs_message'] ?? '', /different rates/);
});

test('a row that is no row of its table is one cell of one', () => {
  const rows = ['"a"b,c', `1,2,3`, '"never closed'];
  const table = tableOf(`id,address\n${rows.join('\n')}\n`);
  assert.deepEqual(
    table.map((row) => row['id']),
    rows,
  );
  assert.deepEqual(
    table.map((row) => row['situs_code']),
    ['105', '105', '105'],
  );
  assert.match(table[1]?.['situs_message'] ?? '', /3 columns, the header 2/);
  const long = tableOf(`id,address\n${'x'.repeat(70_000)}\n1,${'y'}\n`);
  assert.deepEqual(
    long.map((row) => row['id']),
    ['', '1'],
  );
  assert.match(long[0]?.['situs_message'] ?? '', /longer than a row may be/);
});

test('a cell that is no UTF-8 is refused where it is asked, and comes back as it was', () => {
  const csv = Buffer.concat([
    Buffer.from('note,address\n'),
    Buffer.from([0xe4]),
    Buffer.from(`,"${DOOR}"\nx,`),
    Buffer.from([0xe4]),
    Buffer.from('\n'),
  ]);
  const { output } = runBulk('csv', [csv], { ...RUN, output: 'csv' });
  const start = csv.indexOf('\n') + 1;
  assert.ok(output.includes(csv.subarray(start, csv.indexOf('\n', start))));
  const lines = output.toString('latin1').split('\n');
  assert.match(lines[1] ?? '', /,100,$/);
  assert.match(lines[2] ?? '', /,105,.*Parameter address: not valid UTF-8/);
});
