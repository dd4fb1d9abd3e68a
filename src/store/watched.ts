/** Keeps records in memory, of API keys and merchants, and notifies those who watch records. */
import { LRUCache } from 'lru-cache';
import { RecentCache } from '../base/tables.js';
import {
  KEY_PREFIX,
  KEY_SLOTS,
  type KeyRecord,
  KEYS_VERSION_KEY,
  type KnownKey,
  MERCHANTS_VERSION_KEY,
  parseKeyRecord,
  type StoreKey,
  VERSION_KEY,
} from './format.js';
import { isKeyText, keyId } from './keys.js';
import { MERCHANT_PREFIX, type MerchantRecord } from './merchant-format.js';
import { findMerchant } from './merchants.js';
import type { Store } from './store.js';

/** Records of a kind whose changes are counted and reported. */
class Watched {
  /** First part of the keys of such records; null for all changes that are not quiet. */
  readonly prefix: string | null;
  /** Key under which changes are counted, for other processes. */
  readonly version: StoreKey;
  readonly watchers = new Set<() => void>();
  /** Whether the running action has changed such a record. */
  touched = false;
  /** The commits of this process that the last check has seen. */
  lookedAt = -1;
  #seen = 0;

  constructor(prefix: string | null, version: StoreKey) {
    this.prefix = prefix;
    this.version = version;
  }

  /** Notifies the watchers if there were changes since the last check. */
  look(count: number): void {
    if (count !== this.#seen) this.#tell(count);
  }

  /** Notifies them of a change after which the count is this, unless they were notified of it. */
  wrote(count: number, isTold: boolean): void {
    if (!isTold) this.#tell(Math.max(this.#seen, count));
    else if (count > this.#seen) this.#seen = count;
  }

  #tell(count: number): void {
    this.#seen = count;
    for (const changed of this.watchers) changed();
  }
}

/** A change by this process, and the count of changes after it. */
export interface Change {
  readonly watched: Watched;
  readonly count: number;
}

/** What is needed to check for changes. */
interface Looking {
  /** The commits of this process that reads see. */
  readonly written: number;
  /** The count of changes under a key. */
  readonly count: (version: StoreKey) => number;
  /** Is given what a watcher throws, which must not affect the write. */
  readonly failed: (error: unknown) => void;
}

/** All that can be watched: API keys, merchants, and all changes that are not quiet. */
export class WatchedRecords {
  readonly #all = new Watched(null, VERSION_KEY);
  readonly #keys = new Watched(KEY_PREFIX, KEYS_VERSION_KEY);
  readonly #merchants = new Watched(MERCHANT_PREFIX, MERCHANTS_VERSION_KEY);
  readonly #each = [this.#all, this.#keys, this.#merchants];

  /** The functions to call after each change of any record, of a key, of a merchant. */
  get all(): Set<() => void> {
    return this.#all.watchers;
  }

  get keys(): Set<() => void> {
    return this.#keys.watchers;
  }

  get merchants(): Set<() => void> {
    return this.#merchants.watchers;
  }

