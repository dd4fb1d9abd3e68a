/** Rows in a worker: each is answered as a single lookup would be, whatever its neighbours are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Papa from 'papaparse';
import { seeded } from '../../bench/case/case.js';
import { GRANT_GEO } from '../../src/pool/types.js';
import { APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import { ID_CHARS_MAX } from '../../src/bulk/row/row-limits.js';
import { openWire } from '../../src/api/lookup/context.js';
import { below, oneOf, runBulk, type BulkRun } from '../support/bulk-bodies.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';
import { ask, BASE_URL } from '../lookup/ask.js';

const DATASET = memoryDataset();
const RUN: Omit<BulkRun, 'output'> = { dataset: DATASET, nowMs: NOW_MS };
const DOOR = '200 Spindle Center Dr, Brookmere, QZ 97001';

type Row = Readonly<Record<string, string | number | boolean>>;

function queryOf(row: Row): string {
  return new URLSearchParams(Object.entries(row).map(([name, value]): [string, string] => [name, String(value)]))
    .toString();
}

/** Lines of NDJSON output. */
function linesOf(rows: readonly (Row | string)[], run: Partial<BulkRun> = {}): readonly string[] {
  const body = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const { output } = runBulk('ndjson', [Buffer.from(`${body}\n`)], { ...RUN, output: 'ndjson', ...run });
  return output.toString('utf8').split('\n').slice(0, -1);
}

/** The body of a single lookup, from a line. */
function bodyOf(line: string): string {
  const found = /^\{"line":\d+,"id":(?:null|-?\d+|"(?:[^"\\]|\\.)*")(?:,"error":\{"code":\d+,"message":"(?:[^"\\]|\\.)*","field":(?:null|"\w+")\})?,/
    .exec(line);
  assert.ok(found !== null, line);
  return `{${line.slice(found[0].length)}`;
}

const VALUES: readonly (readonly [name: string, values: readonly (string | number | boolean)[]])[] = [
  ['address', [DOOR, '12 Spindle Center Dr, Brookmere, QZ', 'Nowhere 1', '', 'x'.repeat(101), '\u0001']],
  ['lat', [10.5, '10.25', 91, '', '1e1', ' 10.5']],
  ['lng', [0.5, '3.5', 5.5, 'x', -0.0000001, '+8.5']],
  ['postalcode', ['97001', 97002, '97005', '00000', '9700', '']],
  ['state', ['QZ', 'Nowhere', '1']],
  ['city', ['Brookmere', '', '77']],
  ['county', ['x', 'y'.repeat(51)]],
  ['historical', ['202106', '2021', 202201, '299901']],
  ['countryCode', ['USA', 'CAN', 'PRI', 'XXX']],
  ['taxabilityCode', ['20010', 'x1', '-']],
  ['adjustment', ['auto', 'origin', 'none']],
  ['addressDetailExtended', [true, false, 'TRUE', 'maybe']],
  ['shippingExtended', [true, 'false']],
  ['sat_item_total', [12.5, '-1']],
  ['unheard', ['of']],
];

function randomRow(random: () => number): Row {
  const row: Record<string, string | number | boolean> = {};
  for (const [name, values] of VALUES) {
    const often = ['address', 'lat', 'lng', 'postalcode'].includes(name) ? 0.5 : 0.12;
    if (random() < often) row[name] = oneOf(random, values);
  }
  return row;
}

test('a line holds the body of a single lookup, byte for byte', () => {
  const random = seeded(9);
  const rows = Array.from({ length: 3_000 }, () => randomRow(random));
  const codes = new Set<number>();
  linesOf(rows).forEach((line, index) => {
    const row = rows[index]!;
    const single = ask(60, queryOf(row));
    assert.equal(bodyOf(line), single.text, JSON.stringify(row));
    codes.add(single.code);
    const { error } = JSON.parse(line) as { error?: { code: number; message: string } };
    assert.equal(error?.code, single.code === 100 ? undefined : single.code);
  });
  assert.deepEqual([...codes].sort(), [100, 102, 103, 104, 105, 109, 110, 111]);
});

test('entitlements are those of the key', () => {
  const rows = [{ address: DOOR }, { address: DOOR, historical: '202106' }, { lat: 10.5, lng: 6.5, countryCode: 'CAN' }, { address: DOOR, taxabilityCode: '20010' }];
  for (const grants of [GRANT_GEO, 0]) {
    linesOf(rows, { grants }).forEach((line, index) => {
      assert.equal(bodyOf(line), ask(60, queryOf(rows[index]!), { grants }).text);
    });
  }
});

interface ErrorLine {
  readonly line: number;
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly field: string | null };
}

