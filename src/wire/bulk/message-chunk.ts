/**
 * Messages of a stream to lines. A message is a lookup (the parameters of version 60 as members) or
 * a cart (a member `items`), and its line begins with its number: `{"seq":1,"id":null,…}`.
 */
import { isUtf8 } from 'node:buffer';
import { isTooDeep, JSON_DEPTH_MAX } from '../../provider/json-depth.js';
import type { ByteWriter } from './byte-writer.js';
import { answerCartRow, isCartRow, type CartAnswer } from './cart-row.js';
import { contentEnd } from './csv-rows.js';
import type { RawChunk } from './framing.js';
import { ID_CHARS_MAX } from './limit.js';
import {
  answerLookupRow, guarded, malformed, refused, type JsonObject, type RowEngine,
} from './row.js';
import { isRowId, writeLine, type RowId } from './row-line.js';
import type { Tally } from './tally.js';

type ReadMessage = { readonly row: JsonObject } | { readonly problem: string };

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sentence of a message that was left out for its size. */
export const MESSAGE_TOO_LONG = 'The message is longer than a message may be.';

function readMessage(bytes: Buffer, text: string): ReadMessage {
  if (bytes.length === 0) return { problem: MESSAGE_TOO_LONG };
  if (text.trim() === '') return { problem: 'The message is empty.' };
  if (!isUtf8(bytes)) return { problem: 'The message is not valid UTF-8.' };
  if (isTooDeep(bytes)) return { problem: `The message has more than ${JSON_DEPTH_MAX} levels.` };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { row: value } : { problem: 'The message is no JSON object.' };
  } catch {
    return { problem: 'The message is not valid JSON.' };
  }
}

function answerMessage(engine: RowEngine, row: JsonObject, text: string): CartAnswer {
  if (isCartRow(row)) return answerCartRow(engine, row, text);
  const { refusal } = engine.job;
  return refusal === undefined ? answerLookupRow(engine, row) : refused(engine, refusal);
}

/** Answers each message with one line. */
export function messagesToLines(
  engine: RowEngine, { line: first, bytes, ends }: RawChunk, into: ByteWriter, tally: Tally,
): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (const [index, end] of ends.entries()) {
    const whole = buffer.subarray(start, end);
    const text = whole.toString('utf8', 0, contentEnd(whole, 0, whole.length));
    const read = readMessage(whole, text);
    let id: RowId = null;
    const answer: CartAnswer = guarded(engine, () => {
      if ('problem' in read) return malformed(engine, read.problem);
      const given = read.row['id'] ?? null;
      if (!isRowId(given)) {
        return malformed(engine, `Parameter id: up to ${ID_CHARS_MAX} characters, or a whole `
          + 'number that a double holds exactly.', 'id');
      }
      id = given;
      return answerMessage(engine, read.row, text);
    });
    tally.add(answer, writeLine(into, first + index, id, answer, answer.field, 'seq'));
    start = end;
  }
}
