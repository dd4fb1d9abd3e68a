/** Random ids (UUIDs), as this service makes and accepts them. */
import { randomFillSync } from 'node:crypto';

/** Letters may be upper or lower case. */
const DIGITS = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Matches a whole text that is an id. */
export const UUID = new RegExp(`^${DIGITS}$`, 'i');
/** Matches a whole JSON text that is an id in its quotes, without escapes. */
export const UUID_JSON = new RegExp(`^"${DIGITS}"$`, 'i');

const ID_BYTES = 16;
const ID_CHARS = 36;
/** Random bytes are drawn for this many ids at a time, since a call takes longer than the bytes. */
const DRAWN = 256;
const drawn = Buffer.allocUnsafeSlow(ID_BYTES * DRAWN);
let used = drawn.length;

const text = Buffer.alloc(ID_CHARS, '-', 'latin1');
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Where the two digits of each byte begin in the text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/** The bytes that hold the version, which is 4, and the variant (RFC 9562, 5.4). */
const VERSION_BYTE = 6;
const VARIANT_BYTE = 8;

/**
 * The characters of a random id, valid until the next call. They are bytes because the text of
 * Node's `randomUUID` is joined of twenty parts, which V8 must flatten before it can be written.
 */
export function randomId(): Uint8Array {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  for (let at = 0; at < ID_BYTES; at += 1) {
    let byte = drawn[used + at]!;
    if (at === VERSION_BYTE) byte = (byte & 0x0f) | 0x40;
    else if (at === VARIANT_BYTE) byte = (byte & 0x3f) | 0x80;
    const place = PLACES[at]!;
    text[place] = HEX[byte >>> 4]!;
    text[place + 1] = HEX[byte & 0x0f]!;
  }
  used += ID_BYTES;
  return text;
}

/**
 * The id that a hash in hexadecimal makes: its version is 8, by which the content is the program's
 * affair (RFC 9562, 5.8). `variant` is the digit of the variant, of which two bits are free.
 */
export function hashId(hash: string, variant = '8'): string {
  return (
    `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}` +
    `-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  );
}
