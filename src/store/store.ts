/**
 * The mutable state of the service: one LMDB environment. The server writes it from its main
 * thread, the command line in short transactions of its own from another process.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { FORMAT_KEY, FORMAT_VERSION, VERSION_KEY, type StoreKey } from './format.js';

/** Address space, not disk. Fixed, because processes that grow a shared map damage it. */
const MAP_BYTES = 4 * 1024 ** 3;
const READERS_MAX = 512;

/** How often another process's writes are looked for. */
export const POLL_MS = 250;

/** Sorts after every text in a key. */
const AFTER_TEXT = '\uffff';

/** What a transaction may do. */
export interface StoreTransaction {
  get(key: StoreKey): unknown;
  put(key: StoreKey, record: object): void;
  remove(key: StoreKey): void;
}

export interface WriteOptions {
  /** Nobody is told of the change: counters change all the time and nothing is kept of them. */
  readonly quiet?: boolean;
}

export class Store {
  readonly #root: RootDatabase<unknown, string[]>;
  readonly #watchers = new Set<() => void>();
  readonly #poll: NodeJS.Timeout;
  #seen = 0;

  private constructor(root: RootDatabase<unknown, string[]>) {
    this.#root = root;
    this.#seen = this.#version();
    this.#poll = setInterval(() => this.refresh(), POLL_MS).unref();
  }

  /**
   * Opens the store in `<varDir>/store/`, making it when there is none.
   * @throws Error when a newer program wrote it.
   */
  static async open(varDir: string): Promise<Store> {
    const path = join(varDir, 'store');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const root = open<unknown, string[]>({
      path,
      encoding: 'msgpack',
      mapSize: MAP_BYTES,
      maxReaders: READERS_MAX,
      // A commit then means that the data is on the disk.
      overlappingSync: false,
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
    return new Store(root);
  }

  get(key: StoreKey): unknown {
    return this.#root.get([...key]);
  }

  /** All records whose key begins with these parts, in key order. */
  list(prefix: StoreKey): readonly unknown[] {
    const start = [...prefix];
    const records: unknown[] = [];
    for (const { value } of this.#root.getRange({ start, end: [...prefix, AFTER_TEXT] })) {
      records.push(value);
    }
    return records;
  }

  /**
   * Runs a transaction and returns its result once it is on the disk. What `action` throws undoes
   * it and is thrown here.
   */
  async write<T>(
    action: (transaction: StoreTransaction) => T, { quiet = false }: WriteOptions = {},
  ): Promise<T> {
    const root = this.#root;
    // A child transaction, because only that is undone when it throws.
    const result = await root.childTransaction(() => {
      const done = action({
        get: (key) => root.get([...key]),
        put: (key, record) => {
          root.putSync([...key], record);
        },
        remove: (key) => {
          root.removeSync([...key]);
        },
      });
      if (quiet) return done;
      const version = root.get([...VERSION_KEY]);
      root.putSync([...VERSION_KEY], (typeof version === 'number' ? version : 0) + 1);
      return done;
    });
    await root.flushed;
    if (!quiet) this.refresh();
    return result;
  }

  /** Calls `changed` after each change, by this process or another. */
  watch(changed: () => void): void {
    this.#watchers.add(changed);
  }

  /** Looks for changes now. */
  refresh(): void {
    // Reads of one turn share a snapshot; without this it could be an old one.
    this.#root.resetReadTxn();
    const version = this.#version();
    if (version === this.#seen) return;
    this.#seen = version;
    for (const changed of this.#watchers) changed();
  }

  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#watchers.clear();
    await this.#root.flushed;
    await this.#root.close();
  }

  #version(): number {
    const version = this.#root.get([...VERSION_KEY]);
    return typeof version === 'number' ? version : 0;
  }
}
