/**
 * The mutable state of the service: one LMDB environment. The server writes it from its main
 * thread, the command line in short transactions of its own from another process.
 */
import { join } from 'node:path';
import { DamagedRecord, setAsideNotice, StoreFault, writeError } from './fault.js';
import { ALWAYS_TAKEN, DAMAGED_PREFIX, type StoreKey } from './format.js';
import { makeFolder } from './folder.js';
import { bytesOf, entriesOf, openRoot, partsOf, usersOf, type Root } from './open-root.js';
import { packRecord, unpackRecord } from './record-bytes.js';
import { checkStoreFile, markBegun, STORE_FILE } from './store-file.js';
import type { StoreEntry, StoreTransaction, WriteOptions } from './transaction.js';
import { WatchedRecords } from './watched.js';

export type { StoreEntry, StoreTransaction, WriteOptions } from './transaction.js';

/** Most bytes in use; the rest of the map is for pages that are freed and not yet reused. */
export const STORE_BYTES_MAX = 3 * 1024 ** 3;
/** The size is looked at every so many writes. */
const SIZE_CHECK_WRITES = 16;
/** How often another process's writes are looked for. */
const POLL_MS = 250;
/** Damaged records that are told of, each once. */
const DAMAGED_TOLD_MAX = 1_000;
/** Sorts after every text in a key. */
const AFTER_TEXT = '\uffff';

export interface StoreOptions {
  /** Replaced in tests. */
  readonly bytesMax?: number;
  /** Told of what is passed over: a damaged record, once, and what went wrong at a change. */
  readonly failed?: (error: unknown) => void;
}

/** Folder of the store in a folder of variables. */
export function storeDir(varDir: string): string {
  return join(varDir, 'store');
}

/** What this process has open, by folder. */
const OPEN = new Map<string, Set<Store>>();

export class Store {
  readonly #path: string;
  /** Writes under way. */
  #writing = 0;
  readonly #root: Root;
  readonly #bytesMax: number;
  #writes = 0;
  #full = false;
  readonly #watched = new WatchedRecords();
  readonly #poll: NodeJS.Timeout;
  readonly #failed: (error: unknown) => void;
  /** Damaged records that were told of. */
  readonly #damaged = new Set<string>();