test('a bad line is an error of its own and says where', () => {
  const cases: readonly (readonly [row: Row | string, message: RegExp, field: string | null, id?: unknown])[] = [
    ['', /The line is empty\.$/, null],
    ['{', /not valid JSON/, null],
    ['[1]', /no JSON object/, null],
    ['{"id":{},"postalcode":"97001"}', /Parameter id: up to 255/, 'id'],
    [{ id: 'x'.repeat(ID_CHARS_MAX + 1) }, /Parameter id: up to 255/, 'id'],
    ['{"id":12345678901234567890}', /Parameter id: up to 255/, 'id'],
    ['{"id":7,"address":["x"]}', /Parameter address: text, a number/, 'address', 7],
    [{ id: 'a', lat: 91, lng: 0 }, /Parameter lat:/, 'lat', 'a'],
    [{ id: -1, postalcode: 'x' }, /Parameter postalcode:/, 'postalcode', -1],
    [{ postalcode: '97001', historical: 'x' }, /Parameter historical:/, 'historical'],
    [{ address: DOOR, countryCode: 'x' }, /Parameter countryCode:/, 'countryCode'],
    [{ postalcode: '97001', stateCode: 'qz' }, /Parameter stateCode:/, 'stateCode'],
    [{ address: 'x' }, /missing, incomplete, or not a valid address/, 'address'],
  ];
  const lines = linesOf([{ id: 0, address: DOOR }, ...cases.map(([row]) => row), { id: 1, address: DOOR }]);
  assert.equal(lines.length, cases.length + 2);
  cases.forEach(([, message, field, id = null], index) => {
    const { line, id: echoed, error } = JSON.parse(lines[index + 1]!) as ErrorLine;
    assert.deepEqual([line, echoed, error.field], [index + 2, id, field]);
    assert.match(error.message, message);
  });
  const whole = ask(60, queryOf({ address: DOOR })).text;
  assert.deepEqual([bodyOf(lines[0]!), bodyOf(lines.at(-1)!)], [whole, whole]);
});

test('bytes that are no UTF-8 spoil their line alone', () => {
  const good = JSON.stringify({ id: 'ü', postalcode: '97001' });
  const body = Buffer.concat([Buffer.from(`${good}\n{"address":"`), Buffer.from([0xe4]), Buffer.from(`"}\n${good}\n`)]);
  const { output } = runBulk('ndjson', [body], { ...RUN, output: 'ndjson' });
  const [first = '', second = '', third = ''] = output.toString('utf8').split('\n');
  assert.equal(bodyOf(first), ask(60, 'postalcode=97001').text);
  assert.match((JSON.parse(second) as ErrorLine).error.message, /not valid UTF-8/);
  assert.equal(third.replace('"line":3', '"line":1'), first);
});

type Table = readonly Readonly<Record<string, string>>[];

/** The output of a CSV file, by column. */
function tableOf(text: string | Buffer, run: Partial<BulkRun> = {}): Table {
  const { output } = runBulk('csv', [Buffer.from(text)], { ...RUN, output: 'csv', ...run });
  return Papa.parse<Record<string, string>>(output.toString('utf8').trim(), { header: true }).data;
}

interface Body {
  readonly taxSummaries?: readonly { readonly rate: number }[];
  readonly baseRates?: readonly { readonly rate: number; readonly jurType: string }[];
  readonly addressDetail?: { readonly normalizedAddress: string; readonly geoLat: number; readonly geoLng: number };
  readonly service?: { readonly taxable: string };
  readonly shipping?: { readonly taxable: string };
  readonly sourcingRules?: { readonly value: string };
  readonly metadata?: { readonly response: { readonly code: number; readonly message: string } };
}

function levelSum(body: Body, level: string): number {
  return (body.baseRates ?? []).filter(({ jurType }) => jurType === `US_${level}_SALES_TAX`)
    .reduce((sum, { rate }) => sum + Math.round(rate * 1e9), 0) / 1e9;
}

