/** Rows in a worker: each is answered as a single lookup would be, whatever its neighbours are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../bench/case/case.js';
import { GRANT_GEO } from '../../src/pool/types.js';
import { APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import { ID_CHARS_MAX } from '../../src/bulk/row/record-form.js';
import { openWire } from '../../src/api/lookup/context.js';
import { below, runBulk } from '../support/bulk-bodies.js';
import { memoryDataset } from '../support/memory-dataset.js';
import { ask, BASE_URL } from '../lookup/ask.js';
import {
  bodyOf,
  DOOR,
  type ErrorLine,
  linesOf,
  queryOf,
  randomRow,
  type Row,
  RUN,
  tableOf,
} from './chunk-rows.js';

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
  const rows = [
    { address: DOOR },
    { address: DOOR, historical: '202106' },
    { lat: 10.5, lng: 6.5, countryCode: 'CAN' },
    { address: DOOR, taxabilityCode: '20010' },
  ];
  for (const grants of [GRANT_GEO, 0]) {
    linesOf(rows, { grants }).forEach((line, index) => {
      assert.equal(bodyOf(line), ask(60, queryOf(rows[index]!), { grants }).text);
    });
  }
});

test('a bad line is an error of its own and says where', () => {
  const cases: readonly (readonly [
    row: Row | string,
    message: RegExp,
    field: string | null,
    id?: unknown,
  ])[] = [
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
    [{ postalcode: '97001', explain: 1 }, /and explain: true or false/, 'explain'],
    [{ address: DOOR, shippingExtended: 'x' }, /true or false/, 'shippingExtended'],
    [{ address: 'x' }, /missing, incomplete, or not a valid address/, 'address'],
  ];
  const lines = linesOf([
    { id: 0, address: DOOR },
    ...cases.map(([row]) => row),
    { id: 1, address: DOOR },
  ]);
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
  const body = Buffer.concat([
    Buffer.from(`${good}\n{"address":"`),
    Buffer.from([0xe4]),
    Buffer.from(`"}\n${good}\n`),
  ]);
  const { output } = runBulk('ndjson', [body], { ...RUN, output: 'ndjson' });
  const [first = '', second = '', third = ''] = output.toString('utf8').split('\n');
  assert.equal(bodyOf(first), ask(60, 'postalcode=97001').text);
  assert.match((JSON.parse(second) as ErrorLine).error.message, /not valid UTF-8/);
  assert.equal(third.replace('"line":3', '"line":1'), first);
});

test('defaults hold where a row says nothing', () => {
  const defaults = { historical: '202106', shippingExtended: 'true' };
  const rows = [
    { address: DOOR },
    { address: DOOR, historical: '202201', shippingExtended: false },
  ];
  const lines = linesOf(rows, { defaults });
  assert.equal(bodyOf(lines[0]!), ask(60, queryOf({ ...defaults, address: DOOR })).text);
  assert.equal(bodyOf(lines[1]!), ask(60, queryOf(rows[1]!)).text);
});

test('a fault in one row is reported and answered with 106', () => {
  const faults: unknown[] = [];
  const context = openWire({ baseUrl: BASE_URL, report: (error) => faults.push(error) });
  const dataset = memoryDataset();
  const broken = {
    ...dataset,
    id: 'broken',
    zip: () => {
      throw new Error('torn page');
    },
  };
  const run = {
    dataset: {
      ...broken,
      area: dataset.area,
      component: dataset.component,
      source: dataset.source,
      states: dataset.states,
      state: dataset.state,
      city: dataset.city,
      document: dataset.document,
      hasLayer: dataset.hasLayer,
      cells: dataset.cells,
      streets: dataset.streets,
      close: dataset.close,
    },
    context,
  };
  const lines = linesOf([{ postalcode: '97001' }, { lat: 10.5, lng: 0.5 }], run);
  assert.equal((JSON.parse(lines[0]!) as ErrorLine).error.code, 106);
  assert.equal((JSON.parse(lines[1]!) as Partial<ErrorLine>).error, undefined);
  const [row] = tableOf('zip\n97001\n', run);
  assert.equal(row?.['situs_code'], '106');
  assert.equal(faults.length, 2);
});

test('tallies count codes, lookups and geocoded ones, and name the first refusal', () => {
  const { tallies } = runBulk(
    'ndjson',
    [
      Buffer.from(
        [
          { postalcode: '97001' },
          { address: DOOR },
          { address: 'x' },
          { lat: 10.5, lng: 0.5 },
          { postalcode: 'x' },
        ]
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(''),
      ),
    ],
    { ...RUN, output: 'ndjson' },
  );
  const [tally] = tallies;
  assert.deepEqual(tally?.codes, { 100: 3, 104: 1, 109: 1 });
  assert.deepEqual([tally?.rows, tally?.core, tally?.geo, tally?.merchant], [5, 3, 2, 0]);
  assert.deepEqual(
    tally?.refusals.map(({ line, code, field }) => [line, code, field]),
    [[3, 109, 'address']],
  );
});

test('the appended columns are told by name, each once', () => {
  assert.equal(new Set(APPENDED_COLUMNS).size, APPENDED_COLUMNS.length);
  assert.ok(APPENDED_COLUMNS.every((name) => name.startsWith('situs_')));
  assert.equal(
    below(() => 0.999, 3),
    2,
  );
});
