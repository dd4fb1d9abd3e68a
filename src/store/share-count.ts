/**
 * Counts what accounts had before shares were counted, once for a store: from then on every
 * transaction keeps the counts.
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

/** Written when everything was counted: { v }. */
export const COUNTED_KEY: StoreKey = ['meta', 'shares'];
/** How it is counted; the first way left out the credentials. */
const COUNTED_VERSION = 2;

/** Counts written in one transaction. */
const BATCH_MAX = 500;

interface Deleted {
  readonly account: string;
  readonly key: StoreKey;
  readonly at: number;
}

interface Totals {
  readonly bytes: Map<string, number>;
  readonly deleted: Deleted[];
  /** Live locations by merchant. */
  readonly locations: Map<string, { readonly account: string; readonly id: string; count: number }>;
}

function note(totals: Totals, account: string, record: unknown): void {
  totals.bytes.set(account, (totals.bytes.get(account) ?? 0) + recordBytes(record));
}

/**
 * Adds up the records of a kind. A damaged one is told of where it is asked for, and keeps nobody
 * from being served.
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

/** Writes down what was deleted and the numbers of locations, as every transaction does since. */
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
 * Counts a store that was not counted, or not as now; to be called before anything is served from
 * it. Of servers that start together the first to have counted is right: what it serves from then
 * on the others know nothing of.
 */
export async function countShares(store: Store): Promise<void> {
  const marked = store.get(COUNTED_KEY);
  if (isCounted(marked)) return;
  const totals = await countAll(store);
  // What was counted in the first way has its lists already.
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
