/** Lists of street names, for finding a name written with one typo. */
import { NAME_LENGTH_MAX } from '../../dataset/street-typo.js';
import { ByteSink } from './bytes.js';

/**
 * Names by length: u32 offset of each length 1…63 and of the end, then the names of a length one
 * after the other in order. A search touches three lengths and steps by a fixed width.
 */
export function encodeNames(names: Iterable<string>): Uint8Array {
  const byLength: Uint8Array[][] = [];
  for (const name of [...new Set(names)].sort()) {
    const bytes = Buffer.from(name, 'utf8');
    if (bytes.length < 1 || bytes.length > NAME_LENGTH_MAX) continue;
    (byLength[bytes.length] ??= []).push(bytes);
  }
  const sink = new ByteSink();
  let offset = (NAME_LENGTH_MAX + 1) * 4;
  for (let length = 1; length <= NAME_LENGTH_MAX; length += 1) {
    sink.u32(offset);
    offset += (byLength[length]?.length ?? 0) * length;
  }
  sink.u32(offset);
  for (const names of byLength) for (const bytes of names ?? []) sink.raw(bytes);
  return sink.copy();
}

/** The names that `encodeNames` wrote. */
export function* decodeNames(list: Uint8Array): Generator<string> {
  const bytes = Buffer.from(list.buffer, list.byteOffset, list.length);
  for (let length = 1; length <= NAME_LENGTH_MAX; length += 1) {
    const end = bytes.readUInt32LE(length * 4);
    for (let at = bytes.readUInt32LE((length - 1) * 4); at < end; at += length) {
      yield bytes.toString('utf8', at, at + length);
    }
  }
}
