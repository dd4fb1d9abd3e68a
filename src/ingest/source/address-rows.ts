/** Rows of a publisher's text file, plain or gzipped, one at a time. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { Readable } from 'node:stream';
import Papa from 'papaparse';

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
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, { delimiter, skipEmptyLines: true });
  const text = openText(path);
  text.on('error', (error) => parser.destroy(error));
  text.pipe(parser);
  let first = true;
  for await (const row of parser) {
    const fields = row as string[];
    if (first) fields[0] = (fields[0] ?? '').replace(/^\uFEFF/, '');
    first = false;
    yield fields;
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
