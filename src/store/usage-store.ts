/** What is stored of usage: read by month, and added to. */
import {
  parseUsageRecord, USAGE_PREFIX, usageKey, type StoreKey, type UsageRecord,
} from './format.js';
import { orSetAside } from './set-aside.js';
import type { Store, StoreTransaction } from './store.js';
import { NO_COUNTS, type Counts, type UsageDelta } from './usage-meter.js';

/** Reads one month's records from a store. */
export function listUsage(store: Store, month: string): readonly UsageRecord[] {
  return store.list([USAGE_PREFIX, month]).map(parseUsageRecord);
}

/** What is stored of a key. A damaged record is put aside, so that the others go on. */
function countsAt(transaction: StoreTransaction, key: StoreKey): Counts {
  const found = orSetAside(transaction, key, () => transaction.get(key)) ?? undefined;
  return found === undefined ? NO_COUNTS : parseUsageRecord(found);
}

/** Adds counts to what is stored of a key in a month, and returns what is stored then. */
export function addTo(transaction: StoreTransaction, delta: UsageDelta): UsageRecord {
  const { month, id, account } = delta;
  const key = usageKey(month, id);
  const before = countsAt(transaction, key);
  const record: UsageRecord = {
    v: 1, id, account, month,
    core: before.core + delta.core,
    geo: before.geo + delta.geo,
    merchant: before.merchant + delta.merchant,
  };
  transaction.put(key, record);
  return record;
}

/**
 * Adds counts to what is stored, and returns what is stored then.
 * @throws StoreFault when they are not, or nobody knows.
 */
export function storeUsage(
  store: Store, deltas: readonly UsageDelta[],
): Promise<readonly UsageRecord[]> {
  // What may be stored must not be added again: it waits until that is known.
  return store.write((transaction) => deltas.map((delta) => addTo(transaction, delta)), {
    quiet: true, certain: true,
  });
}
