/**
 * A bounded cache of two generations: when the young one is full it becomes the old one and the
 * old one is dropped. Cheaper than a linked LRU and never above twice the limit.
 */
export class RecentCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #weight = 0;
  readonly #limit: number;

  /** `limit` is the weight of one generation, in entries or in whatever unit `set` is given. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V, weight = 1): void {
    if (this.#weight + weight > this.#limit && this.#young.size > 0) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, value);
    this.#weight += weight;
  }
}

/** What is kept of one release; another one begins anew. */
export class OfRelease<T> {
  readonly #make: () => T;
  #release = '';
  #kept: T;

  constructor(make: () => T) {
    this.#make = make;
    this.#kept = make();
  }

  get(release: string): T {
    if (release !== this.#release) {
      this.#release = release;
      this.#kept = this.#make();
    }
    return this.#kept;
  }
}
