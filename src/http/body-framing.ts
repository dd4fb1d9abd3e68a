/**
 * What a request says about the end of its body. The native server takes the first of several
 * lengths and whatever is named for an encoding as chunks; something in front of it may read them
 * otherwise, and a body would become a request of somebody else. What can be read in two ways is
 * refused. A single field is checked, of several each.
 */

/** `chunked`: the end of the body is not to be trusted. `refused`: nothing of it is. */
export type Framing = 'plain' | 'chunked' | 'refused';

/** Digits of a length at most. */
const LENGTH_DIGITS_MAX = 15;

const ZERO = 48;

/** A length as a field tells it; NaN for what is none. */
export function lengthOf(text: string): number {
  if (text === '' || text.length > LENGTH_DIGITS_MAX) return Number.NaN;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    length = length * 10 + digit;
  }
  return length;
}

/** The name of a field as the native server takes it at less than half the cost of a text. */
export function fieldName(text: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(text)).buffer;
}

/** Fields that are asked for of most requests, or of all with a body. */
export const FIELDS = {
  key: fieldName('x-api-key'),
  requestId: fieldName('x-request-id'),
  connection: fieldName('connection'),
  contentLength: fieldName('content-length'),
  contentType: fieldName('content-type'),
  encoding: fieldName('transfer-encoding'),
  idempotencyKey: fieldName('idempotency-key'),
} as const;

/**
 * What the fields of a request say: the first length, whether others differ from it, the first
 * encoding, and how many are named.
 */
export function framingBy(
  length: string | null,
  lengthsDiffer: boolean,
  encoding: string | null,
  encodings: number,
): Framing {
  if (encoding !== null) {
    const chunked = encodings === 1 && length === null && encoding.toLowerCase() === 'chunked';
    return chunked ? 'chunked' : 'refused';
  }
  if (length === null) return 'plain';
  return !lengthsDiffer && !Number.isNaN(lengthOf(length)) ? 'plain' : 'refused';
}
