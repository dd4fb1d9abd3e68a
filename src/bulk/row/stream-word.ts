/** Recognizes messages that look like control messages of a stream but are not written as such. */
import { ROW_PARAMETERS } from '../../api/lookup/parameter-table.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { fail, type Failure } from '../../failure.js';
import type { JsonObject } from '../../base/json-object.js';

/** Longest control message. A longer message is always answered as a message. */
export const WORD_BYTES_MAX = 64;

const ALONE = `alone in a message of up to ${WORD_BYTES_MAX} bytes.`;
const ACK = wrongParameter(
  'ack',
  `the number of the last answer that came, a whole number of up to 15 digits, ${ALONE}`,
);
const END = wrongParameter('end', `true, ${ALONE}`);

/** A longer name of an unknown member is cut where it is repeated. */
const NAME_CHARS_MAX = 40;

/**
 * What is wrong with a message that has no parameter of a lookup: it is a malformed control
 * message, or has an unknown member. Null where it is a lookup.
 */
export function wordProblem(object: JsonObject): Failure | null {
  if (ROW_PARAMETERS.some((name) => object[name] !== undefined)) return null;
  if ('ack' in object) return ACK;
  if ('end' in object) return END;
  const stranger = Object.keys(object).find((name) => name !== 'id');
  if (stranger === undefined) return null;
  const name = stranger.slice(0, NAME_CHARS_MAX);
  return fail(
    'invalid-postal-code',
    `Parameter ${name} is not known; a message is a lookup, a cart ` +
      'with "items", {"ack":N} or {"end":true}.',
    null,
  );
}