  private constructor(path: string, root: Root, options: StoreOptions) {
    this.#path = path;
    OPEN.set(path, (OPEN.get(path) ?? new Set()).add(this));
    this.#root = root;
    this.#bytesMax = options.bytesMax ?? STORE_BYTES_MAX;
    this.#failed = options.failed ?? ((): void => undefined);
    // Nobody watches yet: this only counts what there is.
    this.#look((error) => {
      throw error;
    });
    this.#poll = setInterval(() => this.refresh(), POLL_MS).unref();
  }

  /**
   * Opens the store in `<varDir>/store/`, making it when there is none.
   * @throws Error when the folder cannot be made, a newer program wrote the store, or its file is
   *   damaged, cut off or lost.
   */
  static async open(varDir: string, options: StoreOptions = {}): Promise<Store> {
    const path = storeDir(varDir);
    makeFolder(path, 'SITUS_VAR', 0o700);
    checkStoreFile(join(path, STORE_FILE));
    await Store.#rest(path);
    const root = await openRoot(path);
    markBegun(path);
    return new Store(path, root, options);
  }

  /**
   * Waits until no handle of this process writes. Opening takes the write lock at once: where a
   * write of another handle waits for this thread to run its action, both would wait for ever.
   */
  static async #rest(path: string): Promise<void> {
    const handles = (): readonly Store[] => [...OPEN.get(path) ?? []];
    while (handles().some((store) => store.#writing > 0)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** @throws DamagedRecord when it is not what was stored. */
  get(key: StoreKey): unknown {
    const bytes = this.#root.get([...key]);
    return bytes === undefined ? undefined : unpackRecord(key, bytes);
  }

  /** A record that can be done without: undefined, and told of, when it is damaged. */
  getSound(key: StoreKey): unknown {
    return this.#sound(key, () => this.get(key));
  }

  /**
   * All records whose key begins with these parts, or the first of them, in key order. Damaged ones
   * are passed over and told of, so that one does not keep all the others from being worked on.
   */
  list(prefix: StoreKey, limit?: number): readonly unknown[] {
    const records: unknown[] = [];
    const end = [...prefix, AFTER_TEXT];
    const range = { start: [...prefix], end, ...(limit === undefined ? {} : { limit }) };
    for (const { key, value } of this.#root.getRange(range)) {
      const record = this.#sound(key, () => unpackRecord(partsOf(key), value));
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** The record with the last key that begins with these parts; undefined when there is none. */
  last(prefix: StoreKey): unknown {
    const range = { start: [...prefix, AFTER_TEXT], end: [...prefix], reverse: true, limit: 1 };
    for (const { key, value } of this.#root.getRange(range)) {
      return this.#sound(key, () => unpackRecord(partsOf(key), value));
    }
    return undefined;
  }

  /** The keys that begin with these parts, in order: all, or the first so many behind one. */
  keys(prefix: StoreKey, limit = Infinity, after = prefix): readonly StoreKey[] {
    const [start, end] = [[...after], [...prefix, AFTER_TEXT]];
    const range = { start, end, exclusiveStart: after !== prefix, limit };
    return [...this.#root.getKeys(range)].map(partsOf);
  }

  /**
   * Records of any kind in key order, the first ones or those after a key.
   * @param passedOver told of each damaged one, which is null then
   * @throws DamagedRecord where one is damaged and nobody is told
   */
  scan(
    after: StoreKey | null, limit: number, passedOver?: (key: StoreKey) => void,
  ): readonly StoreEntry[] {
    const unpack = (key: StoreKey, value: Buffer): unknown => {
      try {
        return unpackRecord(key, value);
      } catch (error) {
        if (!(error instanceof DamagedRecord) || passedOver === undefined) throw error;
        passedOver(key);
        return null;
      }
    };
    const entries: StoreEntry[] = [];
    const range = after === null ? { limit } : { start: [...after], exclusiveStart: true, limit };
    for (const { key, value } of this.#root.getRange(range)) {
      const at = partsOf(key);
      entries.push({ key: at, record: unpack(at, value) });
    }
    return entries;
  }

  /**
   * Runs a transaction and returns its result once it is on the disk. What `action` throws undoes
   * it alone and is thrown here. Writes that wait together share one commit and one flush.
   * @throws StoreFault when it could not be written; nothing of it is kept.
   */
  async write<T>(
    action: (transaction: StoreTransaction) => T, { quiet = false }: WriteOptions = {},
  ): Promise<T> {
    const root = this.#root;
    this.#measure();
    this.#writing += 1;
    try {
      // A child transaction, because only that is undone when it throws.
      const { result, told } = await root.childTransaction(() => {
        this.#watched.begin();
        const done = action(this.#transaction);
        const changed = this.#watched.changed(quiet);
        for (const version of changed) this.#bump(version);
        return { result: done, told: changed.length > 0 };
      });
      if (told) this.refresh();
      else root.resetReadTxn();
      return result;
    } catch (error) {
      throw await writeError(error);
    } finally {
      this.#writing -= 1;
    }
  }

  /** Bytes of the pages that hold records. */
  bytes(): number {
    return bytesOf(this.#root);
  }

  /** Records there are, found or not. */
  entries(): number {
    return entriesOf(this.#root);
  }

  /** Copies the store into an empty folder while it is used: compacted, as of one moment. */
  async copy(folder: string): Promise<void> {
    await this.#root.backup(folder, true);
  }

  /** Other processes that have the store open. */
  users(): readonly number[] {
    return usersOf(this.#root);
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

  /** Looks for changes now. */
  refresh(): void {
    // Reads of one turn share a snapshot; without this it could be an old one.
    this.#root.resetReadTxn();
    this.#look(this.#failed);
  }

  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#watched.clear();
    await this.#root.flushed;
    await this.#root.close();
    OPEN.get(this.#path)?.delete(this);
  }

  readonly #transaction: StoreTransaction = {
    get: (key) => this.get(key),
    list: (prefix, limit) => this.list(prefix, limit),
    last: (prefix) => this.last(prefix),
    put: (key, record) => {
      if (this.#full && !ALWAYS_TAKEN.has(key[0]) && this.#root.get([...key]) === undefined) {
        throw new StoreFault('full');
      }
      this.#watched.touch(key);
      this.#root.putSync([...key], packRecord(key, record));
    },
    remove: (key) => {
      this.#watched.touch(key);
      this.#root.removeSync([...key]);
    },
    setAside: (key, counted = false) => {
      const bytes = this.#root.get([...key]);
      if (bytes === undefined) return;
      const aside = [DAMAGED_PREFIX, ...key];
      this.#root.putSync(aside, packRecord(aside, { v: 1, bytes }));
      this.#root.removeSync([...key]);
      this.#failed(setAsideNotice(key, counted));
    },
  };

  /** Looks at the size now and then, and at every write while the store is full. */
  #measure(): void {
    this.#writes += 1;
    if (!this.#full && this.#writes % SIZE_CHECK_WRITES !== 0) return;
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

  #look(failed: (error: unknown) => void): void {
    this.#watched.look((version) => this.#version(version), failed);
  }

  #bump(key: StoreKey): void {
    this.#root.putSync([...key], packRecord(key, this.#version(key) + 1));
  }

  #version(key: StoreKey): number {
    const version = this.getSound(key);
    return typeof version === 'number' ? version : 0;
  }
}
