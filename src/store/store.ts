/**
 * The mutable state of the service. The server writes it from its main thread; commands write it
 * from other processes, in short transactions.
 */
import { join } from 'node:path';
import { DamagedRecord, setAsideNotice, StoreFault } from './fault.js';
import { ALWAYS_TAKEN, DAMAGED_PREFIX, type StoreKey } from './format.js';
import { LmdbRoot } from './lmdb-root.js';
import { bytesOf, NewRecord, type StoredValue, unpackRecord, unpackSound } from './record-bytes.js';
import { pageOf, type Root } from './root.js';
import type { StoreEntry, StoreOptions, StoreTransaction, WriteOptions } from './transaction.js';
import { type Change, WatchedRecords } from './watched.js';

export type { StoreEntry, StoreTransaction } from './transaction.js';

/** Most bytes in use. The rest of the map is for pages that were freed and are not reused yet. */
export const STORE_BYTES_MAX = 3 * 1024 ** 3;
/** The size is checked once in this many writes. */
const SIZE_CHECK_WRITES = 64;
/** How often changes of other processes are looked for. */
const POLL_MS = 250;
/** Local data of a shared store that is older than this may lack records. */
const BEHIND_MS = 2_000;
/** Most damaged records that are reported, each once. */
const DAMAGED_TOLD_MAX = 1_000;
/** Sorts after every text in a key. */
const AFTER_TEXT = '\uffff';

/** The store's folder in a folder of variables. */
export function storeDir(varDir: string): string {
  return join(varDir, 'store');
}

/** A record as it was put, where it need not be decoded. */
function given(value: StoredValue | null): unknown {
  return value instanceof NewRecord ? value.record : null;
}

export class Store {
  readonly #root: Root;
  readonly #bytesMax: number;
  #writes = 0;
  #measured = -1;
  /** The commits of this process that reads see; it changes once for all writes of a commit. */
  #seen = 0;
  #full = false;
  readonly #watched = new WatchedRecords();
  readonly #poll: NodeJS.Timeout;
  readonly #failed: (error: unknown) => void;
  /** Damaged records that were reported. */
  readonly #damaged = new Set<string>();

  private constructor(root: Root, options: StoreOptions) {
    this.#root = root;
    this.#bytesMax = options.bytesMax ?? STORE_BYTES_MAX;
    this.#failed = options.failed ?? ((): void => undefined);
    this.#watched.start(this.#version);
    root.watch(() => this.refresh());
    this.#poll = setInterval(() => this.refresh(), POLL_MS).unref();
  }

  /**
   * Opens the store in `<varDir>/store/`, or that of a database, making it when there is none.
   * @throws Error when the folder cannot be made, a newer program wrote the store, its file is
   *   damaged, cut off or lost, or its database cannot be reached.
   */
  static async open(varDir: string, options: StoreOptions = {}): Promise<Store> {
    const { url, failed = (): void => undefined } = options;
    if (typeof url !== 'string') {
      return new Store(await LmdbRoot.open(storeDir(varDir)), options);
    }
    const { PostgresRoot } = await import('./postgres/postgres-root.js');
    return new Store(await PostgresRoot.open(url, varDir, failed), options);
  }

  /** @throws DamagedRecord when it differs from what was stored. */
  get(key: StoreKey): unknown {
    const found = this.#root.peek(key);
    if (found === undefined) return undefined;
    return found instanceof NewRecord ? found.record : unpackRecord(key, found);
  }

  /** A record that is not essential: undefined, and reported, when it is damaged. */
  getSound(key: StoreKey): unknown {
    return this.#sound(key, () => this.get(key));
  }

