/**
 * The mutable state of the service: one LMDB environment. The server writes it from its main
 * thread, the command line in short transactions of its own from another process.
 */
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { StoreFault, writeError } from './fault.js';
import {
  FORMAT_KEY, FORMAT_VERSION, KEY_PREFIX, KEYS_VERSION_KEY, MERCHANTS_VERSION_KEY, VERSION_KEY,
  type StoreKey,
} from './format.js';
import { makeFolder } from './folder.js';
import { MERCHANT_PREFIX } from './merchant-format.js';
import { checkStoreFile, STORE_FILE } from './store-file.js';
import { Watched } from './watched.js';

/**
 * Address space, not disk. LMDB would grow the map by itself, and processes that grow a shared one
 * damage it: nothing new is taken once the pages in use pass `STORE_BYTES_MAX`.
 */
const MAP_BYTES = 4 * 1024 ** 3;
/** Most bytes in use; the rest of the map is for pages that are freed and not yet reused. */
export const STORE_BYTES_MAX = 3 * 1024 ** 3;
/** The size is looked at every so many writes. */
const SIZE_CHECK_WRITES = 16;
const READERS_MAX = 512;

/** How often another process's writes are looked for. */
export const POLL_MS = 250;

/** Sorts after every text in a key. */
const AFTER_TEXT = '\uffff';

/** What a transaction may do. */
export interface StoreTransaction {
  get(key: StoreKey): unknown;
  /** As of this transaction; see `Store.list`. */
  list(prefix: StoreKey, limit?: number): readonly unknown[];
  put(key: StoreKey, record: object): void;
  remove(key: StoreKey): void;
}

export interface WriteOptions {
  /**
   * Nobody is told of the change but those who keep API keys or merchants: counters change all the
   * time and nothing is kept of them.
   */
  readonly quiet?: boolean;
}

/** What is read of LMDB's statistics. */
interface StoreStats {
  readonly pageSize?: number;
  readonly treeBranchPageCount?: number;
  readonly treeLeafPageCount?: number;
  readonly overflowPages?: number;
  readonly lastPageNumber?: number;
}

export interface StoreOptions {
  /** Replaced in tests. */
  readonly bytesMax?: number;
}

/** A record with its key. */
export interface StoreEntry {
  readonly key: StoreKey;
  readonly record: unknown;
}

/** Folder of the store in a folder of variables. */
export function storeDir(varDir: string): string {
  return join(varDir, 'store');
}

/** What this process has open, by folder. */
const OPEN = new Map<string, Set<Store>>();

export class Store {
  readonly #path: string;
  /** Writes that have not ended. */
  #writing = 0;
  readonly #root: RootDatabase<unknown, string[]>;
  readonly #bytesMax: number;
  #writes = 0;
  #full = false;
  readonly #all = new Watched(null, VERSION_KEY);
  readonly #keys = new Watched(KEY_PREFIX, KEYS_VERSION_KEY);
  readonly #merchants = new Watched(MERCHANT_PREFIX, MERCHANTS_VERSION_KEY);
  readonly #watched = [this.#all, this.#keys, this.#merchants];
  readonly #poll: NodeJS.Timeout;

