/** Rows of a CSV file to rows with our columns, or to lines. */
import { isUtf8 } from 'node:buffer';
import type { Dataset } from '../../dataset/dataset.js';
import { fail, type Failure } from '../../failure.js';
import type { ByteWriter } from './byte-writer.js';
import { answerCsvCartLine } from './cart-cells.js';
import { cartColumns, refuseCart } from './cart-columns.js';
import { ColumnWriter, type RowColumns } from './columns.js';
import { contentEnd, csvRows } from './csv-rows.js';
import { csvCell, type Dialect } from './dialect.js';
import type { RawChunk } from './framing.js';
import type { Table } from './job.js';
import { ID_CHARS_MAX } from './limit.js';
import { TOO_LONG } from './ndjson-chunk.js';
import { csvParameters } from './parameters.js';
import { guarded, malformed, type RowEngine } from './row.js';
import { fieldOf, writeLine } from './row-line.js';
import type { Tally } from './tally.js';

const WRITERS = new WeakMap<Dataset, Map<string, ColumnWriter>>();

/** The writer of a dialect, kept from chunk to chunk. */
function writerOf(dataset: Dataset, dialect: Dialect): ColumnWriter {
  let writers = WRITERS.get(dataset);
  if (writers === undefined) {
    writers = new Map();
    WRITERS.set(dataset, writers);
  }
  const name = `${dialect.delimiter}${dialect.quoteAll}`;
  let writer = writers.get(name);
  if (writer === undefined) {
    writer = new ColumnWriter(dialect);
    writers.set(name, writer);
  }
  return writer;
}

/** Why a record is no row of its table; null where it is one. */
function problemOf(
  cells: readonly string[] | null, tooLong: boolean, columns: number,
): string | null {
  if (tooLong) return TOO_LONG;
  if (cells === null) return 'The quotes of the row do not match.';
  return cells.length <= columns
    ? null : `The row has ${cells.length} columns, the header ${columns}.`;
}

/** A record as one cell, its bytes kept whether they are UTF-8 or not. */
function cellBytes(record: Buffer, dialect: Dialect): Buffer {
  const encoding = isUtf8(record) ? 'utf8' : 'latin1';
  return Buffer.from(csvCell(record.toString(encoding), dialect), encoding);
}

/**
 * Answers each record with itself and our columns. A record that is no row of the table becomes
 * the first cell of one, so that what is written is a table in any case.
 */
export function csvToCsv(
  engine: RowEngine, table: Table, chunk: RawChunk, into: ByteWriter, tally: Tally,
): void {
  const { context, dataset, job, grants } = engine;
  const { dialect, columns, mapping } = table;
  const { bytes, ends, line } = chunk;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoded = isUtf8(buffer);
  const writer = writerOf(dataset, dialect);
  const isCart = job.kind === 'cart';
  const refusal = (failure: Failure): RowColumns =>
    (isCart ? refuseCart(failure, dialect) : writer.refusal(failure));
  const rows = csvRows(chunk, dialect);
  let start = 0;
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index]!;
    const stop = contentEnd(buffer, start, end);
    const cells = rows[index] ?? null;
    const problem = problemOf(cells, end === start, columns);
    let found: RowColumns;
    if (problem !== null || cells === null) {
      found = refusal(fail('invalid-format', problem ?? ''));
      into.copy(cellBytes(buffer.subarray(start, stop), dialect));
      into.text(dialect.delimiter.repeat(columns - 1));
    } else {
      found = guardedColumns(engine, refusal, () => {
        if (job.refusal !== undefined) return refusal(job.refusal);
        if (isCart) return cartColumns(engine, cells, mapping, decoded, dialect);
        const raw = csvParameters(cells, mapping, job.defaults, decoded);
        return writer.columns(context, dataset, raw, grants, job.nowMs);
      });
      into.copy(buffer, start, stop);
      if (cells.length < columns) into.text(dialect.delimiter.repeat(columns - cells.length));
    }
    into.text(found.text);
    if (end === start) into.text(dialect.newline);
    else into.copy(buffer, stop, end);
    const { code, message, field = fieldOf(code, message) } = found;
    tally.add(found, message === '' ? null : { line: line + index, code, message, field });
    start = end;
  }
}

/** What `columns` throws is a bug, is reported and answered with 106. */
function guardedColumns(
  { context }: RowEngine, refusal: (failure: Failure) => RowColumns, columns: () => RowColumns,
): RowColumns {
  try {
    return columns();
  } catch (error) {
    context.report(error);
    return refusal(fail('internal'));
  }
}

/** Answers each record with a line. */
export function csvToLines(
  engine: RowEngine, { dialect, columns, mapping }: Table, chunk: RawChunk, into: ByteWriter,
  tally: Tally,
): void {
  const { job } = engine;
  const { bytes, ends, line } = chunk;
  const decoded = isUtf8(bytes);
  const isCart = job.kind === 'cart';
  const rows = csvRows(chunk, dialect);
  let start = 0;
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index]!;
    const cells = rows[index] ?? null;
    const problem = problemOf(cells, end === start, columns);
    const id = mapping.id === undefined ? '' : cells?.[mapping.id]?.trim() ?? '';
    const answer = guarded(engine, () => {
      if (problem !== null || cells === null) return malformed(engine, problem ?? '');
      if (id.length > ID_CHARS_MAX) {
        return malformed(engine, `Parameter id: up to ${ID_CHARS_MAX} characters.`, 'id');
      }
      if (isCart) {
        const record = bytes.subarray(start, contentEnd(bytes, start, end));
        return answerCsvCartLine(engine, cells, mapping, decoded, record, line + index);
      }
      return engine.lookup(csvParameters(cells, mapping, job.defaults, decoded));
    });
    const named = id === '' || id.length > ID_CHARS_MAX ? null : id;
    tally.add(answer, writeLine(into, line + index, named, answer, answer.field));
    start = end;
  }
}