  /**
   * All records whose key begins with these parts, or the first of them, in the order of keys.
   * Damaged ones are left out and reported, so that they do not hold up the others.
   */
  list(prefix: StoreKey, limit = Infinity): readonly unknown[] {
    const records: unknown[] = [];
    const range = { start: prefix, end: [...prefix, AFTER_TEXT], limit };
    for (const { key, value } of this.#root.range(range)) {
      const record = this.#sound(key, () => unpackRecord(key, value));
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** The record with the highest key that begins with these parts; undefined when there is none. */
  last(prefix: StoreKey): unknown {
    const range = { start: [...prefix, AFTER_TEXT], end: prefix, reverse: true, limit: 1 };
    for (const { key, value } of this.#root.range(range)) {
      return this.#sound(key, () => unpackRecord(key, value));
    }
    return undefined;
  }

  /** The keys that begin with these parts, in order: all, or the first ones after a key. */
  keys(prefix: StoreKey, limit = Infinity, after = prefix): readonly StoreKey[] {
    const range = { start: after, end: [...prefix, AFTER_TEXT], limit };
    return [...this.#root.keys({ ...range, exclusiveStart: after !== prefix })];
  }

  /**
   * A page of records of any kind in the order of keys: the first ones or those after a key.
   * @param passedOver called for each damaged record, which is null in the result
   * @throws DamagedRecord where one is damaged and `passedOver` is absent
   */
  scan(
    after: StoreKey | null,
    limit: number,
    passedOver?: (key: StoreKey) => void,
  ): readonly StoreEntry[] {
    const entries: StoreEntry[] = [];
    const range = after === null ? { limit } : { start: after, exclusiveStart: true, limit };
    for (const { key, value } of pageOf(this.#root.range(range))) {
      entries.push({ key, record: unpackSound(key, value, passedOver) });
    }
    return entries;
  }

  /**
   * Runs a transaction; its result is on the disk when it resolves. If `action` throws, only its
   * own changes are undone, and this throws the same. Waiting writes share one commit.
   * @throws StoreFault when it could not be written; nothing of it is kept.
   */
  async write<T>(
    action: (transaction: StoreTransaction) => T,
    { quiet = false, certain = false }: WriteOptions = {},
  ): Promise<T> {
    this.#measure();
    let changes: readonly Change[] = [];
    const result = await this.#root.write(
      () => {
        this.#watched.begin();
        const done = action(this.#transaction);
        changes = this.#watched.changed(quiet, this.#bump);
        return done;
      },
      { certain },
    );
    const isNew = this.#root.written !== this.#seen;
    // Local data of a shared store may lack this write, so its counts of changes are read.
    if (this.age() !== null) {
      if (isNew) this.refresh();
      return result;
    }
    if (isNew) this.#readNewest();
    this.#watched.wrote(changes, this.#seen, this.#failed);
    return result;
  }

  /** Bytes of pages with records. */
  bytes(): number {
    return this.#root.bytes();
  }

  /** Number of records, including any that scanning cannot find. */
  entries(): number {
    return this.#root.entries();
  }

  /** Copies the store, compacted, into an empty folder while it is used, as of one moment. */
  async copy(folder: string): Promise<void> {
    await this.#root.copy(folder);
  }

  /** Other processes that have the store open. */
  users(): readonly number[] {
    return this.#root.users();
  }

  /** Milliseconds since local data was known to be up to date; null where it always is. */
  age(): number | null {
    return this.#root.age();
  }

  /** Whether a record that is not found here may have been written by others a while ago. */
  get isBehind(): boolean {
    return (this.age() ?? 0) > BEHIND_MS;
  }

  /** Null, for a record that is not found. @throws StoreFault where it may exist nevertheless. */
  vouchForNone(): null {
    if (this.isBehind) throw new StoreFault('behind');
    return null;
  }

  /** The process is about to end: from now on every wait for a write is limited. */
  leave(): void {
    this.#root.leave();
  }

  /** Calls `changed` after each change, by this process or another. */
  watch(changed: () => void): void {
    this.#watched.all.add(changed);
  }

  /** Calls `changed` after each change of an API key, by this process or another. */
  watchKeys(changed: () => void): void {
    this.#watched.keys.add(changed);
  }

  /** Calls `changed` after each change of a merchant, by this process or another. */
  watchMerchants(changed: () => void): void {
    this.#watched.merchants.add(changed);
  }

  /** Looks for changes of other processes now. */
  refresh(): void {
    this.#readNewest();
    this.#watched.look({ written: this.#seen, count: this.#version, failed: this.#failed });
  }

  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#watched.clear();
    await this.#root.close();
  }

  readonly #transaction: StoreTransaction = {
    get: (key) => this.get(key),
    unstored: (key) => given(this.#root.unstored(key)),
    known: (key) => given(this.#root.known(key)),
    list: (prefix, limit) => this.list(prefix, limit),
    last: (prefix) => this.last(prefix),
    keys: (prefix, limit) => this.keys(prefix, limit),
    put: (key, record) => {
      if (this.#full && !ALWAYS_TAKEN.has(key[0]) && this.#root.peek(key) === undefined) {
        throw new StoreFault('full');
      }
      this.#watched.touch(key);
      this.#root.put(key, record instanceof NewRecord ? record : new NewRecord(key, record));
    },
    remove: (key) => {
      this.#watched.touch(key);
      this.#root.remove(key);
    },
    setAside: (key, counted = false) => {
      const found = this.#root.get(key);
      if (found === undefined) return;
      const aside = [DAMAGED_PREFIX, ...key];
      this.#root.put(aside, new NewRecord(aside, { v: 1, bytes: bytesOf(found) }));
      this.#root.remove(key);
      this.#failed(setAsideNotice(key, counted));
    },
  };

  /** Checks the size now and then, and at every write while the store is full. */
  #measure(): void {
    this.#writes += 1;
    const { written } = this.#root;
    // Writes that share a commit would all find the same size.
    if (!this.#full && (this.#writes < SIZE_CHECK_WRITES || written === this.#measured)) return;
    [this.#writes, this.#measured] = [0, written];
    this.#full = this.bytes() > this.#bytesMax;
  }

  #sound(key: StoreKey, read: () => unknown): unknown {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      const name = String(key);
      if (this.#damaged.size < DAMAGED_TOLD_MAX && !this.#damaged.has(name)) this.#failed(error);
      this.#damaged.add(name);
      return undefined;
    }
  }

  #readNewest(): void {
    this.#seen = this.#root.written;
    this.#root.refresh();
  }

  readonly #bump = (key: StoreKey): number => {
    const known = given(this.#root.known(key));
    const version = (typeof known === 'number' ? known : this.#version(key)) + 1;
    this.#root.put(key, new NewRecord(key, version));
    return version;
  };

  readonly #version = (key: StoreKey): number => {
    const version = this.getSound(key);
    return typeof version === 'number' ? version : 0;
  };
}
