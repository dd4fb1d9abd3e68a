/**
 * Reads JSON bodies on the main thread. The content type does not matter: a body is JSON in UTF-8,
 * or it is refused.
 */
import { excessOf } from '../base/json-scan.js';
import { LOOKED_AT_BYTES_MAX, parseJsonObject, type JsonBody } from '../base/json-object.js';

/** Longer bodies are read by workers, where no other request waits for them. */
export const PARSED_BYTES_MAX = LOOKED_AT_BYTES_MAX;

/**
 * Bodies of more values also go to workers, or are refused: parsing 64 KiB of empty objects and
 * what follows it takes some milliseconds. No body that only this thread reads has 100 values.
 */
export const PARSED_VALUES_MAX = 1_000;

/** Whether a body is short enough to be read on this thread. */
export function isReadHere(body: Uint8Array): boolean {
  return body.length <= PARSED_BYTES_MAX && excessOf(body, PARSED_VALUES_MAX) !== 'values';
}

/**
 * Reads a body that must be one JSON object of at most PARSED_VALUES_MAX values.
 * @throws Error for a body that is too long for this thread; that is a bug of the route.
 */
export function readJsonObject(body: Uint8Array): JsonBody {
  if (body.length > PARSED_BYTES_MAX) throw new Error(`a body of ${body.length} bytes was parsed`);
  return parseJsonObject(body, PARSED_VALUES_MAX);
}
