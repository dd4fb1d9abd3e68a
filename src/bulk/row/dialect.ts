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

/** For each byte the place of the delimiter that it is, from 1 on; 0 for what is none. */
function kindsOf(delimiters: readonly Delimiter[]): Uint8Array {
  const kinds = new Uint8Array(256);
  delimiters.forEach((delimiter, at) => {
    kinds[delimiter.charCodeAt(0)] = at + 1;
  });
  return kinds;
}

const ANY_DELIMITER = kindsOf(DELIMITERS);

/** Is told of a delimiter outside of quotes: which one it is, from 1 on, and its place. */
type Border = (kind: number, at: number) => void;

/**
 * Follows the quotes of a header line as those of a record: one opens at the beginning of a field
 * alone, and an inch mark behind other text is text. Fields begin behind any delimiter until it is
 * told from the line which one holds. All others wait while up to 64 KiB are gone through, hence
 * one loop over bytes and a table of what each is.
 */
class QuoteScan {
  readonly #kinds: Uint8Array;
  #state = FIELD_START;

  constructor(delimiter: Delimiter | null) {
    this.#kinds = delimiter === null ? ANY_DELIMITER : kindsOf([delimiter]);
  }

  /**
   * Where a line ends outside of quotes from here on; −1 when it does not. With a `border` to tell
   * of, all bytes are one header line, which may end elsewhere by this scan than by the one it was
   * cut with.
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

/** Where the first line ends outside quotes; −1 when it does not. */
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

/** Whether every cell of a header line stands in quotes; borders within quotes are none. */
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

/** Tells the delimiter that splits a header line into most cells; a comma where none does. */
export function sniffDelimiter(header: Uint8Array): Delimiter {
  const counts = DELIMITERS.map(() => 0);
  lineEnd(header, 0, null, (kind) => {
    counts[kind - 1]! += 1;
  });
  // Where two occur equally often, the first.
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
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
    delimiter ?? sniffDelimiter(begun.subarray(from, first < 0 ? begun.length : first));
  // A quote behind another delimiter than this one is text, and the line may end before it closes.
  const own = lineEnd(begun, from, chosen);
  const end = first < 0 || (own >= 0 && own < first) ? own : first;
  const length = (end < 0 ? bytes.length : end) - from;
  if (length > HEADER_BYTES_MAX) return 'too-long';
  // A CR at the very end may belong to an LF that is still to come.
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