  private constructor(path: string, root: RootDatabase<unknown, string[]>, bytesMax: number) {
    this.#path = path;
    OPEN.set(path, (OPEN.get(path) ?? new Set()).add(this));
    this.#root = root;
    this.#bytesMax = bytesMax;
    for (const watched of this.#watched) watched.look(this.#version(watched.version));
    this.#poll = setInterval(() => this.refresh(), POLL_MS).unref();
  }

  /**
   * Opens the store in `<varDir>/store/`, making it when there is none.
   * @throws Error when the folder cannot be made, or a newer program wrote the store.
   */
  static async open(
    varDir: string, { bytesMax = STORE_BYTES_MAX }: StoreOptions = {},
  ): Promise<Store> {
    const path = storeDir(varDir);
    makeFolder(path, 'SITUS_VAR', 0o700);
    checkStoreFile(join(path, STORE_FILE));
    await Store.#rest(path);
    const root = open<unknown, string[]>({
      path,
      encoding: 'msgpack',
      mapSize: MAP_BYTES,
      maxReaders: READERS_MAX,
      // A commit then means that the data is on the disk.
      overlappingSync: false,
      // Batches of a turn are promises of their own, which nobody could catch when a disk fails.
      eventTurnBatching: false,
    });
    const format = root.get([...FORMAT_KEY]);
    if (format === undefined) {
      await root.ifNoExists([...FORMAT_KEY], () => root.put([...FORMAT_KEY], FORMAT_VERSION));
      await root.flushed;
    } else if (format !== FORMAT_VERSION) {
      await root.close();
      throw new Error(
        `the store in ${path} has format ${String(format)}, this version reads ${FORMAT_VERSION}`,
      );
    }
    return new Store(path, root, bytesMax);
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

  get(key: StoreKey): unknown {
    return this.#root.get([...key]);
  }

  /** All records whose key begins with these parts, or the first of them, in key order. */
  list(prefix: StoreKey, limit?: number): readonly unknown[] {
    const records: unknown[] = [];
    const range = {
      start: [...prefix], end: [...prefix, AFTER_TEXT], ...(limit === undefined ? {} : { limit }),
    };
    for (const { value } of this.#root.getRange(range)) records.push(value);
    return records;
  }

  /** Records of any kind in key order, the first ones or those after a key. */
  scan(after: StoreKey | null, limit: number): readonly StoreEntry[] {
    const entries: StoreEntry[] = [];
    const range = after === null
      ? { limit } : { start: [...after], exclusiveStart: true, limit };
    for (const { key, value } of this.#root.getRange(range)) entries.push({ key, record: value });
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
        for (const watched of this.#watched) watched.touched = false;
        const done = action(this.#transaction);
        this.#all.touched = !quiet;
        const changed = this.#watched.filter(({ touched }) => touched);
        for (const { version } of changed) this.#bump(version);
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
    const {
      pageSize = 0, treeBranchPageCount = 0, treeLeafPageCount = 0, overflowPages = 0,
    }: StoreStats = this.#root.getStats();
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  }

  /** Bytes a whole file of this store has at least; a shorter one was cut off. */
  fileBytesMin(): number {
    const { pageSize = 0, lastPageNumber = 0 }: StoreStats = this.#root.getStats();
    return pageSize * (lastPageNumber + 1);
  }

  /** Copies the store into an empty folder while it is used: compacted, as of one moment. */
  async copy(folder: string): Promise<void> {
    await this.#root.backup(folder, true);
  }

  /** Other processes that have the store open. */
  users(): readonly number[] {
    this.#root.readerCheck();
    const lines = this.#root.readerList().split('\n');
    const pids = lines.map((line) => Number(/^\s*(\d+)\s/.exec(line)?.[1] ?? 0));
    return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
  }

  /** Calls `changed` after each change, by this process or another. */
  watch(changed: () => void): void {
    this.#all.watchers.add(changed);
  }

  /** Calls `changed` after each change of an API key, by this process or another. */
  watchKeys(changed: () => void): void {
    this.#keys.watchers.add(changed);
  }

  /** Calls `changed` after each change of a merchant, by this process or another. */
  watchMerchants(changed: () => void): void {
    this.#merchants.watchers.add(changed);
  }

  /** Looks for changes now. */
  refresh(): void {
    // Reads of one turn share a snapshot; without this it could be an old one.
    this.#root.resetReadTxn();
    for (const watched of this.#watched) watched.look(this.#version(watched.version));
  }

  async close(): Promise<void> {
    clearInterval(this.#poll);
    for (const { watchers } of this.#watched) watchers.clear();
    await this.#root.flushed;
    await this.#root.close();
    OPEN.get(this.#path)?.delete(this);
  }

  readonly #transaction: StoreTransaction = {
    get: (key) => this.#root.get([...key]),
    list: (prefix, limit) => this.list(prefix, limit),
    put: (key, record) => {
      if (this.#full && this.#root.get([...key]) === undefined) throw new StoreFault('full');
      this.#touch(key);
      this.#root.putSync([...key], record);
    },
    remove: (key) => {
      this.#touch(key);
      this.#root.removeSync([...key]);
    },
  };

  /** Looks at the size now and then, and at every write while the store is full. */
  #measure(): void {
    this.#writes += 1;
    if (!this.#full && this.#writes % SIZE_CHECK_WRITES !== 0) return;
    this.#full = this.bytes() > this.#bytesMax;
  }

  #touch(key: StoreKey): void {
    for (const watched of this.#watched) if (key[0] === watched.prefix) watched.touched = true;
  }

  #bump(key: StoreKey): void {
    this.#root.putSync([...key], this.#version(key) + 1);
  }

  #version(key: StoreKey): number {
    const version = this.#root.get([...key]);
    return typeof version === 'number' ? version : 0;
  }
}
