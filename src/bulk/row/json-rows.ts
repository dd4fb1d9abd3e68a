/** Records that are JSON objects: lines of NDJSON, and messages of a stream. */
import { isUtf8 } from 'node:buffer';
import { isTooDeep, JSON_DEPTH_MAX } from '../../base/json-scan.js';
import type { Failure } from '../../failure.js';
import { BOM } from './dialect.js';
import { TOO_LONG } from './csv-rows.js';
import { ID_CHARS_MAX } from './row-limits.js';
import { noRequest, UNREADABLE } from './row-parameters.js';
import type { JsonObject, JsonRow, Place, RowId } from './row.js';

/** What a record is called in sentences about it. */
type Noun = 'line' | 'message';

const MESSAGE_TOO_LONG = 'The message is longer than a message may be.';
const WRONG_ID = noRequest(`Parameter id: up to ${ID_CHARS_MAX} characters, or a whole number that `
  + 'a double holds exactly.', 'id');

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be an id: text of bounded length, or a whole number that JSON keeps. */
function isRowId(value: unknown): value is RowId {
  if (typeof value === 'string') return value.length <= ID_CHARS_MAX;
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** The object of a record, or the sentence that says why it is none. */
function parse(noun: Noun, bytes: Buffer, text: string): JsonObject | string {
  if (text.trim() === '') return `The ${noun} is empty.`;
  if (text.includes(UNREADABLE) && !isUtf8(bytes)) return `The ${noun} is not valid UTF-8.`;
  if (isTooDeep(bytes)) return `The ${noun} has more than ${JSON_DEPTH_MAX} levels.`;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : `The ${noun} is no JSON object.`;
  } catch {
    return `The ${noun} is not valid JSON.`;
  }
}

function noRow(problem: Failure): JsonRow {
  return { id: null, problem, object: {}, text: '' };
}

function read(noun: Noun, bytes: Buffer): JsonRow {
  const text = bytes.toString('utf8');
  const object = parse(noun, bytes, text);
  if (typeof object === 'string') return noRow(noRequest(object));
  const id = object['id'] ?? null;
  if (!isRowId(id)) return noRow(WRONG_ID);
  return { id, problem: null, object, text };
}

/** Where the first line of a file begins after a byte order mark. */
function contentStart({ bytes, line, start, stop }: Place): number {
  const marked = line === 1 && bytes.subarray(start, stop).indexOf(BOM) === 0;
  return marked ? start + BOM.length : start;
}

/** Reads a line of NDJSON. */
export function readLine(place: Place): JsonRow {
  const { bytes, start, stop, end } = place;
  return end === start ? noRow(noRequest(TOO_LONG))
    : read('line', bytes.subarray(contentStart(place), stop));
}

/** Reads a message of a stream. */
export function readMessage({ bytes, start, stop, end }: Place): JsonRow {
  return end === start ? noRow(noRequest(MESSAGE_TOO_LONG))
    : read('message', bytes.subarray(start, stop));
}
