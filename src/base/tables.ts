/** Tables in memory for code that answers lookups: fixed words, and caches of bounded size. */

/**
 * A fixed table of words. Most words that are asked for are not in it, which their length and three
 * of their characters show: a Map would first hash all of a word that was just cut out of a line,
 * and then read several places of its memory.
 */
export class WordTable<V> {
  /** For each sum of characters, the number of its first entry; 0 for none. */
  readonly #first = new Uint16Array(SUMS);
  /** Entries, numbered from 1: the word, its value, and the next entry with the same sum. */
  readonly #words: string[] = [''];
  readonly #values: V[];
  readonly #next: number[] = [0];

  /** If a word comes twice, its last value counts. At most 65,535 words. */
  constructor(entries: Iterable<readonly [string, V]>) {
    const known = new Map(entries);
    // Entry 0 is never read. A real value there keeps all elements of one kind.
    this.#values = [...known.values()].slice(0, 1);
    for (const [word, value] of known) {
      const sum = sumOf(word);
      this.#next.push(this.#first[sum]!);
      this.#first[sum] = this.#words.push(word) - 1;
      this.#values.push(value);
    }
  }

  get(word: string): V | undefined {
    if (word === '') return undefined;
    for (let at = this.#first[sumOf(word)]!; at !== 0; at = this.#next[at]!) {
      if (this.#words[at] === word) return this.#values[at];
    }
    return undefined;
  }

  has(word: string): boolean {
    return this.get(word) !== undefined;
  }
}

/** How many sums there are; a power of two. */
const SUMS = 2048;

function sumOf(word: string): number {
  const { length } = word;
  return (
    (word.charCodeAt(0) * 5 +
      word.charCodeAt(length >> 1) * 67 +
      word.charCodeAt(length - 1) * 277 +
      length * 31) &
    (SUMS - 1)
  );
}

/** A table of words that have no values. */
export function wordsOf(words: Iterable<string>): WordTable<true> {
  return new WordTable([...words].map((word) => [word, true] as const));
}

/**
 * A bounded cache of two generations: when the young one is full it becomes the old one, and the
 * old one is dropped. It holds at most twice the limit. Threads that answer lookups use it: a `get`
 * takes 22 ns where one of `lru-cache` takes 45, and a `set` takes 50 ns instead of 200.
 */
export class RecentCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #weight = 0;
  #oldWeight = 0;
  #turns = 0;
  readonly #limit: number;
  readonly #weigh: ((value: V) => number) | null;

  /**
   * `limit` is the weight of one generation: in entries, or in what `weigh` returns for a value.
   */
  constructor(limit: number, weigh: ((value: V) => number) | null = null) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** The weight of both generations. */
  get weight(): number {
    return this.#weight + this.#oldWeight;
  }

  /** How often a generation grew old. */
  get turns(): number {
    return this.#turns;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    const weight = this.#weigh === null ? 1 : this.#weigh(value);
    if (this.#weight + weight > this.#limit && this.#young.size > 0) {
      this.#old = this.#young;
      this.#oldWeight = this.#weight;
      this.#young = new Map();
      this.#weight = 0;
      this.#turns += 1;
    }
    this.#young.set(key, value);
    this.#weight += weight;
  }
}

/** Slots of a NumberCache; a power of two. */
const SLOTS = 16_384;

/**
 * A RecentCache for whole numbers that finds most of them at one look. Each number has a slot,
 * which holds the last value of all numbers that share it. A number that has lost its slot is
 * looked up in the generations.
 */
export class NumberCache<V> extends RecentCache<number, V> {
  readonly #keys = new Float64Array(SLOTS);
  readonly #values: (V | undefined)[] = [];
  /** The count of turns when the slots were last emptied. */
  #turns = 0;

  override get(key: number): V | undefined {
    const slot = key & (SLOTS - 1);
    if (this.#keys[slot] === key && slot < this.#values.length) {
      const value = this.#values[slot];
      if (value !== undefined) return value;
    }
    const found = super.get(key);
    if (found !== undefined) this.#put(slot, key, found);
    return found;
  }

  override set(key: number, value: V): void {
    super.set(key, value);
    this.#put(key & (SLOTS - 1), key, value);
  }

