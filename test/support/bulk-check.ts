/** What must hold of the answer to a random body; each fault is a sentence. */
import Papa from 'papaparse';
import { APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import {
  below,
  csvBody,
  cut,
  ndjsonBody,
  runBulk,
  type BulkRun,
  type CsvBody,
  type NdjsonBody,
  type Random,
} from './bulk-bodies.js';

const BOM = Buffer.from('\ufeff');

interface Line {
  readonly line: number;
  readonly id: string | number | null;
  readonly error?: { readonly code: number };
}

function lineFaults(output: Buffer, ids: NdjsonBody['ids'], from: number): readonly string[] {
  const text = output.toString('utf8');
  const lines = text.split('\n');
  if (lines.pop() !== '') return ['the output does not end with a line end'];
  if (lines.length !== ids.length) return [`${ids.length} lines in, ${lines.length} out`];
  return lines.flatMap((each, index) => {
    const row = JSON.parse(each) as Line;
    const id = ids[index];
    if (row.line !== index + from) return [`line ${index + from} is numbered ${row.line}`];
    if (id === undefined) return row.error === undefined ? [`line ${row.line} is no error`] : [];
    return row.id === id ? [] : [`line ${row.line} has the id ${String(row.id)}`];
  });
}

function tableFaults(body: CsvBody, output: Buffer): readonly string[] {
  const { delimiter, newline, headers, rows, bytes } = body;
  const faults: string[] = [];
  const headerEnd = bytes.indexOf(newline);
  if (!output.subarray(0, headerEnd).equals(bytes.subarray(0, headerEnd)))
    faults.push('header changed');
  let at = output.indexOf(newline) + newline.length;
  const texts: string[] = [];
  rows.forEach(({ bytes: row, cells }, index) => {
    const start = at;
    if (cells !== null) {
      if (!output.subarray(at, at + row.length).equals(row)) faults.push(`row ${index} changed`);
      at += row.length;
    }
    const end = output.indexOf(newline, at);
    if (end < 0 && index < rows.length - 1) faults.push(`row ${index} has no end`);
    at = end < 0 ? output.length : end + newline.length;
    texts.push(output.toString('utf8', start, end < 0 ? output.length : end));
  });
  if (at !== output.length) faults.push('there are more rows than were sent');
  const clean = output.subarray(0, 3).equals(BOM) ? output.subarray(3) : output;
  const parsed = Papa.parse<readonly string[]>(clean.toString('utf8'), {
    delimiter,
    newline: newline as '\n',
    skipEmptyLines: false,
  });
  if (parsed.errors.length > 0) faults.push(`the output is no CSV: ${parsed.errors[0]!.message}`);
  const table = parsed.data.filter((cells) => cells.length > 1);
  if (table.length !== rows.length + 1)
    faults.push(`${rows.length} rows in, ${table.length - 1} out`);
  for (const [index, cells] of table.entries()) {
    if (cells.length !== headers.length + APPENDED_COLUMNS.length) {
      faults.push(`row ${index} has ${cells.length} columns: ${texts[index - 1] ?? ''}`);
    }
    const code = cells.at(-2);
    if (index > 0 && !/^1\d\d$/.test(code ?? '')) faults.push(`row ${index} has the code ${code}`);
  }
  return faults;
}

/** Sends one random body, twice, cut and chunked differently. */
export function fuzzOnce(random: Random, run: Omit<BulkRun, 'output'>): readonly string[] {
  const kind = random();
  const rowsPerChunk = 1 + below(random, 6);
  if (kind < 0.4) {
    const body = ndjsonBody(random);
    const first = runBulk('ndjson', cut(random, body.bytes), {
      ...run,
      output: 'ndjson',
      rowsPerChunk,
    });
    const again = runBulk('ndjson', [body.bytes], { ...run, output: 'ndjson' });
    return [
      ...lineFaults(first.output, body.ids, 1),
      ...(first.output.equals(again.output) ? [] : ['the output depends on the cuts']),
    ];
  }
  const body = csvBody(random);
  const output = kind < 0.8 ? 'csv' : 'ndjson';
  const first = runBulk('csv', cut(random, body.bytes), { ...run, output, rowsPerChunk });
  const again = runBulk('csv', [body.bytes], { ...run, output });
  const ids = body.rows.map(({ cells }) => (cells === null ? undefined : (cells[0] ?? null)));
  return [
    ...(output === 'csv' ? tableFaults(body, first.output) : lineFaults(first.output, ids, 2)),
    ...(first.output.equals(again.output) ? [] : ['the output depends on the cuts']),
  ];
}
