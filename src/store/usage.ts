/**
 * Usage of each key per calendar month of UTC. It is counted in memory and added to the store in
 * batches, so that a killed process loses the counts of one second at most. Batches are added to
 * stored counts, so that processes that share a store do not overwrite each other's.
 */
import { KEY_SLOTS, parseUsageRecord, usageKey, type UsageRecord } from './format.js';
import { isDoubtful } from './fault.js';
import { ENTITLEMENTS } from './plan.js';
import type { Store, StoreTransaction } from './store.js';
import {
  addTo,
  Admission,
  type Counts,
  HELD_CORE,
  HELD_GEO,
  HELD_MERCHANT,
  listUsage,
  Meter,
  type Metered,
  type Month,
  monthAt,
  NO_COUNTS,
  plusCounts,
  storeUsage,
  type UsageDelta,
  type UsageOptions,
} from './usage-meter.js';
import {
  admitLookups,
  admitOperations,
  answerRows,
  dropRows,
  settleRows,
  type RowsAdmission,
} from './usage-rows.js';

export { listUsage } from './usage-meter.js';

/** How often counts are stored: half of what may be lost, since the write takes time too. */
const USAGE_FLUSH_MS = 500;

/** A clock set back by more than this before its month had shown a wrong month. */
const SET_BACK_MS_MAX = 86_400_000;

export class UsageBook {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #meters = new Map<string, Meter>();
  /** Meters used last, by the slots of their keys. Entries are replaced, never removed. */
  readonly #recent: Meter[] = new Array<Meter>(KEY_SLOTS).fill(new Meter('', ''));
  /** Meters with counts that are not stored. */
  #dirty: Meter[] = [];
  /** Counts of past months and of batches that failed, by month and key. */
  readonly #late = new Map<string, UsageDelta>();
  #month: Month;
  /** Whether the month may end before the next batch. */
  #ending = true;
  readonly #flushMs: number;
  readonly #shared: () => boolean;
  /** Number of batches so far. Counts of other servers are read again once for each. */
  #turns = 1;
  #flushing: Promise<void> | null = null;
  #failing = false;

