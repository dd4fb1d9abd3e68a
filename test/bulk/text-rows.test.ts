/** Rows of CSV records: the same whatever their neighbours, and the pieces that they come in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Dialect } from '../../src/bulk/row/dialect.js';
import { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import { CHUNK_BYTES_MAX } from '../../src/bulk/row/record-form.js';
import type { CsvRow } from '../../src/bulk/row/row.js';
import { csvReader, placesOf } from '../../src/bulk/row/text-rows.js';

type Newline = Dialect['newline'];

/** The rows of a body that comes in pieces of `size` bytes and is answered `count` rows at a time. */
function rowsOf(body: Buffer, newline: Newline, size: number, count: number): readonly CsvRow[] {
  const form = { kind: 'csv', delimiter: 44, loneCr: newline === '\r' } as const;
  const dialect: Dialect = { delimiter: ',', newline, quoteAll: false };
  const cutter = new RecordCutter({ form, firstLine: 2, rowBytesMax: 40 });
  for (let at = 0; at < body.length; at += size) cutter.push(body.subarray(at, at + size));
  cutter.end();
  const rows: CsvRow[] = [];
  for (;;) {
    const chunk = cutter.take(count, CHUNK_BYTES_MAX);
    if (chunk === null) return rows;
    const read = csvReader(chunk, { dialect, columns: 3, mapping: {} }, 0);
    for (const place of placesOf(chunk)) rows.push(read(place));
  }
}

const cellsOf = (text: string, newline: Newline = '\n'): readonly unknown[] =>
  rowsOf(Buffer.from(text), newline, text.length, 1_000).map(({ problem, cells }) =>
    problem === null ? cells : problem.detail,
  );

test('a row is the same among any neighbours, in any pieces', () => {
  const part = fc.constantFrom(
    ...['a', '"', ',', '\n', '\r', '\r\n', ' ', '""', '"b" ', '"\n', '\n"', 'b,c\n', '\ufffd'],
  );
  const text = fc.array(part, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));
  const broken = fc.boolean().map((isBroken) => Buffer.from(isBroken ? [0xff] : []));
  fc.assert(
    fc.property(
      fc.tuple(text, broken).map(([before, end]) => Buffer.concat([Buffer.from(before), end])),
      fc.constantFrom<Newline>('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      (body, newline, size, count) => {
        const alone = rowsOf(body, newline, body.length, 1);
        assert.deepEqual(rowsOf(body, newline, body.length, 1_000), alone);
        assert.deepEqual(rowsOf(body, newline, size, count), alone);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('blanks behind a closing quote are passed over, at the end of a row too', () => {
  const mismatch = 'The quotes of the row do not match.';
  assert.deepEqual(cellsOf('"a" ,"b" \nc,d\n'), [
    ['a', 'b'],
    ['c', 'd'],
  ]);
  assert.deepEqual(cellsOf('"a","b" \n"c" d\n"e" '), [['a', 'b'], mismatch, ['e']]);
});

test('the line ends of rows may be others than that of the header line', () => {
  assert.deepEqual(cellsOf('"a"\r\n"b"\r\n', '\r'), [['a'], ['b']]);
  assert.deepEqual(cellsOf('a\r\n"b"\n', '\n'), [['a'], ['b']]);
});
