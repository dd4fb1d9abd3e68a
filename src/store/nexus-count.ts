/**
 * The number of a merchant's locations that are not deleted.
 *
 * ["nexus-count", account, merchant]   NexusCount
 */
import { isObject } from '../base/json-object.js';
import type { StoreKey } from './format.js';
import { LimitReached } from './transaction.js';
import { NEXUS_PREFIX } from './merchant-format.js';
import { number, recordReader } from './record-reader.js';
import { countRecord } from './set-aside.js';
import type { StoreTransaction } from './store.js';

/** Most locations of a merchant, which are all listed in one answer. */
export const NEXUS_LOCATIONS_MAX = 10_000;

const parseCount = recordReader('nexus count', 1, { count: number });

/** Key of the number of a merchant's locations. */
export function nexusCountKey(account: string, merchantId: string): StoreKey {
  return ['nexus-count', account, merchantId];
}

/** Stores the number of a merchant's locations. */
export function setNexusCount(
  transaction: Pick<StoreTransaction, 'put'>,
  account: string,
  merchantId: string,
  count: number,
): void {
  transaction.put(nexusCountKey(account, merchantId), { v: 1, count });
}

/**
 * Counts locations that are added or removed, before they are.
 * @throws LimitReached when a merchant would have too many.
 */
export function countNexus(
  transaction: StoreTransaction,
  account: string,
  merchantId: string,
  by: number,
): void {
  const found = countRecord(transaction, nexusCountKey(account, merchantId), () => {
    const live = transaction
      .list([NEXUS_PREFIX, account, merchantId])
      .filter((record) => isObject(record) && record['deletedAt'] === undefined);
    return { v: 1, count: live.length };
  });
  const count = found === undefined ? 0 : parseCount(found).count;
  if (by > 0 && count + by > NEXUS_LOCATIONS_MAX) {
    throw new LimitReached(
      `A merchant may have ${NEXUS_LOCATIONS_MAX} locations. Nothing was done.`,
      NEXUS_LOCATIONS_MAX,
    );
  }
  setNexusCount(transaction, account, merchantId, Math.max(0, count + by));
}
