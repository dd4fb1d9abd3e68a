/**
 * Counts once for a store what accounts had before shares were counted. After that, every
 * transaction maintains the counts.
 */
import { isObject } from '../base/json-object.js';
import type { StoreKey } from './format.js';
import { gatherKeys } from './gather.js';
import {
  CREDENTIALS_PREFIX,
  MERCHANT_PREFIX,
  merchantKey,
  NEXUS_PREFIX,
  nexusKey,
  parseCredentials,
  parseMerchant,
} from './merchant-format.js';
import { setNexusCount } from './nexus-count.js';
import { parseNexus } from './nexus.js';
import { retire } from './retired.js';
import { recordBytes, setShare } from './share.js';
import type { Store } from './store.js';

/** Set when everything was counted: { v }. */
export const COUNTED_KEY: StoreKey = ['meta', 'shares'];
/** Version of the way of counting; the first one left out credentials. */
const COUNTED_VERSION = 2;

/** Counts that are stored in one transaction. */
const BATCH_MAX = 500;

interface Deleted {
  readonly account: string;
  readonly key: StoreKey;
  readonly at: number;
}

interface Totals {
  readonly bytes: Map<string, number>;
  readonly deleted: Deleted[];
  /** Locations that are not deleted, by merchant. */
  readonly locations: Map<string, { readonly account: string; readonly id: string; count: number }>;
}

function note(totals: Totals, account: string, record: unknown): void {
  totals.bytes.set(account, (totals.bytes.get(account) ?? 0) + recordBytes(record));
}

/**
 * Adds up the records of a kind. A damaged record is left out: it is reported where it is needed,
 * and must not stop the service.
 */
async function addUp<T>(
  store: Store,
  totals: Totals,
  prefix: string,
  parse: (value: unknown) => T,
  look: (record: T) => void = () => undefined,
): Promise<void> {
  const readable = (key: StoreKey): { readonly value: unknown; readonly record: T } | null => {
    const value = store.getSound(key);
    try {
      return { value, record: parse(value) };
    } catch {
      return null;
    }
  };
  await gatherKeys(store, [prefix], (key) => {
    const found = readable(key);
    if (found === null) return null;
    note(totals, key[1] ?? '', found.value);
    look(found.record);
    return null;
  });
}

async function countAll(store: Store): Promise<Totals> {
  const totals: Totals = { bytes: new Map(), deleted: [], locations: new Map() };
  await addUp(store, totals, MERCHANT_PREFIX, parseMerchant, (merchant) => {
    const { account, merchantId, deletedAt } = merchant;
    const key = merchantKey(account, merchantId);
    if (deletedAt !== undefined) totals.deleted.push({ account, key, at: deletedAt });
  });
  await addUp(store, totals, NEXUS_PREFIX, parseNexus, (location) => {
    const { account, merchantId, locationId, deletedAt } = location;
    if (deletedAt !== undefined) {
      const key = nexusKey(account, merchantId, locationId);
      totals.deleted.push({ account, key, at: deletedAt });
      return;
    }
    const name = `${merchantId} ${account}`;
    const known = totals.locations.get(name) ?? { account, id: merchantId, count: 0 };
    known.count += 1;
    totals.locations.set(name, known);
  });
  await addUp(store, totals, CREDENTIALS_PREFIX, parseCredentials);
  return totals;
}

/**
 * Stores the list of deleted records and the numbers of locations, which transactions now maintain.
 */
async function putLists(store: Store, { deleted, locations }: Totals): Promise<void> {
  const counts = [...locations.values()];
  const batches = Math.ceil(Math.max(deleted.length, counts.length) / BATCH_MAX);
  for (let batch = 0; batch < batches; batch += 1) {
    const [from, to] = [batch * BATCH_MAX, (batch + 1) * BATCH_MAX];
    await store.write(
      (transaction) => {
        if (isCounted(transaction.get(COUNTED_KEY))) return;
        for (const { account, key, at } of deleted.slice(from, to)) {
          retire(transaction, account, key, at);
        }
        for (const { account, id, count } of counts.slice(from, to)) {
          setNexusCount(transaction, account, id, count);
        }
      },
      { quiet: true },
    );
  }
}

function isCounted(marked: unknown): boolean {
  return isObject(marked) && Number(marked['v']) >= COUNTED_VERSION;
}

/**
 * Counts a store that was not counted yet, or in an earlier way. To be called before anything is
 * served from it. Where servers start together, the first count holds, because the others cannot
 * know what that server has changed since.
 */
export async function countShares(store: Store): Promise<void> {
  const marked = store.get(COUNTED_KEY);
  if (isCounted(marked)) return;
  const totals = await countAll(store);
  // A store that was counted in the first way has these lists already.
  if (marked === undefined) await putLists(store, totals);
  await store.write(
    (transaction) => {
      if (isCounted(transaction.get(COUNTED_KEY))) return;
      for (const [account, used] of totals.bytes) setShare(transaction, 'merchants', account, used);
      transaction.put(COUNTED_KEY, { v: COUNTED_VERSION });
    },
    { quiet: true },
  );
}