test('columns say what the body of a single lookup says', () => {
  const random = seeded(4);
  const names = VALUES.map(([name]) => name).filter((name) =>
    !['addressDetailExtended', 'shippingExtended', 'unheard', 'state', 'city', 'county'].includes(name));
  const rows = Array.from({ length: 1_500 }, () => randomRow(random));
  const header = names.map((name) => (name === 'postalcode' ? 'zip' : name));
  const cells = rows.map((row) => names.map((name) => String(row[name] ?? '').trim()));
  const csv = Papa.unparse([header, ...cells], { newline: '\n' });
  // Without this a column "address" beside a ZIP would be the street alone.
  const table = tableOf(csv, { map: ['address:address', 'street:'] });
  assert.equal(table.length, rows.length);
  let answered = 0;
  table.forEach((row, index) => {
    const query = Object.fromEntries(names
      .map((name, column): [string, string] => [name, cells[index]![column]!])
      .filter(([, value]) => value !== ''));
    const { postalcode, ...rest } = query;
    const located = rest['address'] !== undefined
      || (rest['lat'] !== undefined && rest['lng'] !== undefined);
    const asked = located || postalcode === undefined ? rest
      : { ...rest, postalcode: /^\d{3,4}$/.test(postalcode) ? postalcode.padStart(5, '0') : postalcode };
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
  assert.deepEqual(lines.map((line) => (JSON.parse(line) as ErrorLine).id), ['a', null, 'b "c"']);
  assert.deepEqual(lines.map((line) => (JSON.parse(line) as ErrorLine).line), [2, 3, 4]);
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
  assert.deepEqual(table.map((row) => row['id']), rows);
  assert.deepEqual(table.map((row) => row['situs_code']), ['105', '105', '105']);
  assert.match(table[1]?.['situs_message'] ?? '', /3 columns, the header 2/);
  const long = tableOf(`id,address\n${'x'.repeat(70_000)}\n1,${'y'}\n`);
  assert.deepEqual(long.map((row) => row['id']), ['', '1']);
  assert.match(long[0]?.['situs_message'] ?? '', /longer than a row may be/);
});

test('a cell that is no UTF-8 is refused where it is asked, and comes back as it was', () => {
  const csv = Buffer.concat([
    Buffer.from('note,address\n'), Buffer.from([0xe4]), Buffer.from(`,"${DOOR}"\nx,`),
    Buffer.from([0xe4]), Buffer.from('\n'),
  ]);
  const { output } = runBulk('csv', [csv], { ...RUN, output: 'csv' });
  const start = csv.indexOf('\n') + 1;
  assert.ok(output.includes(csv.subarray(start, csv.indexOf('\n', start))));
  const lines = output.toString('latin1').split('\n');
  assert.match(lines[1] ?? '', /,100,$/);
  assert.match(lines[2] ?? '', /,105,.*Parameter address: not valid UTF-8/);
});

test('defaults hold where a row says nothing', () => {
  const defaults = { historical: '202106', shippingExtended: 'true' };
  const rows = [{ address: DOOR }, { address: DOOR, historical: '202201', shippingExtended: false }];
  const lines = linesOf(rows, { defaults });
  assert.equal(bodyOf(lines[0]!), ask(60, queryOf({ ...defaults, address: DOOR })).text);
  assert.equal(bodyOf(lines[1]!), ask(60, queryOf(rows[1]!)).text);
});

test('a fault in one row is reported and answered with 106', () => {
  const faults: unknown[] = [];
  const context = openWire({ baseUrl: BASE_URL, report: (error) => faults.push(error) });
  const dataset = memoryDataset();
  const broken = { ...dataset, id: 'broken', zip: () => { throw new Error('torn page'); } };
  const run = { dataset: { ...broken, area: dataset.area, component: dataset.component, source: dataset.source, states: dataset.states, state: dataset.state, city: dataset.city, document: dataset.document, hasLayer: dataset.hasLayer, cells: dataset.cells, streets: dataset.streets, close: dataset.close }, context };
  const lines = linesOf([{ postalcode: '97001' }, { lat: 10.5, lng: 0.5 }], run);
  assert.equal((JSON.parse(lines[0]!) as ErrorLine).error.code, 106);
  assert.equal((JSON.parse(lines[1]!) as Partial<ErrorLine>).error, undefined);
  const [row] = tableOf('zip\n97001\n', run);
  assert.equal(row?.['situs_code'], '106');
  assert.equal(faults.length, 2);
});

test('tallies count codes, lookups and geocoded ones, and name the first refusal', () => {
  const { tallies } = runBulk('ndjson', [Buffer.from([
    { postalcode: '97001' }, { address: DOOR }, { address: 'x' }, { lat: 10.5, lng: 0.5 }, { postalcode: 'x' },
  ].map((row) => `${JSON.stringify(row)}\n`).join(''))], { ...RUN, output: 'ndjson' });
  const [tally] = tallies;
  assert.deepEqual(tally?.codes, { 100: 3, 104: 1, 109: 1 });
  assert.deepEqual([tally?.rows, tally?.core, tally?.geo, tally?.merchant], [5, 3, 2, 0]);
  assert.deepEqual([tally?.refusal?.line, tally?.refusal?.code, tally?.refusal?.field], [3, 109, 'address']);
});

test('the appended columns are told by name, each once', () => {
  assert.equal(new Set(APPENDED_COLUMNS).size, APPENDED_COLUMNS.length);
  assert.ok(APPENDED_COLUMNS.every((name) => name.startsWith('situs_')));
  assert.equal(below(() => 0.999, 3), 2);
});
