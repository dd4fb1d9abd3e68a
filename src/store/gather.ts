/** Reads all records below a key; other requests are answered meanwhile. */
import type { StoreKey } from './format.js';
import type { StoreEntry } from './store.js';

/** Records read at once. */
export const GATHER_BATCH = 500;

/** What reads records in the order of their keys: the store. */
export interface StoreScanner {
  scan(after: StoreKey | null, limit: number): readonly StoreEntry[];
}

/** What reads the keys below a prefix: the store. */
interface KeyScanner {
  keys(prefix: StoreKey, limit: number, after: StoreKey): readonly StoreKey[];
}

/**
 * What `read` makes of every record whose key begins with a prefix, in the order of keys, without
 * what it makes null of: the first `most` of those after a key. What is added meanwhile may be
 * among it.
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
    const last = batch.at(-1);
    if (last === undefined || batch.length < GATHER_BATCH) return gathered;
    after = last.key;
    await new Promise(setImmediate);
  }
}

/**
 * What `read` makes of every key that begins with a prefix, in order, without what it makes null
 * of. No record is read, so none that is damaged is in the way.
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
