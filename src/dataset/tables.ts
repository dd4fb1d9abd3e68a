/**
 * The seam between LMDB and the indexes kept in it: a table of bytes by key. Implementations may
 * return a view that the next `get` on any table overwrites, so readers copy what they keep.
 */
export interface ByteTable<K extends number | string> {
  get(key: K): Uint8Array | null;
}

/** What a builder hands to the writer: bytes by key, in any order, keys unique. */
export type ByteEntries<K extends number | string> = Iterable<readonly [K, Uint8Array]>;
