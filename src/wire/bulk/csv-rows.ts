/** Records of a chunk to cells. */
import Papa from 'papaparse';
import type { Dialect } from './dialect.js';
import type { RawChunk } from './framing.js';

const LF = 10;
const CR = 13;

/** Where a record ends without its line end. */
export function contentEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  if (at > start && bytes[at - 1] === LF) at -= 1;
  if (at > start && bytes[at - 1] === CR) at -= 1;
  return at;
}

/** The rows of a well-formed text; null when it is not. */
function parse(
  text: string, delimiter: string, newline: Dialect['newline'],
): readonly (readonly string[])[] | null {
  const parser = new Papa.Parser({ delimiter, newline, quoteChar: '"', escapeChar: '"' });
  const result: Papa.ParseResult<readonly string[]> = parser.parse(text, 0, false);
  return result.errors.length === 0 ? result.data : null;
}

/** A record on its own; null when its quotes do not match. */
function parseRecord(text: string, delimiter: string): readonly string[] | null {
  if (!text.includes('"')) return text.split(delimiter);
  // What line ends there are stand inside quotes.
  const rows = parse(text, delimiter, '\r\n');
  return rows?.length === 1 ? rows[0]! : null;
}

/**
 * The cells of each record, null for one that is no row. The chunk is parsed as a whole where it
 * is well formed; else each record on its own, so that none touches its neighbours.
 */
export function csvRows(
  { bytes, ends }: RawChunk, { delimiter, newline }: Dialect,
): readonly (readonly string[] | null)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = contentEnd(bytes, ends.length > 1 ? ends[ends.length - 2]! : 0, bytes.length);
  const whole = ends.every((end, index) => end > (index === 0 ? 0 : ends[index - 1]!))
    ? parse(buffer.toString('utf8', 0, last), delimiter, newline) : null;
  if (whole !== null && whole.length === ends.length) return whole;
  const rows: (readonly string[] | null)[] = [];
  let start = 0;
  for (const end of ends) {
    const text = buffer.toString('utf8', start, contentEnd(bytes, start, end));
    rows.push(end === start ? null : parseRecord(text, delimiter));
    start = end;
  }
  return rows;
}
