/**
 * Merchants and locations that were deleted: their records stay, and count for their account's
 * share. Where that gets scarce, those that were deleted long ago go.
 *
 * ["retired", time, ...key of the record]   RetiredRecord; in order of time, for sweeping, which
 *                                           reads no more than the key
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

/** How long a deleted record stays whatever else its account has. */
export const RETIRED_MS_MAX = 30 * 86_400_000;
/** Half of an account's share: up to here everything deleted stays. */
const RETIRED_BYTES_KEPT = SHARE_BYTES_MAX.merchants / 2;
/** Records looked at in one transaction. */
const BATCH_MAX = 200;
/** Locations of a merchant that go with it in one transaction. */
const LOCATIONS_MAX = 500;

interface RetiredRecord {
  readonly v: 1;
  /** Time of the service's own clock. */
  readonly at: number;
  readonly account: string;
  /** Of the record that was deleted. */
  readonly key: StoreKey;
}

function retiredKey({ at, key }: RetiredRecord): StoreKey {
  return [RETIRED_PREFIX, timeText(at), ...key];
}

/** What a key tells, which is all. */
function retiredOf([, time, ...key]: StoreKey): RetiredRecord {
  return { v: 1, at: Number(time), account: key[1] ?? '', key };
}

/** Notes that a record was deleted at a time of the service's own clock. */
export function retire(
  transaction: Pick<StoreTransaction, 'put'>,
  account: string,
  key: StoreKey,
  at: number,
): void {
  const record: RetiredRecord = { v: 1, at, account, key };
  transaction.put(retiredKey(record), record);
}

/** Keys of locations of a merchant; whatever is in their records. */
function locationsOf(store: Store, account: string, merchantId: string): readonly StoreKey[] {
  const below = [NEXUS_PREFIX, account, merchantId];
  return store.keys(below, LOCATIONS_MAX);
}

/** Removes a record; a damaged one goes on taking room, as it is put aside. */
function removeSound(transaction: StoreTransaction, account: string, key: StoreKey): void {
  orSetAside(transaction, key, () => removeShared(transaction, account, key));
}

/** Removes one; false when more of it is left for another transaction. */
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

/** Whether another server has left it; its key says all, so a damaged record counts as one. */
function isThere(transaction: StoreTransaction, key: StoreKey): boolean {
  try {
    return transaction.get(key) !== undefined;
  } catch (error) {
    if (error instanceof DamagedRecord) return true;
    throw error;
  }
}

/**
 * Removes what was deleted long enough ago where its account needs the room, and returns how many
 * records that were: deleted merchants and locations are retained as long as there is any.
 * @param now time of the service's own clock: the machine's may be set ahead by years
 * @param bytesKept accounts whose share holds no more keep all they deleted
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