  /** Reads the counts of changes, before anybody watches. */
  start(count: Looking['count']): void {
    for (const watched of this.#each) watched.look(count(watched.version));
  }

  /** Called when an action begins. */
  begin(): void {
    for (const watched of this.#each) watched.touched = false;
  }

  /** Called when the running action changes a record. */
  touch(key: StoreKey): void {
    for (const watched of this.#each) if (key[0] === watched.prefix) watched.touched = true;
  }

  /**
   * The changes of an action that has ended.
   * @param bump increases the count of changes and returns it
   */
  changed(quiet: boolean, bump: (version: StoreKey) => number): readonly Change[] {
    this.#all.touched = !quiet;
    return this.#each
      .filter(({ touched }) => touched)
      .map((watched) => ({ watched, count: bump(watched.version) }));
  }

  /** Notifies the watchers of any changes. */
  look({ written, count, failed }: Looking): void {
    for (const watched of this.#each) {
      watched.lookedAt = written;
      try {
        watched.look(count(watched.version));
      } catch (error) {
        failed(error);
      }
    }
  }

  /**
   * Notifies them of what a write of this process has changed, once for all writes of a commit. The
   * counts are not read for that; changes by others are found by the next check.
   */
  wrote(changes: readonly Change[], written: number, failed: Looking['failed']): void {
    for (const { watched, count } of changes) {
      const isTold = watched.lookedAt === written;
      watched.lookedAt = written;
      try {
        watched.wrote(count, isTold);
      } catch (error) {
        failed(error);
      }
    }
  }

  /** Removes all watchers. */
  clear(): void {
    for (const { watchers } of this.#each) watchers.clear();
  }
}

// Finds keys without reading the disk.

/** Keys that are remembered by their text, up to twice as many, to save a hash in each request. */
const RECENT_MAX = 10_000;

const NO_KEY = '-'.repeat(10);

/**
 * The keys of a store. Unknown, malformed and disabled keys take the same way, a hash and one
 * failed look-up, so that their response times do not differ. Before that, each is compared with
 * the key found last. How many characters agree makes a difference of nanoseconds, while any
 * request takes microseconds and varies by as much.
 */
export class KeyCache {
  readonly #store: Store;
  #byId = new Map<string, KnownKey>();
  #byText = new RecentCache<string, KnownKey>(RECENT_MAX);
  /** The key found last: many requests in a row have the same one, and a hash takes 80 ns. */
  #lastText = '';
  #last: KnownKey | null = null;

  constructor(store: Store) {
    this.#store = store;
    this.#load();
    store.watchKeys(() => this.#load());
  }

  /** The key's record, or null when it is malformed, unknown or disabled. */
  find(text: string): KnownKey | null {
    return text === this.#lastText ? this.#last : this.#find(text);
  }

  /** A separate function, so that the part each request runs is short enough to be inlined. */
  #find(text: string): KnownKey | null {
    const record = this.#byText.get(text) ?? this.#search(text);
    if (record === null) return null;
    this.#lastText = text;
    this.#last = record;
    return record;
  }

  #search(text: string): KnownKey | null {
    const wellFormed = isKeyText(text);
    const record = this.#byId.get(keyId(wellFormed ? text : NO_KEY));
    if (record === undefined || !wellFormed || !record.active) return null;
    this.#byText.set(text, record);
    return record;
  }

  /** The key's record even when it is disabled; null when it is malformed or unknown. */
  findAny(text: string): KnownKey | null {
    return isKeyText(text) ? (this.#byId.get(keyId(text)) ?? null) : null;
  }

  /** The key's record by its id; null when it is unknown or disabled. */
  findId(id: string): KnownKey | null {
    const record = this.#byId.get(id);
    return record?.active === true ? record : null;
  }

  #load(): void {
    const byId = new Map<string, KnownKey>();
    for (const value of this.#store.list([KEY_PREFIX])) {
      const record = inOnePiece(parseKeyRecord(value), byId.size % KEY_SLOTS);
      byId.set(record.id, record);
    }
    this.#byId = byId;
    this.#byText = new RecentCache(RECENT_MAX);
    this.#lastText = '';
    this.#last = null;
  }
}

/**
 * The same record as one literal. V8 allocates the members of a literal together, those of an
 * object that was built step by step apart, and every request reads several.
 */
function inOnePiece(key: KeyRecord, slot: number): KnownKey {
  return {
    v: key.v,
    id: key.id,
    prefix: key.prefix,
    account: key.account,
    plan: key.plan,
    rate: key.rate,
    grants: key.grants,
    scopes: key.scopes,
    coreLimit: key.coreLimit,
    geoLimit: key.geoLimit,
    merchantLimit: key.merchantLimit,
    active: key.active,
    createdAt: key.createdAt,
    slot,
  };
}

// Finds merchants without reading the disk.

/** Most merchants that are remembered, some 500 bytes each. */
const MERCHANTS_RECENT_MAX = 10_000;

/** A damaged record counts as none: in the middle of a run, nothing could handle an exception. */
function readable(store: Store, account: string, merchantId: string): MerchantRecord | null {
  return findMerchant({ get: (key) => store.getSound(key) }, account, merchantId);
}

/**
 * Finds live merchants; null for an unknown id, one of another account, or a deleted one. Throws a
 * StoreFault where it is not known whether there is one, as `Store.vouchForNone`. Recent merchants
 * are remembered, since every cart and every row names one. Any change of a merchant removes them
 * all from memory: a change by this process before it is acknowledged, one by another within
 * `POLL_MS`.
 */
export function merchantFinder(
  store: Store,
): (account: string, merchantId: string) => MerchantRecord | null {
  const recent = new LRUCache<string, MerchantRecord>({ max: MERCHANTS_RECENT_MAX });
  store.watchMerchants(() => {
    // Clearing costs time even when empty, which matters while many merchants are created.
    if (recent.size > 0) recent.clear();
  });
  return (account, merchantId) => {
    const known = recent.get(merchantId);
    if (known?.account === account) return known;
    const found = readable(store, account, merchantId);
    if (found === null) return store.vouchForNone();
    recent.set(merchantId, found);
    return found;
  };
}
