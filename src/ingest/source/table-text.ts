/** Publishers' tables, read from text into records by column name. */
import Papa from 'papaparse';

/** One data row by column name; a column that the file does not have reads as "". */
export interface TableRow {
  readonly line: number;
  get(column: string): string;
}

/** A text without the byte order mark that some programs put at its beginning. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

const SIGNS = { '\t': 'tabs', ',': 'commas', '|': 'bars' } as const;

/**
 * Reads a table with a header line and one separator; only comma-separated files have quotes.
 * @throws RangeError where its header has another separator.
 */
export function readTable(text: string, separator: '\t' | ',' | '|'): readonly TableRow[] {
  const lines = splitRows(text, separator);
  const header = lines[0] ?? [];
  if (header.length === 1 && /[\t,;|]/.test(header[0] ?? '')) {
    throw new RangeError(`its layout is another: columns are not parted by ${SIGNS[separator]}`);
  }
  const columns = new Map(header.map((name, index) => [name.trim(), index]));
  return lines.slice(1).map((cells, index) => ({
    line: index + 2,
    get(column: string): string {
      const at = columns.get(column);
      return at === undefined ? '' : (cells[at] ?? '').trim();
    },
  }));
}

/** Most rows of titles and dates above a header. */
const TITLE_ROWS_MAX = 40;

function plain(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

/** Index of the header among the first rows, which is the first with every column; -1 for none. */
export function headerAt(rows: readonly (readonly string[])[], columns: readonly string[]): number {
  return rows.slice(0, TITLE_ROWS_MAX).findIndex((cells) => {
    const names = new Set(cells.map(plain));
    return columns.every((column) => names.has(plain(column)));
  });
}

/**
 * Rows of a sheet in comma-separated text; empty ones are kept, so that rows keep their numbers.
 */
export function sheetRows(text: string): readonly (readonly string[])[] {
  return Papa.parse<string[]>(withoutMark(text), {
    delimiter: ',',
    skipEmptyLines: false,
  }).data;
}

/**
 * Reads a comma-separated table, whose header may follow titles, by column name in any case. If a
 * name occurs twice, the first column counts.
 * @throws RangeError where no row has every column, so that the layout is different.
 */
export function readBelowTitles(text: string, columns: readonly string[]): readonly TableRow[] {
  const rows = sheetRows(text);
  const at = headerAt(rows, columns);
  if (at < 0) throw new RangeError(`its layout is another: no header has ${columns.join(', ')}`);
  const header = rows[at]!.map(plain);
  return rows
    .slice(at + 1)
    .map((cells, index) => ({
      line: at + index + 2,
      filled: cells.some((cell) => cell.trim() !== ''),
      get(column: string): string {
        const place = header.indexOf(plain(column));
        return place < 0 ? '' : (cells[place] ?? '').trim();
      },
    }))
    .filter(({ filled }) => filled);
}

/** Reads a table without header as cells. */
export function splitRows(
  text: string,
  separator: '\t' | ',' | '|',
): readonly (readonly string[])[] {
  // Tab-separated lists have single quotes in names; only comma-separated files quote cells.
  const body = withoutMark(text);
  if (separator !== ',') {
    return body
      .split(/\r\n|\n|\r/)
      .filter((line) => line !== '')
      .map((line) => line.split(separator));
  }
  return Papa.parse<string[]>(body, { delimiter: ',', skipEmptyLines: true }).data;
}
