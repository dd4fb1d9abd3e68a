/** Rows of a publisher's text file, plain or gzipped, one at a time. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import Papa from 'papaparse';
import { csvRows } from './csv-rows.js';

/** Opens a file as UTF-8 text, unpacking it when its name ends in .gz. */
export function openText(path: string): Readable {
  const file = createReadStream(path, { highWaterMark: 1 << 18 });
  if (!path.endsWith('.gz')) return file;
  const unpacked = createGunzip();
  file.on('error', (error) => unpacked.destroy(error));
  return file.pipe(unpacked);
}

/** Yields the lines of a file without a byte order mark. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const lines = createInterface({ input: openText(path), crlfDelay: Infinity });
  let first = true;
  for await (const line of lines) {
    yield first ? line.replace(/^\uFEFF/, '') : line;
    first = false;
  }
}

/** Yields the fields of every row. Quotes are read in comma files only, newlines within too. */
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
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
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

// Reading publishers' tables: text in, records by column name out.

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
