/** Reads all records below a key; other requests are answered meanwhile. */
import type { StoreKey } from './format.js';
import type { StoreEntry } from './store.js';

/** Records read at once. */
export const GATHER_BATCH = 500;

/** What reads records in the order of their keys: the store. */
export interface StoreScanner {
  scan(after: StoreKey | null, limit: number): readonly StoreEntry[];
}

/**
 * What `read` makes of every record whose key begins with a prefix, in the order of keys, without
 * what it makes null of. What is added meanwhile may be among it.
 */
export async function gather<T>(
  store: StoreScanner, prefix: StoreKey, read: (record: unknown) => T | null,
): Promise<T[]> {
  const gathered: T[] = [];
  for (let after: StoreKey = prefix; ;) {
    const batch = store.scan(after, GATHER_BATCH);
    for (const { key, record } of batch) {
      if (!prefix.every((part, index) => key[index] === part)) return gathered;
      const made = read(record);
      if (made !== null) gathered.push(made);
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < GATHER_BATCH) return gathered;
    after = last.key;
    await new Promise(setImmediate);
  }
}
