/** Reads all records below a key, in batches, so that other requests are answered in between. */
import type { StoreKey } from './format.js';
import type { StoreEntry } from './store.js';

/** Most records in a batch. */
export const GATHER_BATCH = 500;

/** The part of the store that reads records in the order of their keys. */
export interface StoreScanner {
  scan(after: StoreKey | null, limit: number): readonly StoreEntry[];
}

/** The part of the store that reads the keys below a prefix. */
interface KeyScanner {
  keys(prefix: StoreKey, limit: number, after: StoreKey): readonly StoreKey[];
}

/**
 * The results of `read` for every record whose key begins with a prefix, in the order of keys,
 * without nulls: the first `most` of those after a key. May include records that are added
 * meanwhile.
 */
export async function gather<T>(
  store: StoreScanner,
  prefix: StoreKey,
  read: (record: unknown) => T | null,
  most = Infinity,
  from: StoreKey = prefix,
): Promise<T[]> {
  const gathered: T[] = [];
  for (let after = from; ; ) {
    const batch = store.scan(after, GATHER_BATCH);
    for (const { key, record } of batch) {
      if (!prefix.every((part, index) => key[index] === part)) return gathered;
      const made = read(record);
      if (made !== null) gathered.push(made);
      if (gathered.length >= most) return gathered;
    }
    // A batch of few records may have many bytes.
    const last = batch.at(-1);
    if (last === undefined) return gathered;
    after = last.key;
    await new Promise(setImmediate);
  }
}

/**
 * The results of `read` for every key that begins with a prefix, in order, without nulls. The
 * records are not read, so damaged ones do not matter.
 */
export async function gatherKeys<T>(
  store: KeyScanner,
  prefix: StoreKey,
  read: (key: StoreKey) => T | null,
): Promise<T[]> {
  const gathered: T[] = [];
  for (let after = prefix; ; ) {
    const keys = store.keys(prefix, GATHER_BATCH, after);
    for (const key of keys) {
      const made = read(key);
      if (made !== null) gathered.push(made);
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < GATHER_BATCH) return gathered;
    after = last;
    await new Promise(setImmediate);
  }
}
