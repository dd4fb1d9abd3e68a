import type { StreetKey } from './street-format.js';

/**
 * The seam between LMDB and the indexes kept in it: a table of bytes by key. Implementations may
 * return a view that the next `get` on any table overwrites, so readers copy what they keep.
 */
export interface ByteTable<K extends number | string> {
  get(key: K): Uint8Array | null;
}

/** The street table: besides its texts, groups by a key in bytes. */
export interface StreetTable extends ByteTable<string> {
  /**
   * A group to be read by index up to its `length`, and by nothing else: the memory behind it may
   * be larger, and the next read of any table overwrites it.
   */
  group(key: StreetKey): Uint8Array | null;
}

/** What a builder hands to the writer: bytes by key, in any order, keys unique. */
export type ByteEntries<K extends number | string> = Iterable<readonly [K, Uint8Array]>;
