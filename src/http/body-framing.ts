/**
 * Checks how a request marks the end of its body. Of several lengths the native server takes the
 * first, and it takes any transfer encoding for chunks. A proxy in front may read them otherwise,
 * and then a part of one body would pass for a request of somebody else. So a request that can be
 * read in two ways is refused. A field that occurs once is checked too, and each one that is
 * repeated.
 */

/** `chunked`: the end of the body cannot be relied on. `refused`: the whole request cannot. */
export type Framing = 'plain' | 'chunked' | 'refused';

/** Most digits of a length. */
const LENGTH_DIGITS_MAX = 15;

const ZERO = 48;

/** The number in a length field; NaN for a text that is no length. */
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

/**
 * The name of a field in the form that costs the native server less than half as much as a text.
 */
export function fieldName(text: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(text)).buffer;
}

/** Fields that are read of most requests, or of every request with a body. */
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
 * Judges the framing by the first length, whether other lengths differ from it, the first encoding,
 * and the number of encodings.
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
