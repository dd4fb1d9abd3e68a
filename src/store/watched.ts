/** Records that are kept in memory: who is told when one of them changes, keys, merchants. */
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

/** Records of a kind whose changes are counted and told. */
class Watched {
  /** First part of the keys of such records; null for all that changes are told of. */
  readonly prefix: string | null;
  /** Where changes are counted, for other processes. */
  readonly version: StoreKey;
  readonly watchers = new Set<() => void>();
  /** Whether the action under way changed one. */
  touched = false;
  /** What this process had written when it was last looked at. */
  lookedAt = -1;
  #seen = 0;

  constructor(prefix: string | null, version: StoreKey) {
    this.prefix = prefix;
    this.version = version;
  }

  /** Tells the watchers when there were changes since the last look. */
  look(count: number): void {
    if (count !== this.#seen) this.#tell(count);
  }

  /** Tells them of a change that brought the count to so many, unless they were told of it. */
  wrote(count: number, isTold: boolean): void {
    if (!isTold) this.#tell(Math.max(this.#seen, count));
    else if (count > this.#seen) this.#seen = count;
  }

  #tell(count: number): void {
    this.#seen = count;
    for (const changed of this.watchers) changed();
  }
}

/** A change of this process, and how many there were with it. */
export interface Change {
  readonly watched: Watched;
  readonly count: number;
}

/** How it is looked for changes. */
interface Looking {
  /** What this process has written, all of which is seen. */
  readonly written: number;
  /** How many changes are counted under a key. */
  readonly count: (version: StoreKey) => number;
  /** Is handed what a watcher throws: what was written is written all the same. */
  readonly failed: (error: unknown) => void;
}

/** Everything that is watched: API keys, merchants, and all changes that are told. */
export class WatchedRecords {
  readonly #all = new Watched(null, VERSION_KEY);
  readonly #keys = new Watched(KEY_PREFIX, KEYS_VERSION_KEY);
  readonly #merchants = new Watched(MERCHANT_PREFIX, MERCHANTS_VERSION_KEY);
  readonly #each = [this.#all, this.#keys, this.#merchants];

  /** Who is called after each change of any record, of a key, of a merchant. */
  get all(): Set<() => void> {
    return this.#all.watchers;
  }

  get keys(): Set<() => void> {
    return this.#keys.watchers;
  }

  get merchants(): Set<() => void> {
    return this.#merchants.watchers;
  }

  /** Counts the changes there were, before anybody watches. */
  start(count: Looking['count']): void {
    for (const watched of this.#each) watched.look(count(watched.version));
  }

  /** An action begins: it has changed nothing yet. */
  begin(): void {
    for (const watched of this.#each) watched.touched = false;
  }

  /** The action under way changes a record. */
  touch(key: StoreKey): void {
    for (const watched of this.#each) if (key[0] === watched.prefix) watched.touched = true;
  }

  /**
   * What an action has changed that has ended.
   * @param bump counts the change and tells how many there are then
   */
  changed(quiet: boolean, bump: (version: StoreKey) => number): readonly Change[] {
    this.#all.touched = !quiet;
    return this.#each
      .filter(({ touched }) => touched)
      .map((watched) => ({ watched, count: bump(watched.version) }));
  }

  /** Tells the watchers of whatever has changed. */
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
   * Tells them of what a write of this process has changed, once for all that share a commit. The
   * counts are not read for that: what others have changed is told when it is looked for.
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

  /** Forgets everyone who watches. */
  clear(): void {
    for (const { watchers } of this.#each) watchers.clear();
  }
}

// Finds keys without touching the disk.

/** Keys remembered by their text, once to twice as many, to spare the hash of each request. */
const RECENT_MAX = 10_000;

const NO_KEY = '-'.repeat(10);

/**
 * The keys of a store. Unknown, malformed and disabled keys take the same way, a hash and
 * one failed look-up, so that their times do not tell them apart. Before that each is compared with
 * the key found last: how many characters are the same makes nanoseconds of the microseconds that
 * any request takes and varies by.
 */
export class KeyCache {
  readonly #store: Store;
  #byId = new Map<string, KnownKey>();
  #byText = new RecentCache<string, KnownKey>(RECENT_MAX);
  /** The one that was found last: many requests in a row have one key, and a hash takes 80 ns. */
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

  /** A function of its own, so that what each request runs through stays short enough to inline. */
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
 * The same record in memory of one piece, as V8 has what is written out at once: what was put
 * together member by member has most of them apart, and every request looks at several.
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

// Finds merchants without touching the disk.

/** Merchants remembered, some 500 bytes each. */
const MERCHANTS_RECENT_MAX = 10_000;

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
  const recent = new LRUCache<string, MerchantRecord>({ max: MERCHANTS_RECENT_MAX });
  store.watchMerchants(() => {
    // Where many are created none is asked for, and clearing goes through all places there are.
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
