/**
 * Keys as bytes whose order is that of the keys: the parts in UTF-8 with a zero between them. The
 * two lowest characters are written as two bytes, so that no part holds the zero.
 */
import type { StoreKey } from '../format.js';

const ESCAPED: ReadonlyMap<string, string> = new Map([['\0', '\x01\x01'], ['\x01', '\x01\x02']]);
const PLAIN: ReadonlyMap<string, string> = new Map([['\x01\x01', '\0'], ['\x01\x02', '\x01']]);

/** Bytes of a key. */
export function keyBytes(key: StoreKey): Buffer {
  return Buffer.from(key.map((part) => part.replace(/[\0\x01]/g, (each) => ESCAPED.get(each)!))
    .join('\0'));
}

/** The key of some bytes. */
export function keyOf(bytes: Uint8Array): StoreKey {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split('\0')
    .map((part) => part.replace(/\x01[\x01\x02]/g, (each) => PLAIN.get(each)!));
}
