/**
 * JSON bodies of requests. The content type is not asked for: a body is JSON in UTF-8 or it is
 * refused, whatever the client calls it.
 */
import { isTooDeep, JSON_DEPTH_MAX } from '../provider/json-depth.js';

const DECODER = new TextDecoder('utf-8', { fatal: true });

export type JsonObject = Readonly<Record<string, unknown>>;

export type JsonBody =
  | { readonly object: JsonObject }
  /** Why it is none, for a 400. Nothing of the body is repeated: it may hold a secret. */
  | { readonly malformed: string };

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a body that must be one JSON object. */
export function readJsonObject(body: Uint8Array): JsonBody {
  if (body.length === 0) return { malformed: 'The body is empty; it must be a JSON object.' };
  if (isTooDeep(body)) {
    return { malformed: `The body has more than ${JSON_DEPTH_MAX} levels of lists and objects.` };
  }
  let text: string;
  try {
    text = DECODER.decode(body);
  } catch {
    return { malformed: 'The body is not UTF-8.' };
  }
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { object: value } : { malformed: 'The body is not a JSON object.' };
  } catch {
    return { malformed: 'The body is not JSON.' };
  }
}
