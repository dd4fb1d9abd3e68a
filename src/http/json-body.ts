/**
 * JSON bodies of requests that are read on the main thread. The content type is not asked for: a
 * body is JSON in UTF-8 or it is refused, whatever the client calls it.
 */
import { parseJsonObject, type JsonBody } from '../base/json-object.js';

export type { JsonBody, JsonObject } from '../base/json-object.js';

/**
 * Longer bodies are read by workers, where nobody waits for them: the parser and what comes after
 * it take up to a millisecond for each 64 KiB of hostile JSON.
 */
export const PARSED_BYTES_MAX = 65_536;

/**
 * Reads a body that must be one JSON object.
 * @throws Error for a body that is too long to be read here; that is a bug of the route.
 */
export function readJsonObject(body: Uint8Array): JsonBody {
  if (body.length > PARSED_BYTES_MAX) throw new Error(`a body of ${body.length} bytes was parsed`);
  return parseJsonObject(body);
}
