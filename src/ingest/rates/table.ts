/** Reading publishers' tables: text in, records by column name out. */
import Papa from 'papaparse';

/** One data row by column name; a column the file lacks reads as "". */
export interface TableRow {
  readonly line: number;
  get(column: string): string;
}

/** Reads a table with a header line; `separator` is a tab or a comma, quotes as in RFC 4180. */
export function readTable(text: string, separator: '\t' | ','): readonly TableRow[] {
  const lines = splitRows(text, separator);
  const header = lines[0] ?? [];
  const columns = new Map(header.map((name, index) => [name.trim(), index]));
  return lines.slice(1).map((cells, index) => ({
    line: index + 2,
    get(column: string): string {
      const at = columns.get(column);
      return at === undefined ? '' : (cells[at] ?? '').trim();
    },
  }));
}

/** Reads a table without header as cells. */
export function splitRows(text: string, separator: '\t' | ','): readonly (readonly string[])[] {
  // Tab-separated lists carry bare quotes in names; only comma-separated files quote cells.
  const body = text.replace(/^\uFEFF/, '');
  if (separator === '\t') {
    return body.split(/\r?\n/).filter((line) => line !== '').map((line) => line.split('\t'));
  }
  return Papa.parse<string[]>(body, { delimiter: ',', skipEmptyLines: true }).data;
}

/** Writes a table; cells must not hold tabs or line ends. */
export function writeTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [header, ...rows].map((cells) => `${cells.join('\t')}\n`).join('');
}