  constructor(store: Store, options: UsageOptions = {}) {
    this.#store = store;
    this.#now = options.now ?? Date.now;
    this.#failed = options.failed ?? ((): void => undefined);
    this.#month = monthAt(this.#now());
    this.#load();
    this.#flushMs = options.flushMs ?? USAGE_FLUSH_MS;
    this.#shared = options.shared ?? ((): boolean => false);
    this.#timer = setInterval(() => {
      this.#turns += 1;
      void this.flush();
    }, this.#flushMs).unref();
  }

  /** What a key has used in the current month. */
  counts(id: string): Counts {
    this.#turn();
    if (this.#shared()) this.#lookUp(id);
    const { core, geo, merchant } = this.#meters.get(id) ?? NO_COUNTS;
    return { core, geo, merchant };
  }

  /**
   * Allows a lookup, or returns null when the key's quota is used up. Where the quota for geocoding
   * is used up, that entitlement is taken away instead. Counts stay reserved until `settle`, so
   * that requests at once exceed no limit; some may be refused although others fail later.
   */
  admit(key: Metered, geocoded: boolean): Admission | null {
    const meter = this.#meter(key);
    let { grants } = key;
    let held = 0;
    if (key.coreLimit > 0) {
      if (meter.core + meter.heldCore >= key.coreLimit) return null;
      held = HELD_CORE;
    }
    if (geocoded && key.geoLimit > 0) {
      if (meter.geo + meter.heldGeo >= key.geoLimit) grants &= ~ENTITLEMENTS.geo_enabled;
      else held |= HELD_GEO;
    }
    if ((held & HELD_CORE) !== 0) meter.heldCore += 1;
    if ((held & HELD_GEO) !== 0) meter.heldGeo += 1;
    return new Admission(meter, grants, held);
  }

  /** Allows a merchant operation, or returns null when the key's quota is used up. */
  admitMerchant(key: Metered): Admission | null {
    const meter = this.#meter(key);
    if (key.merchantLimit === 0) return new Admission(meter, key.grants, 0);
    if (meter.merchant + meter.heldMerchant >= key.merchantLimit) return null;
    meter.heldMerchant += 1;
    return new Admission(meter, key.grants, HELD_MERCHANT);
  }

  /**
   * Ends a lookup. `counted`: it was answered with rates; `geo`: it was geocoded. It counts in the
   * month of its answer, or in the month before if no request has come since.
   */
  settle(admission: Admission, counted: boolean, geo: boolean): void {
    const { meter, held } = admission;
    if (held !== 0) meter.release(held);
    if (!counted) return;
    meter.core += 1;
    meter.newCore += 1;
    if (geo) {
      meter.geo += 1;
      meter.newGeo += 1;
    }
    if (!meter.dirty) this.#soil(meter);
  }

  /** Ends a merchant operation. */
  settleMerchant({ meter, held }: Admission, counted: boolean): void {
    if (held !== 0) meter.release(held);
    if (!counted) return;
    meter.merchant += 1;
    meter.newMerchant += 1;
    if (!meter.dirty) this.#soil(meter);
  }

  /** Allows up to `rows` rows, as `admit` or `admitMerchant` does for one. */
  admitRows(key: Metered, rows: number, merchant: boolean): RowsAdmission {
    const admitted = merchant ? admitOperations : admitLookups;
    return admitted(this.#meter(key), key, rows);
  }

  /** Settles rows: how many of them were answered with success, by counter. */
  settleRows(admission: RowsAdmission, counts: Counts): void {
    const { meter } = admission;
    if (settleRows(admission, counts) && !meter.dirty) this.#soil(meter);
  }

  /** Settles rows that count as used from now on, and are stored by `storeRows` or dropped. */
  answerRows(admission: RowsAdmission, counts: Counts): void {
    answerRows(admission, counts);
  }

  /** Adds answered rows to the store, within a transaction that stores other records too. */
  storeRows(transaction: StoreTransaction, key: Metered, counts: Counts): UsageRecord | null {
    if (counts.core + counts.merchant === 0) return null;
    const { id, account } = key;
    return addTo(transaction, { month: this.#month.name, id, account, ...counts });
  }

  /** To be called before a transaction with `storeRows` begins and, with -1, when it has ended. */
  storingRows(key: Metered, by: 1 | -1): void {
    this.#meter(key).storing += by;
  }

  /** To be called once that transaction is durable, with the result of its `storeRows`. */
  storedRows(key: Metered, counts: Counts, record: UsageRecord | null): void {
    const meter = this.#meter(key);
    meter.open = plusCounts(meter.open, counts, -1);
    if (record?.month === this.#month.name) meter.stored(record);
  }

  /** Subtracts answered rows that will not be stored. */
  dropRows(key: Metered, counts: Counts): void {
    dropRows(this.#meter(key), counts);
  }

  /** Stores all counts so far. Never throws: storing what failed is repeated. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** Stores all counts and stops. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    // A batch under way may have begun before the last counts.
    await this.#flushing;
    await this.flush();
  }

  #soil(meter: Meter): void {
    meter.dirty = true;
    this.#dirty.push(meter);
  }

  #meterOf(id: string, account: string): Meter {
    let meter = this.#meters.get(id);
    if (meter === undefined) this.#meters.set(id, (meter = new Meter(id, account)));
    return meter;
  }

  /** Short, so that it can be inlined, since it is part of every request. */
  #meter(key: Metered): Meter {
    if (this.#ending) this.#turn();
    const meter = this.#recent[key.slot ?? 0]!;
    return meter.key === key && meter.turn === this.#turns ? meter : this.#search(key);
  }

  /** As `#meter`; for a key with a limit, reads once a batch what other servers counted. */
  #search(key: Metered): Meter {
    const { id, account, coreLimit, geoLimit, merchantLimit } = key;
    const meter = this.#meterOf(id, account);
    this.#recent[key.slot ?? 0] = meter;
    if (meter.key === key && meter.turn === this.#turns) return meter;
    meter.key = key;
    const isFree = coreLimit + geoLimit + merchantLimit === 0;
    if (isFree || !this.#shared() || this.#lookUp(id)) meter.turn = this.#turns;
    return meter;
  }

  /**
   * Reads what all servers have stored of a key. Returns false without reading while counts of it
   * are being stored, since these could be counted twice or not at all.
   */
  #lookUp(id: string): boolean {
    if (this.#flushing !== null || this.#late.size > 0) return false;
    if ((this.#meters.get(id)?.storing ?? 0) > 0) return false;
    const found = this.#store.getSound(usageKey(this.#month.name, id));
    if (found === undefined) return true;
    const record = parseUsageRecord(found);
    this.#meterOf(id, record.account).stored(record);
    return true;
  }

  /**
   * Begins a new month when the old one has ended. A clock that is set back does not return to the
   * old month, unless it was wrong before. Reading the clock is the costliest part of counting, so
   * requests do it only while the month may end before the next batch.
   */
  #turn(): void {
    const now = this.#now();
    this.#ending = this.#month.endsAt - now <= 2 * this.#flushMs;
    const { startsAt, endsAt } = this.#month;
    if (now < endsAt && now >= startsAt - SET_BACK_MS_MAX) return;
    this.#putOff();
    this.#month = monthAt(now);
    for (const meter of this.#meters.values()) meter.stored(NO_COUNTS);
    this.#load();
  }

  /** Moves counts that are not stored to the late ones, under the month they belong to. */
  #putOff(): void {
    for (const meter of this.#dirty) this.#addLate(meter.take(this.#month.name));
    this.#dirty = [];
  }

  #addLate(delta: UsageDelta): void {
    const name = `${delta.month} ${delta.id}`;
    this.#late.set(name, { ...delta, ...plusCounts(this.#late.get(name) ?? NO_COUNTS, delta, 1) });
  }

  #load(): void {
    for (const record of listUsage(this.#store, this.#month.name)) {
      this.#meterOf(record.id, record.account).stored(record);
    }
  }

  async #flush(): Promise<void> {
    this.#turn();
    this.#putOff();
    if (this.#late.size === 0) return;
    const deltas = [...this.#late.values()];
    this.#late.clear();
    try {
      const records = await storeUsage(this.#store, deltas);
      this.#failing = false;
      for (const record of records) {
        if (record.month !== this.#month.name) continue;
        this.#meters.get(record.id)?.stored(record);
      }
    } catch (error) {
      for (const delta of isDoubtful(error) ? [] : deltas) this.#addLate(delta);
      if (!this.#failing) this.#failed(error);
      this.#failing = true;
    }
  }
}
