/**
 * Deleted merchants and locations. Their records stay and count for their account's share; when
 * that runs short, those deleted long ago are removed.
 *
 * ["retired", time, ...key of the record]   RetiredRecord; in order of time, for sweeping, which
 * reads no more than the key
 */
import { DamagedRecord } from './fault.js';
import { timeText, type StoreKey } from './format.js';
import { gatherKeys } from './gather.js';
import { MERCHANT_PREFIX, NEXUS_PREFIX } from './merchant-format.js';
import { nexusCountKey } from './nexus-count.js';
import { orSetAside } from './set-aside.js';
import { removeShared, shareBytes, SHARE_BYTES_MAX } from './share.js';
import type { Store, StoreTransaction } from './store.js';

const RETIRED_PREFIX = 'retired';

/** How long a deleted record stays in any case. */
export const RETIRED_MS_MAX = 30 * 86_400_000;
/** Half of an account's share: as long as it uses no more, all deleted records stay. */
const RETIRED_BYTES_KEPT = SHARE_BYTES_MAX.merchants / 2;
/** Records that are examined in one transaction. */
const BATCH_MAX = 200;
/** Locations that are removed with their merchant in one transaction. */
const LOCATIONS_MAX = 500;

interface RetiredRecord {
  readonly v: 1;
  /** Time of deletion by the service's own clock. */
  readonly at: number;
  readonly account: string;
  /** Key of the deleted record. */
  readonly key: StoreKey;
}

function retiredKey({ at, key }: RetiredRecord): StoreKey {
  return [RETIRED_PREFIX, timeText(at), ...key];
}

/** The record, which its key contains completely. */
function retiredOf([, time, ...key]: StoreKey): RetiredRecord {
  return { v: 1, at: Number(time), account: key[1] ?? '', key };
}

/** Records that a record was deleted at a time of the service's own clock. */
export function retire(
  transaction: Pick<StoreTransaction, 'put'>,
  account: string,
  key: StoreKey,
  at: number,
): void {
  const record: RetiredRecord = { v: 1, at, account, key };
  transaction.put(retiredKey(record), record);
}

/** Keys of a merchant's locations; their records are not read. */
function locationsOf(store: Store, account: string, merchantId: string): readonly StoreKey[] {
  const below = [NEXUS_PREFIX, account, merchantId];
  return store.keys(below, LOCATIONS_MAX);
}

/** Removes a record. A damaged one still counts for the share, since it is put aside. */
function removeSound(transaction: StoreTransaction, account: string, key: StoreKey): void {
  orSetAside(transaction, key, () => removeShared(transaction, account, key));
}

/** Removes a record; false when a part of it is left for another transaction. */
function removeOne(store: Store, transaction: StoreTransaction, retired: RetiredRecord): boolean {
  const { account, key } = retired;
  const [prefix, , merchantId = ''] = key;
  if (prefix === MERCHANT_PREFIX) {
    const locations = locationsOf(store, account, merchantId);
    for (const location of locations) removeSound(transaction, account, location);
    if (locations.length === LOCATIONS_MAX) return false;
    transaction.remove(nexusCountKey(account, merchantId));
  }
  removeSound(transaction, account, key);
  transaction.remove(retiredKey(retired));
  return true;
}

/**
 * Whether another server has not removed it yet. Only the key matters, so a damaged record counts.
 */
function isThere(transaction: StoreTransaction, key: StoreKey): boolean {
  try {
    return transaction.get(key) !== undefined;
  } catch (error) {
    if (error instanceof DamagedRecord) return true;
    throw error;
  }
}

/**
 * Removes what was deleted long enough ago from accounts that need the room; returns how many
 * records were removed.
 * @param now time of the service's own clock, since the machine's may be set years ahead
 * @param bytesKept accounts whose share is no larger keep all they deleted
 */
export async function sweepRetired(
  store: Store,
  now: number,
  bytesKept = RETIRED_BYTES_KEPT,
): Promise<number> {
  const due = await gatherKeys(store, [RETIRED_PREFIX], (key) => {
    const retired = retiredOf(key);
    return retired.at + RETIRED_MS_MAX <= now ? retired : null;
  });
  let swept = 0;
  for (let from = 0; from < due.length; from += BATCH_MAX) {
    swept += await store.write(
      (transaction) => {
        let removed = 0;
        for (const retired of due.slice(from, from + BATCH_MAX)) {
          if (!isThere(transaction, retiredKey(retired))) continue;
          if (shareBytes(transaction, 'merchants', retired.account) <= bytesKept) continue;
          if (!removeOne(store, transaction, retired)) break;
          removed += 1;
        }
        return removed;
      },
      { quiet: true },
    );
  }
  return swept;
}