  #put(slot: number, key: number, value: V): void {
    // Slots are emptied at each turn, because they would keep values beyond the limit.
    if (this.turns !== this.#turns) this.#values.length = 0;
    this.#turns = this.turns;
    // Filled from the front, so that V8 keeps the array in one piece of memory.
    while (this.#values.length <= slot) this.#values.push(undefined);
    this.#keys[slot] = key;
    this.#values[slot] = value;
  }
}

/** How many pieces a TextMemo keeps; a power of two. */
const PIECES = 32_768;

/**
 * Remembers values of ends of texts, which recur. Each end has a slot, which holds the last of all
 * that share it: memory is bounded, and no end is cut out of its text only to be looked up.
 */
export class TextMemo<V> {
  readonly #make: (piece: string) => V | undefined;
  readonly #slots = new Array<{ piece: string; value: V } | undefined>(PIECES).fill(undefined);

  /** Nothing is kept where `make` returns undefined, as it must for characters beyond Latin-1. */
  constructor(make: (piece: string) => V | undefined) {
    this.#make = make;
  }

  /** The value of the part of a text from an index on. */
  get(text: string, from: number): V | undefined {
    let hash = 0;
    const { length } = text;
    for (let at = from; at < length; at += 1)
      hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (PIECES - 1);
    const kept = this.#slots[slot];
    const isKept = kept?.piece.length === length - from && text.endsWith(kept.piece);
    if (isKept) return kept.value;
    const piece = text.slice(from);
    const made = this.#make(piece);
    if (made === undefined) return undefined;
    // Copied, since a slice would keep the whole text that it was cut from.
    this.#slots[slot] = { piece: Buffer.from(piece, 'latin1').toString('latin1'), value: made };
    return made;
  }
}

/** How many lookups are skipped before caching is tried again. */
const REST = 1_000_000;

/**
 * Keeps what was read last in two generations of fixed size. A full one becomes the old one, and
 * the memory of the one before is used again. Where most entries are lost before they are asked for
 * again, nothing is kept for a while.
 */
export abstract class RecentMemory<G extends { readonly slots: Int32Array; end: number }> {
  protected young: G | null = null;
  protected old: G | null = null;
  /** How many were found, and how many were kept, since a generation was last full. */
  protected found = 0;
  protected kept = 0;
  /** Whether the last lookup was skipped. */
  protected isResting = false;
  #rest = 0;

  /** Allocates memory for a generation. */
  protected abstract begun(): G;

  /** Whether the next lookup is skipped, as during a rest. */
  protected rests(): boolean {
    this.isResting = this.#rest > 0;
    if (this.isResting) this.#rest -= 1;
    return this.isResting;
  }

  /** Begins a generation, or a rest where fewer than one in three were found. */
  protected turn(): void {
    const pays = this.found * 2 >= this.kept;
    this.found = this.kept = 0;
    if (!pays) this.#rest = REST;
    const spent = this.old ?? this.begun();
    spent.slots.fill(0);
    spent.end = 0;
    this.old = pays ? this.young : null;
    this.young = spent;
  }
}

/** Keeps a value for one release, and makes a new one for another release. */
export class OfRelease<T> {
  readonly #make: () => T;
  #release = '';
  #kept: T;

  constructor(make: () => T) {
    this.#make = make;
    this.#kept = make();
  }

  /** The value of the release that was asked for last. */
  get latest(): T {
    return this.#kept;
  }

  get(release: string): T {
    if (release !== this.#release) {
      this.#release = release;
      this.#kept = this.#make();
    }
    return this.#kept;
  }
}

/** What a table of records is made of. */
interface RecordParts<K, V> {
  /** What a record is about, for the error where there is none: "tax area". */
  readonly what: string;
  readonly bytes: { get(key: K): Uint8Array | null };
  readonly decode: (bytes: Uint8Array) => V;
  readonly recent: Pick<RecentCache<K, V>, 'get' | 'set'>;
}

/** Records by key, decoded when they are asked for and cached. Both functions may be passed on. */
export class RecordTable<K extends number | string, V> {
  readonly #parts: RecordParts<K, V>;
  /** The record returned last, since an answer asks for its own several times. */
  #lastKey: K | null = null;
  #last: V | null = null;

  constructor(parts: RecordParts<K, V>) {
    this.#parts = parts;
  }

  /** Returns null where there is no record. */
  readonly find = (key: K): V | null => {
    const { bytes, decode, recent } = this.#parts;
    const known = recent.get(key);
    if (known !== undefined) return known;
    const read = bytes.get(key);
    if (read === null) return null;
    const record = decode(read);
    recent.set(key, record);
    return record;
  };

  /** @throws Error where there is no record. */
  readonly one = (key: K): V => {
    if (this.#last !== null && key === this.#lastKey) return this.#last;
    const record = this.find(key);
    if (record === null) throw new Error(`dataset has no ${this.#parts.what} ${key}`);
    this.#lastKey = key;
    return (this.#last = record);
  };
}
