/**
 * What a request says about the end of its body. The native server takes the first of several
 * lengths and whatever is named for an encoding as chunks; something in front of it may read them
 * otherwise, and a body would become a request of somebody else. What can be read in two ways is
 * refused. A single field is checked, of several each.
 */
import type { RawRequest } from './transport.js';

/** `chunked`: the end of the body is not to be trusted. `refused`: nothing of it is. */
export type Framing = 'plain' | 'chunked' | 'refused';

const LENGTH = /^\d{1,15}$/;

/** The name of a field as the native server takes it at less than half the cost of a text. */
export function fieldName(text: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(text)).buffer;
}

const ENCODING = fieldName('transfer-encoding');
export const CONTENT_LENGTH = fieldName('content-length');

/** Looks at all fields of a request; for those that may have a body. */
export function framingOf(request: RawRequest): Framing {
  const lengths: string[] = [];
  const encodings: string[] = [];
  request.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') encodings.push(value);
  });
  const [length] = lengths;
  const [encoding] = encodings;
  if (encoding !== undefined) {
    const chunked = encodings.length === 1 && lengths.length === 0
      && encoding.toLowerCase() === 'chunked';
    return chunked ? 'chunked' : 'refused';
  }
  if (length === undefined) return 'plain';
  const one = LENGTH.test(length) && lengths.every((each) => each === length);
  return one ? 'plain' : 'refused';
}

/** The same for GET, where all fields are looked at only when one of the two says something. */
export function framingOfGet(request: RawRequest): Framing {
  return request.getHeader(ENCODING) === '' && request.getHeader(CONTENT_LENGTH) === ''
    ? 'plain' : framingOf(request);
}
