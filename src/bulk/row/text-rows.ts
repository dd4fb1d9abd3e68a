/** Records of a chunk to rows, those of a CSV file and JSON objects, and back with answers. */
import { isUtf8 } from 'node:buffer';
import Papa from 'papaparse';
import type { ByteWriter } from '../../base/byte-writer.js';
import { isObject, parsedText, type JsonObject } from '../../base/json-object.js';
import { EXCESSES, excessOf } from '../../base/json-scan.js';
import type { Failure } from '../../failure.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { jsonValue } from '../../wire/tree.js';
import type { BulkKind, Table } from './chunk-payload.js';
import { columnsOf } from './columns.js';
import { BOM, csvCell, csvCells, type Dialect } from './dialect.js';
import { ID_CHARS_MAX, type RawChunk } from './record-form.js';
import { noRequest, UNREADABLE } from './row-parameters.js';
import type { CsvRow, JsonRow, Place, Row, RowAnswer, RowId } from './row.js';

const LF = 10;
const CR = 13;

/** Where a record ends without its line end. */
export function contentEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  if (at > start && bytes[at - 1] === LF) at -= 1;
  if (at > start && bytes[at - 1] === CR) at -= 1;
  return at;
}

/** The rows of a well-formed text; null when it is not. */
function parse(
  text: string,
  delimiter: string,
  newline: Dialect['newline'],
): readonly (readonly string[])[] | null {
  const parser = new Papa.Parser({ delimiter, newline, quoteChar: '"', escapeChar: '"' });
  const result: Papa.ParseResult<readonly string[]> = parser.parse(text, 0, false);
  return result.errors.length === 0 ? result.data : null;
}

/** A record on its own; null when its quotes do not match. */
function parseRecord(text: string, delimiter: string): readonly string[] | null {
  if (!text.includes('"')) return text.split(delimiter);
  // Any line end left in the record stands inside quotes.
  const rows = parse(text, delimiter, '\r\n');
  return rows?.length === 1 ? rows[0]! : null;
}

/**
 * The cells of each record, null for one that is no row. The chunk is parsed as a whole where it
 * is well formed; else each record on its own, so that none touches its neighbours.
 */
export function csvRows(
  { bytes, ends }: RawChunk,
  { delimiter, newline }: Dialect,
): readonly (readonly string[] | null)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = contentEnd(bytes, ends.length > 1 ? ends[ends.length - 2]! : 0, bytes.length);
  const whole = ends.every((end, index) => end > (index === 0 ? 0 : ends[index - 1]!))
    ? parse(buffer.toString('utf8', 0, last), delimiter, newline)
    : null;
  if (whole !== null && whole.length === ends.length) return whole;
  const rows: (readonly string[] | null)[] = [];
  let start = 0;
  for (const end of ends) {
    const text = buffer.toString('utf8', start, contentEnd(bytes, start, end));
    rows.push(end === start ? null : parseRecord(text, delimiter));
    start = end;
  }
  return rows;
}

/** Sentence of a row that was left out for its size. */
const TOO_LONG = 'The row is longer than a row may be.';

/** Why a record is no row of its table; null where it is one. */
function problemOf(
  cells: readonly string[] | null,
  tooLong: boolean,
  columns: number,
): Failure | null {
  if (tooLong) return noRequest(TOO_LONG);
  if (cells === null) return noRequest('The quotes of the row do not match.');
  return cells.length <= columns
    ? null
    : noRequest(`The row has ${cells.length} columns, the header ${columns}.`);
}

const LONG_ID = wrongParameter('id', `up to ${ID_CHARS_MAX} characters.`);

/**
 * What reads the records of a chunk as rows of a table.
 * @param idColumn where each row has its id; undefined where it is not asked for
 */
