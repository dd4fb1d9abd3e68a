/** Rows as they are sent, and what a worker writes for them. */
import assert from 'node:assert/strict';
import Papa from 'papaparse';
import { oneOf, runBulk, type BulkRun } from '../support/bulk-bodies.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';

const DATASET = memoryDataset();
export const RUN: Omit<BulkRun, 'output'> = { dataset: DATASET, nowMs: NOW_MS };
export const DOOR = '200 Spindle Center Dr, Brookmere, QZ 97001';

export type Row = Readonly<Record<string, string | number | boolean>>;

export function queryOf(row: Row): string {
  return new URLSearchParams(
    Object.entries(row).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

/** Lines of NDJSON output. */
export function linesOf(
  rows: readonly (Row | string)[],
  run: Partial<BulkRun> = {},
): readonly string[] {
  const body = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const { output } = runBulk('ndjson', [Buffer.from(`${body}\n`)], {
    ...RUN,
    output: 'ndjson',
    ...run,
  });
  return output.toString('utf8').split('\n').slice(0, -1);
}

/** The body of a single lookup, from a line. */
export function bodyOf(line: string): string {
  const found =
    /^\{"line":\d+,"id":(?:null|-?\d+|"(?:[^"\\]|\\.)*")(?:,"error":\{"code":\d+,"message":"(?:[^"\\]|\\.)*","field":(?:null|"\w+")\})?,/.exec(
      line,
    );
  assert.ok(found !== null, line);
  return `{${line.slice(found[0].length)}`;
}

export const VALUES: readonly (readonly [
  name: string,
  values: readonly (string | number | boolean)[],
])[] = [
  [
    'address',
    [DOOR, '12 Spindle Center Dr, Brookmere, QZ', 'Nowhere 1', '', 'x'.repeat(101), '\u0001'],
  ],
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

export function randomRow(random: () => number): Row {
  const row: Record<string, string | number | boolean> = {};
  for (const [name, values] of VALUES) {
    const often = ['address', 'lat', 'lng', 'postalcode'].includes(name) ? 0.5 : 0.12;
    if (random() < often) row[name] = oneOf(random, values);
  }
  return row;
}

export interface ErrorLine {
  readonly line: number;
  readonly id: unknown;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly field: string | null;
  };
}

type Table = readonly Readonly<Record<string, string>>[];

/** The output of a CSV file, by column. */
export function tableOf(text: string | Buffer, run: Partial<BulkRun> = {}): Table {
  const { output } = runBulk('csv', [Buffer.from(text)], { ...RUN, output: 'csv', ...run });
  return Papa.parse<Record<string, string>>(output.toString('utf8').trim(), { header: true }).data;
}
