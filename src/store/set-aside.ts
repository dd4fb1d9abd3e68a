/** Continues in spite of a damaged record, by putting it aside. */
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';
import type { StoreTransaction } from './transaction.js';

/**
 * The result of `read` for the record under a key; null where the record is damaged, and it is then
 * put aside.
 */
export function orSetAside<T>(
  transaction: Pick<StoreTransaction, 'setAside'>,
  key: StoreKey,
  read: () => T,
): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    transaction.setAside(key);
    return null;
  }
}

/** What a count is read with. With a transaction, a damaged count is also written again. */
export type CountReader = Pick<StoreTransaction, 'get' | 'list'> &
  Partial<Pick<StoreTransaction, 'known' | 'put' | 'setAside'>>;

/**
 * The record of a count; undefined where nothing was counted. A damaged count must not lock out
 * those whose records it counts, so it is put aside and counted again from the records. For that
 * reason a count is changed before the records that it counts.
 */
export function countRecord(reader: CountReader, key: StoreKey, countAnew: () => object): unknown {
  // Most counts are changed in commit after commit, so the previous value is often still known.
  const known = reader.known?.(key) ?? null;
  if (known !== null) return known;
  try {
    return reader.get(key);
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    const anew = countAnew();
    reader.setAside?.(key, true);
    reader.put?.(key, anew);
    return anew;
  }
}
