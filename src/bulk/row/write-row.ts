/** Rows with their answers as bytes: as lines of NDJSON, or as rows of the caller's table. */
import { isUtf8 } from 'node:buffer';
import { jsonValue } from '../../wire/tree.js';
import type { ByteWriter } from './byte-writer.js';
import { CART_COLUMNS, APPENDED_COLUMNS } from './columns.js';
import { csvCell, csvCells, type Dialect } from './dialect.js';
import type { BulkKind, Table } from './chunk-payload.js';
import type { CsvRow, Place, Row, RowAnswer } from './row.js';

/** Writes a row with its answer. */
export type WriteRow<R extends Row> = (row: R, answer: RowAnswer, place: Place) => void;

const COMMA = 44;

/**
 * Writes lines: `{"line":1,"id":null,` and the members of the answer's body. One that is refused
 * has a member `error` before these. `count` names the number of the line.
 */
export function lineWriter(into: ByteWriter, count: 'line' | 'seq'): WriteRow<Row> {
  return ({ id }, { code, body, refusal }, { line }) => {
    let head = `{"${count}":${line},"id":${jsonValue(id)}`;
    if (refusal !== null) {
      const { message, field } = refusal;
      head += `,"error":{"code":${code},"message":${jsonValue(message)},`
        + `"field":${jsonValue(field)}}`;
    }
    into.text(head);
    if (body.length === 0) {
      into.text('}\n');
      return;
    }
    const open = into.length;
    for (const part of body) into.part(part);
    // The body's own brace gives way to the comma before its first member.
    into.put(open, COMMA);
    into.text('\n');
  };
}

/** A record as one cell, its bytes kept whether they are UTF-8 or not. */
function cellBytes(record: Buffer, dialect: Dialect): Buffer {
  const encoding = isUtf8(record) ? 'utf8' : 'latin1';
  return Buffer.from(csvCell(record.toString(encoding), dialect), encoding);
}

/**
 * Writes each record with the columns of its answer. A record that is no row of the table becomes
 * the first cell of one, so that what is written is a table in any case.
 */
export function tableWriter(
  into: ByteWriter, { dialect, columns }: Table, kind: BulkKind,
): WriteRow<CsvRow> {
  const { delimiter, newline } = dialect;
  // All but code and message are empty where a row is refused.
  const names: readonly string[] = kind === 'cart' ? CART_COLUMNS : APPENDED_COLUMNS;
  const empty = csvCells(names.slice(0, -2).map(() => ''), dialect);
  return ({ problem, cells }, { code, body, refusal }, { bytes, start, stop, end }) => {
    if (problem === null) into.copy(bytes, start, stop);
    else into.copy(cellBytes(bytes.subarray(start, stop), dialect));
    into.text(delimiter.repeat(Math.max(0, columns - (problem === null ? cells.length : 1))));
    if (refusal === null) for (const part of body) into.part(part);
    else into.text(empty + csvCells([String(code), refusal.message], dialect));
    if (end === start) into.text(newline);
    else into.copy(bytes, stop, end);
  };
}