export function csvReader(
  chunk: RawChunk,
  { dialect, columns }: Table,
  idColumn: number | undefined,
): (place: Place) => CsvRow {
  const decoded = isUtf8(chunk.bytes);
  const rows = csvRows(chunk, dialect);
  return ({ index, start, end }) => {
    const cells = rows[index] ?? null;
    const id = idColumn === undefined ? '' : (cells?.[idColumn]?.trim() ?? '');
    const isLong = id.length > ID_CHARS_MAX;
    const problem = problemOf(cells, end === start, columns) ?? (isLong ? LONG_ID : null);
    return { id: id === '' || isLong ? null : id, problem, cells: cells ?? [], decoded };
  };
}

// Records that are JSON objects: lines of NDJSON, and messages of a stream.

/** What a record is called in sentences about it. */
type Noun = 'line' | 'message';

const MESSAGE_TOO_LONG = 'The message is longer than a message may be.';
const WRONG_ID = wrongParameter(
  'id',
  `up to ${ID_CHARS_MAX} characters, or a whole number that a double holds exactly.`,
);

/** Whether a value can be an id: text of bounded length, or a whole number that JSON keeps. */
function isRowId(value: unknown): value is RowId {
  if (typeof value === 'string') return value.length <= ID_CHARS_MAX;
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** The object of a record, or the sentence that says why it is none. */
function objectOf(noun: Noun, bytes: Buffer, text: string): JsonObject | string {
  if (text.trim() === '') return `The ${noun} is empty.`;
  if (text.includes(UNREADABLE) && !isUtf8(bytes)) return `The ${noun} is not valid UTF-8.`;
  const excess = excessOf(bytes);
  if (excess !== null) return `The ${noun} has ${EXCESSES[excess]}.`;
  const value = parsedText(text);
  if (value === undefined) return `The ${noun} is not valid JSON.`;
  return isObject(value) ? value : `The ${noun} is no JSON object.`;
}

function noRow(problem: Failure): JsonRow {
  return { id: null, problem, object: {}, text: '' };
}

function read(noun: Noun, bytes: Buffer): JsonRow {
  const text = bytes.toString('utf8');
  const object = objectOf(noun, bytes, text);
  if (typeof object === 'string') return noRow(noRequest(object));
  const id = object['id'] ?? null;
  if (!isRowId(id)) return noRow(WRONG_ID);
  return { id, problem: null, object, text };
}

/** Where the first line of a file begins after a byte order mark. */
function contentStart({ bytes, line, start, stop }: Place): number {
  const marked = line === 1 && bytes.subarray(start, stop).indexOf(BOM) === 0;
  return marked ? start + BOM.length : start;
}

/** Reads a line of NDJSON. */
export function readLine(place: Place): JsonRow {
  const { bytes, start, stop, end } = place;
  return end === start
    ? noRow(noRequest(TOO_LONG))
    : read('line', bytes.subarray(contentStart(place), stop));
}

/** Reads a message of a stream. */
export function readMessage({ bytes, start, stop, end }: Place): JsonRow {
  return end === start
    ? noRow(noRequest(MESSAGE_TOO_LONG))
    : read('message', bytes.subarray(start, stop));
}

// Rows with their answers as bytes: as lines of NDJSON, or as rows of the caller's table.

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
      head +=
        `,"error":{"code":${code},"message":${jsonValue(message)},` +
        `"field":${jsonValue(field)}}`;
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
  into: ByteWriter,
  { dialect, columns }: Table,
  kind: BulkKind,
): WriteRow<CsvRow> {
  const { delimiter, newline } = dialect;
  // All but code and message are empty where a row is refused.
  const names = columnsOf(kind).slice(0, -2);
  const empty = csvCells(
    names.map(() => ''),
    dialect,
  );
  return ({ problem, cells }, { code, body, refusal }, { bytes, start, stop, end }) => {
    if (problem === null) into.copy(bytes, start, stop);
    else into.copy(cellBytes(bytes.subarray(start, stop), dialect));
    for (let at = problem === null ? cells.length : 1; at < columns; at += 1) into.text(delimiter);
    if (refusal === null) for (const part of body) into.part(part);
    else into.text(empty + csvCells([String(code), refusal.message], dialect));
    if (end === start) into.text(newline);
    else into.copy(bytes, stop, end);
  };
}
