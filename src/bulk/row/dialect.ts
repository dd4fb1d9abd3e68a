/**
 * How a CSV file is written. This is read from its header line, and kept in what is added to the
 * file.
 */
import { HEADER_BYTES_MAX } from './record-form.js';

/** In order of preference where two are equally frequent. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export const NEWLINES = ['\n', '\r\n', '\r'] as const;
type Newline = (typeof NEWLINES)[number];

export interface Dialect {
  readonly delimiter: Delimiter;
  /**
   * The line end of the header line, which lines of our own have too. Rows keep their line ends.
   */
  readonly newline: Newline;
  /** Whether every cell of the header is quoted, so that added cells are quoted too. */
  readonly quoteAll: boolean;
}

export interface CsvHead {
  readonly dialect: Dialect;
  /** Whether the file begins with a UTF-8 byte order mark. */
  readonly bom: boolean;
  /** The header line without byte order mark and line end. */
  readonly header: Buffer;
  /** Number of bytes before the first row. */
  readonly bytes: number;
}

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** The byte order mark of UTF-8. */
export const BOM = Buffer.from('\ufeff', 'utf8');

/** States of a scan within a header line. */
const FIELD_START = 0;
const IN_FIELD = 1;
const IN_QUOTES = 2;
/**
 * After a quote within quotes: another quote makes one quote of the text, anything else means that
 * the first has closed the field.
 */
const QUOTE_SEEN = 3;

/** For each byte, the index of that delimiter plus one; 0 for any other byte. */
function kindsOf(delimiters: readonly Delimiter[]): Uint8Array {
  const kinds = new Uint8Array(256);
  delimiters.forEach((delimiter, at) => {
    kinds[delimiter.charCodeAt(0)] = at + 1;
  });
  return kinds;
}

const ANY_DELIMITER = kindsOf(DELIMITERS);

/** Called for each delimiter outside quotes, with its index plus one and its position. */
type Border = (kind: number, at: number) => void;

/**
 * Follows the quotes of a header line like those of a record: only at the beginning of a field does
 * a quote open; after other text it is text, such as an inch mark. Until the delimiter is known, a
 * field may begin after any delimiter. Up to 64 KiB are scanned while all other requests wait, so
 * this is one loop over bytes with a table.
 */
class QuoteScan {
  readonly #kinds: Uint8Array;
  #state = FIELD_START;

  constructor(delimiter: Delimiter | null) {
    this.#kinds = delimiter === null ? ANY_DELIMITER : kindsOf([delimiter]);
  }

  /**
   * Position of the first line end outside quotes from `from` on; −1 where there is none. With
   * `border`, all bytes are taken as one header line: line ends are not looked for, since the scan
   * by which the line was cut may have placed quotes differently.
   */
  lineEnd(bytes: Uint8Array, from: number, border: Border | null = null): number {
    const kinds = this.#kinds;
    let state = this.#state;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (state === IN_QUOTES) {
        if (byte === QUOTE) state = QUOTE_SEEN;
      } else if (byte === QUOTE) {
        if (state !== IN_FIELD) state = IN_QUOTES;
      } else if ((byte === LF || byte === CR) && border === null) break;
      else if (kinds[byte] === 0) state = IN_FIELD;
      else {
        state = FIELD_START;
        border?.(kinds[byte]!, at);
      }
    }
    this.#state = state;
    return at < bytes.length ? at : -1;
  }
}

/** Tells whether a header line that comes in pieces may be complete; each byte is scanned once. */
export class HeaderEnd {
  readonly #quotes: QuoteScan;
  /** How many bytes of a byte order mark were skipped; what follows the mark begins a field. */
  #marked = 0;
  #passed = false;

  constructor(delimiter: Delimiter | null = null) {
    this.#quotes = new QuoteScan(delimiter);
  }

