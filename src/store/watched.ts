/** Records that others keep in memory: who is told when one of them changes. */
import {
  KEY_PREFIX, KEYS_VERSION_KEY, MERCHANTS_VERSION_KEY, VERSION_KEY, type StoreKey,
} from './format.js';
import { MERCHANT_PREFIX } from './merchant-format.js';

class Watched {
  /** First part of the keys of such records; null for all that changes are told of. */
  readonly prefix: string | null;
  /** Where changes are counted, for other processes. */
  readonly version: StoreKey;
  readonly watchers = new Set<() => void>();
  /** Whether the action under way changed one. */
  touched = false;
  #seen = 0;

  constructor(prefix: string | null, version: StoreKey) {
    this.prefix = prefix;
    this.version = version;
  }

  /** Tells the watchers when there were changes since the last look. */
  look(count: number): void {
    if (count === this.#seen) return;
    this.#seen = count;
    for (const changed of this.watchers) changed();
  }
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

  /** An action begins: it has changed nothing yet. */
  begin(): void {
    for (const watched of this.#each) watched.touched = false;
  }

  /** The action under way changes a record. */
  touch(key: StoreKey): void {
    for (const watched of this.#each) if (key[0] === watched.prefix) watched.touched = true;
  }

  /** Where the changes of an action are counted that has ended. */
  changed(quiet: boolean): readonly StoreKey[] {
    this.#all.touched = !quiet;
    return this.#each.filter(({ touched }) => touched).map(({ version }) => version);
  }

  /**
   * Tells the watchers of what has changed.
   * @param count how many changes are counted under a key
   * @param failed is handed what a watcher throws: what was written is written all the same
   */
  look(count: (version: StoreKey) => number, failed: (error: unknown) => void): void {
    for (const watched of this.#each) {
      try {
        watched.look(count(watched.version));
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
