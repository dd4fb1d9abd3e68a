/** Parses JSON texts, above all bodies that must be one object. */
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

/**
 * A parsed body, or the problem to answer with, which repeats no part of the body: it may hold a
 * secret.
 */
export type JsonBody = { readonly object: JsonObject } | Problem;

/** Tells an object from every other JSON value. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined, which is no JSON value, for any other text. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text in UTF-8, with or without a byte order mark; undefined for other bytes.
 */
function parsedBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(DECODER.decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** The JSON value in a file; undefined where it has none or cannot be read. */
export function jsonFile(path: string): unknown {
  try {
    return parsedText(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The JSON value of a text if `isMeant` accepts it; null otherwise. */
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
 * Longer texts are scanned before they are parsed. V8 keeps a text that it fails to parse until its
 * next full collection, and a client that sends such texts would make everyone wait for that.
 */
const TRIED_BYTES_MAX = 4_096;
/**
 * Still longer texts are parsed by workers only, where no other request waits, so they are not
 * scanned first.
 */
export const LOOKED_AT_BYTES_MAX = 65_536;

/** Whether a scan has shown that a text is no JSON. Only texts of medium length are scanned. */
function isKnownBroken(body: Uint8Array): boolean {
  const { length } = body;
  return length > TRIED_BYTES_MAX && length <= LOOKED_AT_BYTES_MAX && !jsonSummary(body).isJson;
}

/** Why a text is no JSON object, found without building any value; null when it is one. */
export function malformationOf(body: Uint8Array): Problem | null {
  if (body.length === 0) return problem(400, EMPTY);
  if (excessOf(body) === 'levels') return problem(400, `The body has ${EXCESSES.levels}.`);
  if (!isUtf8(body)) return problem(400, NOT_UTF8);
  if (!jsonSummary(body).isJson) return problem(400, NOT_JSON);
  // Only blanks or a byte order mark may come before the first brace.
  const before = Buffer.from(body.buffer, body.byteOffset, body.indexOf(OPEN_BRACE) + 1);
  return /^\ufeff?\s*\{$/.test(before.toString('utf8')) ? null : problem(400, NO_OBJECT);
}

/** Parses a body that must be one JSON object of at most `valuesMax` values. */
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
