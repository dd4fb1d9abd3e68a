/** Counts what one key uses in the current month. */
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

/** A billing period: a calendar month of UTC, regardless of the machine's time zone. */
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

/** The sum of counts and `times` other counts. */
export function plusCounts({ core, geo, merchant }: Counts, more: Counts, times: 1 | -1): Counts {
  return {
    core: core + times * more.core,
    geo: geo + times * more.geo,
    merchant: merchant + times * more.merchant,
  };
}

/** The members of a key that metering needs. */
export interface Metered extends Quotas {
  readonly id: string;
  readonly account: string;
  readonly grants: number;
  /** A hint where to look for its counts first. Keys without one all use slot 0. */
  readonly slot?: number;
}

/** Counts to be added to a stored record. */
export interface UsageDelta extends Counts {
  readonly month: string;
  readonly id: string;
  readonly account: string;
}

/** Options of counting. */
export interface UsageOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly flushMs?: number;
  /** Called once when counts cannot be stored. They are kept, and storing is repeated. */
  readonly failed?: (error: unknown) => void;
  /** Whether other servers may count too. What they counted is then read where there is a limit. */
  readonly shared?: () => boolean;
}

/** Counters of a key, as plain members because every request uses them. */
export class Meter {
  readonly id: string;
  readonly account: string;
  /** The record of the key that it was last used with, which never changes. */
  key: Metered | null = null;
  /** Used in this month, whether stored or not. */
  core = 0;
  geo = 0;
  merchant = 0;
  /** The part of the counts that is not stored yet. */
  newCore = 0;
  newGeo = 0;
  newMerchant = 0;
  /** The part of the counts that is stored together with other records, later or never. */
  open: Counts = NO_COUNTS;
  /** Whether it waits to be stored in the next batch. */
  dirty = false;
  /** Number of transactions under way that store counts of rows. */
  storing = 0;
  /** The turn in which the counts of other servers were last read. */
  turn = 0;
  /** Requests under way that may be counted; maintained only for keys with limits. */
  heldCore = 0;
  heldGeo = 0;
  heldMerchant = 0;

  constructor(id: string, account: string) {
    this.id = id;
    this.account = account;
  }

  /** Takes the counts that are not stored yet, to store them. */
  take(month: string): UsageDelta {
    const { id, account, newCore: core, newGeo: geo, newMerchant: merchant } = this;
    this.newCore = this.newGeo = this.newMerchant = 0;
    this.dirty = false;
    return { month, id, account, core, geo, merchant };
  }

  /** Sets the stored counts, which may include those of other processes. */
  stored({ core, geo, merchant }: Counts): void {
    this.core = core + this.newCore + this.open.core;
    this.geo = geo + this.newGeo + this.open.geo;
    this.merchant = merchant + this.newMerchant + this.open.merchant;
  }

  /** Releases the counts that a finished request had reserved. */
  release(held: number): void {
    if ((held & HELD_CORE) !== 0) this.heldCore -= 1;
    if ((held & HELD_GEO) !== 0) this.heldGeo -= 1;
    if ((held & HELD_MERCHANT) !== 0) this.heldMerchant -= 1;
  }
}

export const HELD_CORE = 1;
export const HELD_GEO = 2;
export const HELD_MERCHANT = 4;

/** A request that the quotas allow; it must be settled once. */
export class Admission {
  readonly meter: Meter;
  /** Entitlement bits of the key, without those whose quota is used up. */
  readonly grants: number;
  /** Counters in which it has reserved a count. */
  readonly held: number;

  constructor(meter: Meter, grants: number, held: number) {
    this.meter = meter;
    this.grants = grants;
    this.held = held;
  }
}

/** Stored usage: read by month, and added to. */

/** The usage records of a month in a store. */
export function listUsage(store: Store, month: string): readonly UsageRecord[] {
  return store.list([USAGE_PREFIX, month]).map(parseUsageRecord);
}

/** The stored counts of a key. A damaged record is put aside, so that others can be stored. */
function countsAt(transaction: StoreTransaction, key: StoreKey): Counts {
  const found = orSetAside(transaction, key, () => transaction.get(key)) ?? undefined;
  return found === undefined ? NO_COUNTS : parseUsageRecord(found);
}

/** Adds counts to the stored record of a key in a month; returns the new record. */
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
 * Adds counts to stored records; returns the new records.
 * @throws StoreFault when that failed, or its outcome is unknown.
 */
export function storeUsage(
  store: Store,
  deltas: readonly UsageDelta[],
): Promise<readonly UsageRecord[]> {
  // `certain`, because counts that may have been stored must not be added again.
  return store.write((transaction) => deltas.map((delta) => addTo(transaction, delta)), {
    quiet: true,
    certain: true,
  });
}
