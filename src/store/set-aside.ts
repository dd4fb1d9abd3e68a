/** Work that goes on beside a damaged record. */
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';
import type { StoreTransaction } from './store.js';

/**
 * What `read` makes of the record under a key. Where that is damaged it is put aside, told of, and
 * what is made is null.
 */
export function orSetAside<T>(
  transaction: Pick<StoreTransaction, 'setAside'>, key: StoreKey, read: () => T,
  told: (error: unknown) => void = () => undefined,
): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    transaction.setAside(key);
    told(error);
    return null;
  }
}
