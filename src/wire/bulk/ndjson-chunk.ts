/** Rows of NDJSON to lines. */
import { isUtf8 } from 'node:buffer';
import { isTooDeep, JSON_DEPTH_MAX } from '../../provider/json-depth.js';
import type { ByteWriter } from './byte-writer.js';
import { contentEnd } from './csv-rows.js';
import { BOM } from './dialect.js';
import type { RawChunk } from './framing.js';
import { ID_CHARS_MAX } from './limit.js';
import { guarded, malformed, type JsonObject, type JsonRow, type RowEngine } from './row.js';
import { isRowId, writeLine, type RowId } from './row-line.js';
import type { Tally } from './tally.js';

/** A row that can be asked, or the sentence that says why not. */
type ReadRow = { readonly row: JsonObject } | { readonly problem: string };

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readRow(bytes: Uint8Array, text: string): ReadRow {
  if (text.trim() === '') return { problem: 'The line is empty.' };
  if (isTooDeep(bytes)) return { problem: `The line has more than ${JSON_DEPTH_MAX} levels.` };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { row: value } : { problem: 'The line is no JSON object.' };
  } catch {
    return { problem: 'The line is not valid JSON.' };
  }
}

/** Sentence of a row that was left out for its size. */
export const TOO_LONG = 'The row is longer than a row may be.';

const TOO_LONG_ROW: ReadRow = { problem: TOO_LONG };

/** Where the first line begins after a byte order mark. */
function contentStart(bytes: Buffer, start: number, stop: number): number {
  return bytes.subarray(start, stop).indexOf(BOM) === 0 ? start + BOM.length : start;
}

/** Answers each line with one line. */
export function linesToLines(
  engine: RowEngine, json: JsonRow, { line, bytes, ends }: RawChunk, into: ByteWriter,
  tally: Tally,
): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoded = isUtf8(buffer);
  let start = 0;
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index]!;
    const stop = contentEnd(buffer, start, end);
    const from = line + index === 1 ? contentStart(buffer, start, stop) : start;
    const text = buffer.toString('utf8', from, stop);
    let read: ReadRow = end === start ? TOO_LONG_ROW : readRow(buffer.subarray(from, stop), text);
    if (!decoded && !isUtf8(buffer.subarray(start, stop))) {
      read = { problem: 'The line is not valid UTF-8.' };
    }
    let id: RowId = null;
    const answer = guarded(engine, () => {
      if ('problem' in read) return malformed(engine, read.problem);
      const given = read.row['id'] ?? null;
      if (!isRowId(given)) {
        return malformed(engine, `Parameter id: up to ${ID_CHARS_MAX} characters, or a whole `
          + 'number that a double holds exactly.', 'id');
      }
      id = given;
      return json(engine, read.row, text, line + index);
    });
    tally.add(answer, writeLine(into, line + index, id, answer, answer.field));
    start = end;
  }
}