  /** Adds a piece. Returns true once there was a line end outside quotes. */
  passed(piece: Uint8Array): boolean {
    let from = 0;
    while (this.#marked < BOM.length && from < piece.length) {
      if (piece[from] === BOM[this.#marked]) {
        this.#marked += 1;
        from += 1;
      } else this.#marked = BOM.length;
    }
    this.#passed ||= this.#quotes.lineEnd(piece, from) >= 0;
    return this.#passed;
  }
}

/** Position of the first line end outside quotes; −1 where there is none. */
function lineEnd(
  bytes: Uint8Array,
  from: number,
  delimiter: Delimiter | null,
  border: Border | null = null,
): number {
  return new QuoteScan(delimiter).lineEnd(bytes, from, border);
}

function newlineAt(bytes: Uint8Array, end: number): Newline {
  if (bytes[end] === LF) return '\n';
  return bytes[end + 1] === LF ? '\r\n' : '\r';
}

/** Whether every cell of a header line is in quotes. Delimiters within quotes do not count. */
function isQuoted(header: Uint8Array, delimiter: Delimiter): boolean {
  const own = DELIMITERS.indexOf(delimiter) + 1;
  let from = 0;
  let isAll = true;
  const end = (to: number): void => {
    isAll &&= to > from + 1 && header[from] === QUOTE && header[to - 1] === QUOTE;
    from = to + 1;
  };
  lineEnd(header, 0, null, (kind, at) => {
    if (kind === own) end(at);
  });
  end(header.length);
  return isAll;
}

/** The delimiter that splits a header line into most cells; a comma where no delimiter occurs. */
export function sniffDelimiter(header: Uint8Array): Delimiter {
  const counts = DELIMITERS.map(() => 0);
  lineEnd(header, 0, null, (kind) => {
    counts[kind - 1]! += 1;
  });
  // Of delimiters that are equally frequent, the first one counts.
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/**
 * Whether the bytes begin a text in UTF-16 or UTF-32, which is not read. It has a byte order mark,
 * or zeros in its first characters, which text in UTF-8 never has.
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

/** Whether the bytes are the beginning of gzip data. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Reads the header line at the beginning of a file.
 * @param whole true when no more bytes will come
 * @returns null while the line is not complete, 'too-long' when it is longer than allowed
 */
export function readCsvHead(
  bytes: Buffer,
  whole: boolean,
  delimiter: Delimiter | null = null,
): CsvHead | null | 'too-long' {
  const bom = bytes.subarray(0, BOM.length).equals(BOM);
  const from = bom ? BOM.length : 0;
  // One byte more than allowed, so that a line that is too long can be recognized.
  const begun = bytes.subarray(0, from + HEADER_BYTES_MAX + 1);
  const first = lineEnd(begun, from, delimiter);
  if (first < 0 && !whole && bytes.length - from <= HEADER_BYTES_MAX) return null;
  const chosen =
    delimiter ?? sniffDelimiter(begun.subarray(from, first < 0 ? begun.length : first));
  // After a delimiter other than the chosen one, a quote is text, so the line may end earlier than
  // in the first scan.
  const own = lineEnd(begun, from, chosen);
  const end = first < 0 || (own >= 0 && own < first) ? own : first;
  const length = (end < 0 ? bytes.length : end) - from;
  if (length > HEADER_BYTES_MAX) return 'too-long';
  // A CR at the very end may be followed by an LF that has not come yet.
  if (!whole && (end < 0 || (bytes[end] === CR && end + 1 === bytes.length))) return null;
  const header = Buffer.from(bytes.subarray(from, from + length));
  const newline = end < 0 ? '\n' : newlineAt(bytes, end);
  return {
    dialect: { delimiter: chosen, newline, quoteAll: isQuoted(header, chosen) },
    bom,
    header,
    bytes: end < 0 ? bytes.length : end + newline.length,
  };
}

const NEEDS_QUOTES = /["\r\n]|^\s|\s$/;

/** A cell, quoted where the dialect needs that. */
export function csvCell(text: string, { delimiter, quoteAll }: Dialect): string {
  if (text === '' && !quoteAll) return text;
  const quoted = quoteAll || text.includes(delimiter) || NEEDS_QUOTES.test(text);
  if (!quoted) return text;
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

/** Cells to be added after others: each begins with the delimiter. */
export function csvCells(cells: readonly string[], dialect: Dialect): string {
  let text = '';
  for (const cell of cells) text += dialect.delimiter + csvCell(cell, dialect);
  return text;
}
