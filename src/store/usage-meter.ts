/** What one key used in the current month. */
import {
  parseUsageRecord,
  type Quotas,
  type StoreKey,
  USAGE_PREFIX,
  usageKey,
  type UsageRecord,
} from './format.js';
import { orSetAside } from './set-aside.js';
import type { Store, StoreTransaction } from './store.js';

/** A billing period: a calendar month of UTC, whatever the time zone of machine or place. */
export interface Month {
  /** YYYYMM */
  readonly name: string;
  /** The millisecond at which it begins. */
  readonly startsAt: number;
  /** The millisecond at which the next month begins. */
  readonly endsAt: number;
}

/** The month that holds a moment given in milliseconds since 1970. */
export function monthAt(now: number): Month {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${year}${String(month + 1).padStart(2, '0')}`,
    startsAt: Date.UTC(year, month, 1),
    endsAt: Date.UTC(year, month + 1, 1),
  };
}

export interface Counts {
  readonly core: number;
  readonly geo: number;
  readonly merchant: number;
}

export const NO_COUNTS: Counts = { core: 0, geo: 0, merchant: 0 };

/** Counts and so many times others. */
export function plusCounts({ core, geo, merchant }: Counts, more: Counts, times: 1 | -1): Counts {
  return {
    core: core + times * more.core,
    geo: geo + times * more.geo,
    merchant: merchant + times * more.merchant,
  };
}

/** What is metered: a key with its limits. */
export interface Metered extends Quotas {
  readonly id: string;
  readonly account: string;
  readonly grants: number;
  /** A hint where to look for its counts first; keys without one share the first place. */
  readonly slot?: number;
}

/** Counts that are to be added to a stored record. */
export interface UsageDelta extends Counts {
  readonly month: string;
  readonly id: string;
  readonly account: string;
}

/** How usage is counted. */
export interface UsageOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly flushMs?: number;
  /** Told once when counts cannot be stored; they are kept and tried again. */
  readonly failed?: (error: unknown) => void;
  /** Whether other servers may count too; what they counted is looked up where a limit asks. */
  readonly shared?: () => boolean;
}

/** Counters of a key; plain members, because every request touches them. */
export class Meter {
  readonly id: string;
  readonly account: string;
  /** The key that it was last asked for with: nothing of it changes. */
  key: Metered | null = null;
  /** Used in this month, stored or not. */
  core = 0;
  geo = 0;
  merchant = 0;
  /** The part of these that is not stored yet. */
  newCore = 0;
  newGeo = 0;
  newMerchant = 0;
  /** The part of the used that is stored with something else, later, or never. */
  open: Counts = NO_COUNTS;
  /** True while it waits for the next batch. */
  dirty = false;
  /** Transactions under way that add rows to what is stored. */
  storing = 0;
  /** When it was last looked up what other servers counted. */
  turn = 0;
  /** Requests under way that may come to be counted; kept for limited keys alone. */
  heldCore = 0;
  heldGeo = 0;
  heldMerchant = 0;

  constructor(id: string, account: string) {
    this.id = id;
    this.account = account;
  }

  /** Takes what is not stored yet. */
  take(month: string): UsageDelta {
    const { id, account, newCore: core, newGeo: geo, newMerchant: merchant } = this;
    this.newCore = this.newGeo = this.newMerchant = 0;
    this.dirty = false;
    return { month, id, account, core, geo, merchant };
  }

  /** What is stored is now this; other processes may have counted too. */
  stored({ core, geo, merchant }: Counts): void {
    this.core = core + this.newCore + this.open.core;
    this.geo = geo + this.newGeo + this.open.geo;
    this.merchant = merchant + this.newMerchant + this.open.merchant;
  }

  /** Gives back the places of a request that is over. */
  release(held: number): void {
    if ((held & HELD_CORE) !== 0) this.heldCore -= 1;
    if ((held & HELD_GEO) !== 0) this.heldGeo -= 1;
    if ((held & HELD_MERCHANT) !== 0) this.heldMerchant -= 1;
  }
}

export const HELD_CORE = 1;
export const HELD_GEO = 2;
export const HELD_MERCHANT = 4;

/** A request that its quotas let through; to be settled once. */
export class Admission {
  readonly meter: Meter;
  /** Entitlement bits of the key, less those whose quota is used up. */
  readonly grants: number;
  /** Counters in which it holds a place. */
  readonly held: number;

  constructor(meter: Meter, grants: number, held: number) {
    this.meter = meter;
    this.grants = grants;
    this.held = held;
  }
}

/*
 * What is stored of usage: read by month, and added to.
 */

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
    v: 1,
    id,
    account,
    month,
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
  store: Store,
  deltas: readonly UsageDelta[],
): Promise<readonly UsageRecord[]> {
  // What may be stored must not be added again: it waits until that is known.
  return store.write((transaction) => deltas.map((delta) => addTo(transaction, delta)), {
    quiet: true,
    certain: true,
  });
}
