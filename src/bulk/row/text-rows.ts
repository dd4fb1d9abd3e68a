/**
 * Reads the records of a chunk as rows (of a CSV file or JSON objects), and writes them with their
 * answers.
 */
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

/** Where the line end of a record begins. */
function contentEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  if (at > start && bytes[at - 1] === LF) at -= 1;
  if (at > start && bytes[at - 1] === CR) at -= 1;
  return at;
}

/** The places of the records of a chunk, in order. */
export function* placesOf({ line, bytes: given, ends }: RawChunk): Generator<Place> {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  let start = 0;
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index]!;
    yield { index, line: line + index, bytes, start, stop: contentEnd(bytes, start, end), end };
    start = end;
  }
}

/**
 * The rows of a text of so many records, each with its line end; null where one is not well formed.
 * Blanks behind a closing quote are skipped, but only before a delimiter or a line end.
 */
function parse(
  text: string,
  delimiter: string,
  newline: Dialect['newline'],
  records: number,
): readonly (readonly string[])[] | null {
  const parser = new Papa.Parser({ delimiter, newline, quoteChar: '"', escapeChar: '"' });
  const result: Papa.ParseResult<readonly string[]> = parser.parse(text, 0, false);
  // Behind the last line end there is one more row, which is empty.
  const isWhole = result.errors.length === 0 && result.data.length === records + 1;
  return isWhole ? result.data.slice(0, records) : null;
}

/** The cells of a single record; null when its quotes do not match. */
function parseRecord(text: string, delimiter: string): readonly string[] | null {
  if (!text.includes('"')) return text.split(delimiter);
  // Any line end within the record is inside quotes.
  return parse(`${text}\r\n`, delimiter, '\r\n', 1)?.[0] ?? null;
}

/**
 * Whether each record of a chunk ends with the line end `newline` and has no other one within. Only
 * then does a parser of the whole chunk end its rows where the records end. The last record of a
 * file may lack the line end.
 */
function areLines(bytes: Buffer, ends: Uint32Array, newline: Dialect['newline']): boolean {
  const mark = newline === '\r' ? CR : LF;
  let start = 0;
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index]!;
    const found = bytes.indexOf(mark, start);
    if (found < 0) return index === ends.length - 1 && end > start;
    if (found + 1 !== end || contentEnd(bytes, start, end) + newline.length !== end) return false;
    start = end;
  }
  return true;
}

/**
 * The cells of each record; null for one that is not a row. The chunk is parsed as a whole where
 * that gives the same rows as parsing each record on its own, so that a row is the same whatever
 * its neighbours are.
 */
export function csvRows(
  { bytes, ends }: RawChunk,
  { delimiter, newline }: Dialect,
): readonly (readonly string[] | null)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (areLines(buffer, ends, newline)) {
    const last = contentEnd(bytes, ends.length > 1 ? ends[ends.length - 2]! : 0, bytes.length);
    const text = buffer.toString('utf8', 0, last) + newline;
    const whole = parse(text, delimiter, newline, ends.length);
    if (whole !== null) return whole;
  }
  const rows: (readonly string[] | null)[] = [];
  let start = 0;
  for (const end of ends) {
    const text = buffer.toString('utf8', start, contentEnd(bytes, start, end));
    rows.push(end === start ? null : parseRecord(text, delimiter));
    start = end;
  }
  return rows;
}

/** The sentence for a row that was left out because it is too long. */
const TOO_LONG = 'The row is longer than a row may be.';

/** Why a record is not a row of its table; null where it is. */
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
 * Makes the reader of records as rows of a table.
 * @param idColumn the column of ids; undefined where ids are not needed
 */
export function csvReader(
  chunk: RawChunk,
  { dialect, columns }: Table,
  idColumn: number | undefined,
): (place: Place) => CsvRow {
  const decoded = isUtf8(chunk.bytes);
  const rows = csvRows(chunk, dialect);
  return ({ index, bytes, start, stop, end }) => {
    const cells = rows[index] ?? null;
    const id = idColumn === undefined ? '' : (cells?.[idColumn]?.trim() ?? '');
    const isLong = id.length > ID_CHARS_MAX;
    const problem = problemOf(cells, end === start, columns) ?? (isLong ? LONG_ID : null);
    return {
      id: id === '' || isLong ? null : id,
      problem,
      cells: cells ?? [],
      decoded: decoded || isUtf8(bytes.subarray(start, stop)),
    };
  };
}

// Records that are JSON objects: lines of NDJSON, and messages of a stream.

/** The word for a record in sentences about it. */
type Noun = 'line' | 'message';

const MESSAGE_TOO_LONG = 'The message is longer than a message may be.';
const WRONG_ID = wrongParameter(
  'id',
  `up to ${ID_CHARS_MAX} characters, or a whole number that a double holds exactly.`,
);

/**
 * Whether a value can be an id: a text that is not too long, or a whole number that is exact in
 * JSON.
 */
function isRowId(value: unknown): value is RowId {
  if (typeof value === 'string') return value.length <= ID_CHARS_MAX;
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** The object of a record, or a sentence that says why it has none. */
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

/** Where the content of a record begins: after a byte order mark in the first line of a file. */
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

// Rows and their answers as bytes: lines of NDJSON, or rows of the caller's table.

/** Writes a row with its answer. */
export type WriteRow<R extends Row> = (row: R, answer: RowAnswer, place: Place) => void;

const COMMA = 44;

/**
 * Makes the writer of lines: `{"line":1,"id":null,`, then the members of the answer's body. A
 * refused row has a member `error` before these. `count` is the name of the line number.
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
    // The opening brace of the body is replaced by the comma before its first member.
    into.put(open, COMMA);
    into.text('\n');
  };
}

/** A record as a single cell. Its bytes are kept even if they are not UTF-8. */
function cellBytes(record: Buffer, dialect: Dialect): Buffer {
  const encoding = isUtf8(record) ? 'utf8' : 'latin1';
  return Buffer.from(csvCell(record.toString(encoding), dialect), encoding);
}

/**
 * Makes the writer of rows of a table: each record with the columns of its answer. A record that is
 * not a row of the table becomes the first cell of a row, so that the output is always a table.
 */
export function tableWriter(
  into: ByteWriter,
  { dialect, columns }: Table,
  kind: BulkKind,
): WriteRow<CsvRow> {
  const { delimiter, newline } = dialect;
  // For a refused row, all columns but code and message are empty.
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
