/** Rows of a publisher's text file, plain or packed, one at a time. */
import Papa from 'papaparse';
import { openText, readBytes, textOf, utf8Of } from './container.js';
import { withoutMark } from './table-text.js';
import { FileError, fileError } from './zip.js';

/** Longest line; a file with a longer one has no lines. */
const LINE_CHARS_MAX = 16 * 1_048_576;
/** Longest record; a quote that is never closed makes one record of the rest of its file. */
const RECORD_CHARS_MAX = 1 << 24;
const QUOTED = /"(?:[^"]|"")*"/g;

type LineEnd = '\n' | '\r\n' | '\r';

/**
 * The kind of line end of a text, by what stands outside quotes in its first piece. Null while no
 * line has ended, or while a return may still be followed by a line feed.
 */
function lineEndOf(text: string): LineEnd | null {
  const bare = text.includes('"') ? text.replace(QUOTED, '""') : text;
  const feed = bare.indexOf('\n');
  const back = bare.indexOf('\r');
  if (feed < 0 && (back < 0 || back === bare.length - 1)) return null;
  if (back < 0 || (feed >= 0 && feed < back)) return '\n';
  return bare[back + 1] === '\n' ? '\r\n' : '\r';
}

function parse(
  text: string,
  newline: LineEnd,
  ignoreLast: boolean,
): { readonly data: readonly string[][]; readonly meta: { readonly cursor: number } } {
  return new Papa.Parser({ delimiter: ',', newline }).parse(text, 0, ignoreLast) as ReturnType<
    typeof parse
  >;
}

function isEmpty(row: readonly string[]): boolean {
  return row.length === 1 && row[0] === '';
}

/**
 * Takes text in pieces and returns complete rows, in time linear in the text. Empty lines and a
 * byte order mark are left out.
 */
class CsvRows {
  #rest = '';
  #lineEnd: LineEnd | null = null;
  #begun = false;

  /** The rows that a piece completes. @throws Error when a record is too long. */
  add(piece: string): readonly (readonly string[])[] {
    let text = this.#rest + piece;
    if (!this.#begun && text !== '') {
      this.#begun = true;
      text = withoutMark(text);
    }
    this.#lineEnd ??= lineEndOf(text);
    if (this.#lineEnd === null) {
      this.#keep(text);
      return [];
    }
    const { data, meta } = parse(text, this.#lineEnd, true);
    this.#keep(text.slice(meta.cursor));
    return data.filter((row) => !isEmpty(row));
  }

  /** The row at the end of the text that no line end follows, if there is one. */
  end(): readonly (readonly string[])[] {
    if (this.#rest === '') return [];
    const { data } = parse(this.#rest, this.#lineEnd ?? '\n', false);
    this.#rest = '';
    return data.filter((row) => !isEmpty(row));
  }

  #keep(rest: string): void {
    if (rest.length > RECORD_CHARS_MAX) {
      throw new Error(`a record does not end: a quote is not closed at ${rest.slice(0, 60)}`);
    }
    this.#rest = rest;
  }
}

const FEED = 10;
const RETURN = 13;

/**
 * The text of lines. Each line may be UTF-8 or not, because some files were put together from
 * several.
 */
function linesText(bytes: Buffer): string {
  const whole = utf8Of(bytes);
  if (whole !== null) return whole;
  let text = '';
  for (let from = 0; from < bytes.length; ) {
    const to = bytes.indexOf(FEED, from) + 1 || bytes.length;
    text += textOf(bytes.subarray(from, to));
    from = to;
  }
  return text;
}

/** Yields text in pieces that end with a line, regardless of how its bytes arrive. */
async function* textPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes) {
    let end = Math.max(piece.lastIndexOf(FEED), piece.lastIndexOf(RETURN)) + 1;
    // A line that is too long is passed on, and the reader of rows refuses it.
    if (size + piece.length > LINE_CHARS_MAX) end = piece.length;
    if (end > 0) {
      yield linesText(Buffer.concat([...held, piece.subarray(0, end)]));
      [held, size] = [[], 0];
    }
    held.push(piece.subarray(end));
    size += piece.length - end;
  }
  yield linesText(Buffer.concat(held));
}

/** Yields the fields of every row of text, regardless of how its bytes arrive. */
export async function* csvRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const rows = new CsvRows();
  for await (const piece of textPieces(bytes)) yield* rows.add(piece);
  yield* rows.end();
}

/** Yields the lines of a file, without byte order mark and line ends. */
export async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of textPieces(readBytes(path))) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARS_MAX) throw fileError(path, 'a line without an end');
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  if (rest !== '') yield rest.endsWith('\r') ? rest.slice(0, -1) : rest;
}

/**
 * Yields the fields of every row. Only comma-separated files have quotes, which may contain line
 * ends.
 */
export async function* readRows(
  path: string,
  delimiter: ',' | '\t',
): AsyncGenerator<readonly string[]> {
  if (delimiter === '\t') {
    for await (const line of readLines(path)) if (line !== '') yield line.split('\t');
    return;
  }
  try {
    yield* csvRows(openText(path));
  } catch (error) {
    // An error of opening the file names it already, without the member.
    throw error instanceof FileError ? error : fileError(path, error);
  }
}

/**
 * Finds columns by header name, in any case.
 * @throws Error naming the file and the column that is missing.
 */
export function columnIndexes<K extends string>(
  path: string,
  header: readonly string[],
  columns: Readonly<Record<K, string>>,
): Readonly<Record<K, number>> {
  const names = header.map((name) => name.trim().toLowerCase());
  const indexes: Partial<Record<K, number>> = {};
  for (const key in columns) {
    const wanted = columns[key];
    const index = wanted === '' ? -1 : names.indexOf(wanted.toLowerCase());
    if (wanted !== '' && index < 0) throw new Error(`${path} has no column "${wanted}"`);
    indexes[key] = index;
  }
  return indexes as Record<K, number>;
}
