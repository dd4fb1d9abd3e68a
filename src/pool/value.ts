/** Values on their way between the threads, as bodies of answers. */
import { deserialize, serialize } from 'node:v8';
import { aligned } from '../base/byte-writer.js';
import type { BodyPart } from './types.js';

/** Bytes of the length of a value; what follows the value begins at a multiple of this. */
const LENGTH_BYTES = 8;

/**
 * A value as an answer's body, and bytes after it where there are any. It has the form that
 * messages between threads have, which keeps every text as it is and is read without a parser.
 */
export function packValue(value: object, rest?: Uint8Array): readonly BodyPart[] {
  const packed = serialize(value);
  const bytes = Buffer.alloc(aligned(LENGTH_BYTES + packed.length));
  bytes.writeUInt32LE(packed.length);
  packed.copy(bytes, LENGTH_BYTES);
  return rest === undefined ? [bytes] : [bytes, rest];
}

/** Reads a body that `packValue` wrote with a value of this type. */
export function unpackValue<T extends object>(body: Uint8Array): T {
  return unpackWithRest<T>(body).value;
}

/** The same with the bytes after the value, which are a view. */
export function unpackWithRest<T extends object>(
  body: Uint8Array,
): { readonly value: T; readonly rest: Uint8Array } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  const value: T = deserialize(bytes.subarray(LENGTH_BYTES, end));
  return { value, rest: body.subarray(aligned(end)) };
}
