/** Rows of comma-separated text that comes in pieces, cut anywhere. */
import { StringDecoder } from 'node:string_decoder';
import Papa from 'papaparse';

/** The longest record; a quote that is never closed makes one of the rest of its file. */
const RECORD_CHARS_MAX = 1 << 24;
const QUOTED = /"(?:[^"]|"")*"/g;

type LineEnd = '\n' | '\r\n' | '\r';

/**
 * The line end of a text by what stands in its first piece outside quotes; null while no line has
 * ended, or while a return may still be followed by a line feed.
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
  text: string, newline: LineEnd, ignoreLast: boolean,
): { readonly data: readonly string[][]; readonly meta: { readonly cursor: number } } {
  return new Papa.Parser({ delimiter: ',', newline }).parse(text, 0, ignoreLast) as ReturnType<
    typeof parse>;
}

function isEmpty(row: readonly string[]): boolean {
  return row.length === 1 && row[0] === '';
}

/**
 * Takes pieces of text and gives the rows that are whole, in time linear in the text. Empty lines
 * are no rows, and a byte order mark is no text.
 */
class CsvRows {
  #rest = '';
  #lineEnd: LineEnd | null = null;
  #begun = false;

  /**
   * The rows that a piece completes.
   * @throws Error when a record is longer than any can be.
   */
  add(piece: string): readonly (readonly string[])[] {
    let text = this.#rest + piece;
    if (!this.#begun && text !== '') {
      this.#begun = true;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
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

  /** The row that no line end follows, if there is one. */
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

/** Yields the fields of every row of UTF-8 text, in whatever pieces its bytes come. */
export async function* csvRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const rows = new CsvRows();
  const decoder = new StringDecoder('utf8');
  for await (const piece of bytes) yield* rows.add(decoder.write(piece));
  yield* rows.add(decoder.end());
  yield* rows.end();
}
