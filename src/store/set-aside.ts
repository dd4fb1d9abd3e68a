/** Work that goes on beside a damaged record. */
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';
import type { StoreTransaction } from './transaction.js';

/** What `read` makes of the record under a key; null where that is damaged, and put aside. */
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

/** What a count is read with; where a damaged one may also be written anew, a transaction. */
export type CountReader = Pick<StoreTransaction, 'get' | 'list'> &
  Partial<Pick<StoreTransaction, 'known' | 'put' | 'setAside'>>;

/**
 * The record of a count, undefined where nothing was counted. A damaged one must not lock out those
 * whose records it counts: it is put aside and counted anew from the records that are there. So a
 * count is changed before the records it counts.
 */
export function countRecord(reader: CountReader, key: StoreKey, countAnew: () => object): unknown {
  // Most are changed by commit after commit.
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
