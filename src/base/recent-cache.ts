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

/** Slots of a NumberCache; a power of two. */
const SLOTS = 16_384;

/**
 * The same by whole numbers, where most are found at one look: a number has a slot of its own,
 * which holds the last value met of all that share it. What has lost its slot is looked for in the
 * generations. Slots keep up to 16,384 values beyond the limit.
 */
export class NumberCache<V> {
  readonly #recent: RecentCache<number, V>;
  readonly #keys = new Float64Array(SLOTS);
  readonly #values: (V | undefined)[] = [];

  /** `limit` is as that of a RecentCache. */
  constructor(limit: number) {
    this.#recent = new RecentCache(limit);
  }

  get(key: number): V | undefined {
    const slot = key & (SLOTS - 1);
    if (this.#keys[slot] === key && slot < this.#values.length) {
      const value = this.#values[slot];
      if (value !== undefined) return value;
    }
    const found = this.#recent.get(key);
    if (found !== undefined) this.#put(slot, key, found);
    return found;
  }

  set(key: number, value: V, weight = 1): void {
    this.#recent.set(key, value, weight);
    this.#put(key & (SLOTS - 1), key, value);
  }

  #put(slot: number, key: number, value: V): void {
    // Filled from the front, so that it stays an array whose memory is one piece.
    while (this.#values.length <= slot) this.#values.push(undefined);
    this.#keys[slot] = key;
    this.#values[slot] = value;
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
