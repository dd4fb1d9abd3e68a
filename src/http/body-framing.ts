/**
 * What a request says about the end of its body. The native server takes the first of several
 * lengths and whatever is named for an encoding as chunks; something in front of it may read them
 * otherwise, and a body would become a request of somebody else. What can be read in two ways is
 * refused. A single field is checked, of several each.
 */

/** `chunked`: the end of the body is not to be trusted. `refused`: nothing of it is. */
export type Framing = 'plain' | 'chunked' | 'refused';

const LENGTH = /^\d{1,15}$/;

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
  return !lengthsDiffer && LENGTH.test(length) ? 'plain' : 'refused';
}
