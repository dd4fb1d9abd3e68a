/** Records that others keep in memory: who is told when one of them changes. */
import type { StoreKey } from './format.js';

export class Watched {
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
