/** Removes kept answers that have expired. */
import {
  AGE_PREFIX,
  ageKey,
  type AgeRecord,
  keptKey,
  parseAge,
  parseKept,
} from './idempotency-record.js';
import { orSetAside } from './set-aside.js';
import { addShare } from './share.js';
import type { Store, StoreTransaction } from './store.js';

/** Answers removed in one transaction. */
export const SWEEP_BATCH_MAX = 500;

/** Damage in one account's records does not keep those of others from expiring. */
function expire(transaction: StoreTransaction, age: AgeRecord): void {
  // Another server may have removed it meanwhile.
  if (transaction.get(ageKey(age)) === undefined) return;
  const key = keptKey(age.account, age.hash);
  const found = orSetAside(transaction, key, () => transaction.get(key));
  // The key may have been used again since.
  if (found !== undefined && found !== null && parseKept(found).at === age.at) {
    transaction.remove(key);
  }
  addShare(transaction, 'kept', age.account, -age.bytes);
  transaction.remove(ageKey(age));
}

/**
 * Removes answers that were kept at times up to `before`, which is called for each batch; returns
 * how many.
 */
export async function sweepKept(store: Store, before: () => number): Promise<number> {
  let swept = 0;
  for (;;) {
    const until = before();
    const oldest = store
      .list([AGE_PREFIX], SWEEP_BATCH_MAX)
      .map(parseAge)
      .filter(({ at }) => at <= until);
    if (oldest.length === 0) return swept;
    await store.write(
      (transaction) => {
        for (const age of oldest) expire(transaction, age);
      },
      { quiet: true },
    );
    swept += oldest.length;
  }
}
