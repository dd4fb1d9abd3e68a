/** JavaScript values as bodies of answers between the threads. */
import { deserialize, serialize } from 'node:v8';
import { aligned } from '../base/byte-writer.js';
import type { BodyPart } from './types.js';

/** Bytes for the length of a value. What follows the value begins at a multiple of this. */
const LENGTH_BYTES = 8;

/**
 * A value as an answer's body, followed by `rest` if given. It is serialized as messages between
 * threads are, which keeps every string as it is and needs no parser of our own.
 */
export function packValue(value: object, rest?: Uint8Array): readonly BodyPart[] {
  const packed = serialize(value);
  const bytes = Buffer.alloc(aligned(LENGTH_BYTES + packed.length));
  bytes.writeUInt32LE(packed.length);
  packed.copy(bytes, LENGTH_BYTES);
  return rest === undefined ? [bytes] : [bytes, rest];
}

/** Reads the value of a body that `packValue` wrote. */
export function unpackValue<T extends object>(body: Uint8Array): T {
  return unpackWithRest<T>(body).value;
}

/** Reads the value and the bytes that follow it, which are a view. */
export function unpackWithRest<T extends object>(
  body: Uint8Array,
): { readonly value: T; readonly rest: Uint8Array } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  const value: T = deserialize(bytes.subarray(LENGTH_BYTES, end));
  return { value, rest: body.subarray(aligned(end)) };
}
