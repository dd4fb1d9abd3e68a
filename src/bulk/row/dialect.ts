/** How a CSV file is written: told from its header line, and kept in what is added to it. */
import { HEADER_BYTES_MAX } from './record-form.js';

/** In order of preference where two occur equally often. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export const NEWLINES = ['\n', '\r\n', '\r'] as const;
type Newline = (typeof NEWLINES)[number];

export interface Dialect {
  readonly delimiter: Delimiter;
  /** The line end of the header line, used for our own lines; the caller's rows keep theirs. */
  readonly newline: Newline;
  /** Every cell of the header is quoted, so ours are too. */
  readonly quoteAll: boolean;
}

export interface CsvHead {
  readonly dialect: Dialect;
  /** The file begins with a UTF-8 byte order mark. */
  readonly bom: boolean;
  /** The header line without mark and line end. */
  readonly header: Buffer;
  /** Bytes up to the first row. */
  readonly bytes: number;
}

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** The byte order mark of UTF-8. */
export const BOM = Buffer.from('\ufeff', 'utf8');

/** Where in a header line a scan is. */
const FIELD_START = 0;
const IN_FIELD = 1;
const IN_QUOTES = 2;
/** After a quote inside quotes: a second one doubles it, anything else has closed the field. */
const QUOTE_SEEN = 3;

/**
 * Follows the quotes of a header line as those of a record: one opens at the beginning of a field
 * alone, and an inch mark behind other text is text. Fields begin behind any delimiter until it is
 * told from the line which one holds.
 */
class QuoteScan {
  readonly #delimiters: readonly number[];
  #state = FIELD_START;

  constructor(delimiter: Delimiter | null) {
    const held = delimiter === null ? DELIMITERS : [delimiter];
    this.#delimiters = held.map((one) => one.charCodeAt(0));
  }

  /** Passes a byte or a UTF-16 unit; true where it stands outside of quotes. */
  pass(code: number): boolean {
    const state = this.#state;
    if (state === IN_QUOTES) {
      if (code === QUOTE) this.#state = QUOTE_SEEN;
      return false;
    }
    if (code === QUOTE && state !== IN_FIELD) {
      this.#state = IN_QUOTES;
      return false;
    }
    this.#state = this.#delimiters.includes(code) ? FIELD_START : IN_FIELD;
    return true;
  }
}

/** Tells from pieces when a header line may be complete; each byte is looked at once. */
export class HeaderEnd {
  readonly #quotes: QuoteScan;
  /** Bytes of a byte order mark that were passed: what follows it begins a field. */
  #marked = 0;
  #passed = false;

  constructor(delimiter: Delimiter | null = null) {
    this.#quotes = new QuoteScan(delimiter);
  }

  /** Adds a piece; true from the one with the first line end outside quotes on. */
  passed(piece: Uint8Array): boolean {
    for (let at = 0; at < piece.length && !this.#passed; at += 1) {
      const byte = piece[at]!;
      if (byte === BOM[this.#marked]) this.#marked += 1;
      else {
        this.#marked = BOM.length;
        this.#passed = this.#quotes.pass(byte) && (byte === LF || byte === CR);
      }
    }
    return this.#passed;
  }
}

/** Where the first line ends outside quotes; −1 when it does not. */
function lineEnd(bytes: Uint8Array, from: number, delimiter: Delimiter | null): number {
  const quotes = new QuoteScan(delimiter);
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (quotes.pass(byte) && (byte === LF || byte === CR)) return at;
  }
  return -1;
}

function newlineAt(bytes: Uint8Array, end: number): Newline {
  if (bytes[end] === LF) return '\n';
  return bytes[end + 1] === LF ? '\r\n' : '\r';
}

/** Cells' borders of a header line by one delimiter, with those inside quotes left out. */
function cellsOf(header: string, delimiter: string): readonly string[] {
  const cells: string[] = [];
  const quotes = new QuoteScan(null);
  let from = 0;
  for (let at = 0; at < header.length; at += 1) {
    if (quotes.pass(header.charCodeAt(at)) && header[at] === delimiter) {
      cells.push(header.slice(from, at));
      from = at + 1;
    }
  }
  cells.push(header.slice(from));
  return cells;
}

/** Tells the delimiter that splits a header line into most cells; a comma where none does. */
export function sniffDelimiter(header: string): Delimiter {
  let best: Delimiter = ',';
  let most = 1;
  for (const delimiter of DELIMITERS) {
    const { length } = cellsOf(header, delimiter);
    if (length > most) [best, most] = [delimiter, length];
  }
  return best;
}

/**
 * True for a beginning in UTF-16 or UTF-32, which is not read: by its byte order mark, or by the
 * zeros beside the first characters, which no text in UTF-8 has.
 */
export function isWide(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff) ||
    first === 0 ||
    second === 0
  );
}

/** True for a beginning of a gzip stream. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Reads the header line of a file from its beginning.
 * @param whole true when no more bytes will come
 * @returns null while it has not ended, 'too-long' when it is longer than a header may be
 */
export function readCsvHead(
  bytes: Buffer,
  whole: boolean,
  delimiter: Delimiter | null = null,
): CsvHead | null | 'too-long' {
  const bom = bytes.subarray(0, BOM.length).equals(BOM);
  const from = bom ? BOM.length : 0;
  // One byte more than is allowed, to tell a header line that is too long.
  const begun = bytes.subarray(0, from + HEADER_BYTES_MAX + 1);
  const first = lineEnd(begun, from, delimiter);
  if (first < 0 && !whole && bytes.length - from <= HEADER_BYTES_MAX) return null;
  const chosen =
    delimiter ?? sniffDelimiter(begun.toString('utf8', from, first < 0 ? begun.length : first));
  // A quote behind another delimiter than this one is text, and the line may end before it closes.
  const own = lineEnd(begun, from, chosen);
  const end = first < 0 || (own >= 0 && own < first) ? own : first;
  const length = (end < 0 ? bytes.length : end) - from;
  if (length > HEADER_BYTES_MAX) return 'too-long';
  // A CR at the very end may belong to an LF that is still to come.
  if (!whole && (end < 0 || (bytes[end] === CR && end + 1 === bytes.length))) return null;
  const header = Buffer.from(bytes.subarray(from, from + length));
  const text = header.toString('utf8');
  const newline = end < 0 ? '\n' : newlineAt(bytes, end);
  const quoteAll = text !== '' && cellsOf(text, chosen).every((cell) => /^".*"$/s.test(cell));
  return {
    dialect: { delimiter: chosen, newline, quoteAll },
    bom,
    header,
    bytes: end < 0 ? bytes.length : end + newline.length,
  };
}

const NEEDS_QUOTES = /["\r\n]|^\s|\s$/;

/** A cell as the file would write it. */
export function csvCell(text: string, { delimiter, quoteAll }: Dialect): string {
  if (text === '' && !quoteAll) return text;
  const quoted = quoteAll || text.includes(delimiter) || NEEDS_QUOTES.test(text);
  if (!quoted) return text;
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

/** Cells that stand behind others: each begins with the delimiter. */
export function csvCells(cells: readonly string[], dialect: Dialect): string {
  let text = '';
  for (const cell of cells) text += dialect.delimiter + csvCell(cell, dialect);
  return text;
}
