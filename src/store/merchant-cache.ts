/** Finds merchants without touching the disk. */
import type { MerchantRecord } from './merchant-format.js';
import { findMerchant } from './merchants.js';
import type { Store } from './store.js';

/** Merchants remembered, some 500 bytes each. */
const RECENT_MAX = 10_000;

/** A damaged record is taken for none: in the middle of a run nobody could answer an exception. */
function readable(store: Store, account: string, merchantId: string): MerchantRecord | null {
  return findMerchant({ get: (key) => store.getSound(key) }, account, merchantId);
}

/**
 * Finds live merchants: null for an unknown id, another account's or a deleted one alike; where it
 * is not known whether there is one, as `Store.vouchForNone`, a StoreFault is thrown. Those asked
 * for lately are remembered, as every cart and every row names one. A change of any merchant
 * forgets them all: one of this process before it is acknowledged, one of another within `POLL_MS`.
 */
export function merchantFinder(
  store: Store,
): (account: string, merchantId: string) => MerchantRecord | null {
  const recent = new Map<string, MerchantRecord>();
  store.watchMerchants(() => recent.clear());
  return (account, merchantId) => {
    // The length tells where the account ends.
    const id = `${account.length}:${account}${merchantId}`;
    const known = recent.get(id);
    if (known !== undefined) return known;
    const found = readable(store, account, merchantId);
    if (found === null) return store.vouchForNone();
    if (recent.size >= RECENT_MAX) recent.clear();
    recent.set(id, found);
    return found;
  };
}
