/** JSON texts that must be one object. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { EXCESSES, excessOf, JSON_VALUES_MAX } from './json-scan.js';
import { jsonSummary } from './json-text.js';
import { problem, type Problem } from './problem.js';

const DECODER = new TextDecoder('utf-8', { fatal: true });

const EMPTY = 'The body is empty; it must be a JSON object.';
const NOT_UTF8 = 'The body is not UTF-8.';
const NOT_JSON = 'The body is not JSON.';
const NO_OBJECT = 'The body is not a JSON object.';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A body; a problem where it is none, which repeats nothing of it: it may hold a secret. */
export type JsonBody = { readonly object: JsonObject } | Problem;

/** Tells an object from every other JSON value. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined, which none has, for any other text. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The value of a JSON text in UTF-8, a byte order mark before it or not; undefined for others. */
function parsedBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(DECODER.decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** The JSON value that a file holds; undefined where it holds none or cannot be read. */
export function jsonFile(path: string): unknown {
  try {
    return parsedText(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The JSON value of a text where it is one that is meant; null for any other text. */
export function jsonOf<T>(text: string, isMeant: (value: unknown) => value is T): T | null {
  const value = parsedText(text);
  return isMeant(value) ? value : null;
}

/** The JSON value of a body; a problem where it is none. */
export function jsonOfBody(body: Uint8Array): { readonly value: unknown } | Problem {
  const value = parsedBytes(body);
  return value === undefined ? problem(400, 'The body is not JSON in UTF-8.') : { value };
}

const OPEN_BRACE = 0x7b;

/**
 * Longer texts are looked at before they are parsed: V8 keeps a text that it cannot parse until it
 * looks through all its memory, and a client that sends such texts makes everyone wait for that.
 */
const TRIED_BYTES_MAX = 4_096;
/** Still longer ones are read by workers alone, where nobody waits: one look is enough. */
export const LOOKED_AT_BYTES_MAX = 65_536;

/** Whether a text is known to be no JSON without a try. */
function isKnownBroken(body: Uint8Array): boolean {
  const { length } = body;
  return length > TRIED_BYTES_MAX && length <= LOOKED_AT_BYTES_MAX && !jsonSummary(body).isJson;
}

/** Why a text is no JSON object, told without making anything of it; null when it is one. */
export function malformationOf(body: Uint8Array): Problem | null {
  if (body.length === 0) return problem(400, EMPTY);
  if (excessOf(body) === 'levels') return problem(400, `The body has ${EXCESSES.levels}.`);
  if (!isUtf8(body)) return problem(400, NOT_UTF8);
  if (!jsonSummary(body).isJson) return problem(400, NOT_JSON);
  // What comes before the first brace of an object is blank, or a byte order mark.
  const before = Buffer.from(body.buffer, body.byteOffset, body.indexOf(OPEN_BRACE) + 1);
  return /^\ufeff?\s*\{$/.test(before.toString('utf8')) ? null : problem(400, NO_OBJECT);
}

/** Reads a body that must be one JSON object, of at most so many values. */
export function parseJsonObject(body: Uint8Array, valuesMax: number = JSON_VALUES_MAX): JsonBody {
  if (body.length === 0) return problem(400, EMPTY);
  const excess = excessOf(body, valuesMax);
  if (excess === 'values')
    return problem(400, `The body has more than ${valuesMax.toLocaleString('en')} values.`);
  if (excess !== null) return problem(400, `The body has ${EXCESSES[excess]}.`);
  if (!isUtf8(body)) return problem(400, NOT_UTF8);
  const value = isKnownBroken(body) ? undefined : parsedBytes(body);
  if (value === undefined) return problem(400, NOT_JSON);
  return isObject(value) ? { object: value } : problem(400, NO_OBJECT);
}
