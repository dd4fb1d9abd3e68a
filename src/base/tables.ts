/**
 * Tables in memory that whoever answers a lookup looks into: words that do not change, and within a
 * bound what was found out last.
 */

/**
 * A table of words that does not change. Most words that are asked for are not in it, which their
 * length and three of their characters tell: a Map would first hash all of a word that was just
 * cut out of a line, and go to several places of its memory.
 */
export class WordTable<V> {
  /** For each sum of characters the number of its first entry; 0 for none. */
  readonly #first = new Uint16Array(SUMS);
  /** Entries from 1 on: the word, what it stands for, and the next entry with the same sum. */
  readonly #words: string[] = [''];
  readonly #values: V[];
  readonly #next: number[] = [0];

  /** Of a word that comes twice the last value counts. At most 65,535 words. */
  constructor(entries: Iterable<readonly [string, V]>) {
    const known = new Map(entries);
    // The first value is never read; it keeps the array one of values alone.
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

/** A power of two. */
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

/** A table of words that stand for nothing but themselves. */
export function wordsOf(words: Iterable<string>): WordTable<true> {
  return new WordTable([...words].map((word) => [word, true] as const));
}

/**
 * A bounded cache of two generations: when the young one is full it becomes the old one and the
 * old one is dropped. Never above twice the limit. It is for threads that answer lookups: a look
 * takes 22 ns where one of `lru-cache` takes 45, and to set a value 50 ns instead of 200.
 */
export class RecentCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #weight = 0;
  #oldWeight = 0;
  #turns = 0;
  readonly #limit: number;
  readonly #weigh: ((value: V) => number) | null;

  /** `limit` is the weight of one generation: in entries, unless `weigh` tells that of a value. */
  constructor(limit: number, weigh: ((value: V) => number) | null = null) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** Of both generations. */
  get weight(): number {
    return this.#weight + this.#oldWeight;
  }

  /** How often an old generation was dropped. */
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
 * The same by whole numbers, where most are found at one look: a number has a slot of its own,
 * which holds the last value met of all that share it. What has lost its slot is looked for in the
 * generations.
 */
export class NumberCache<V> extends RecentCache<number, V> {
  readonly #keys = new Float64Array(SLOTS);
  readonly #values: (V | undefined)[] = [];
  /** How often the generations had turned when the slots were emptied last. */
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
    // What is no longer young would be kept beyond the limit.
    if (this.turns !== this.#turns) this.#values.length = 0;
    this.#turns = this.turns;
    // Filled from the front, so that it stays an array whose memory is one piece.
    while (this.#values.length <= slot) this.#values.push(undefined);
    this.#keys[slot] = key;
    this.#values[slot] = value;
  }
}

/** Pieces that are remembered; a power of two. */
const PIECES = 32_768;

/**
 * Values of ends of texts that come again and again. Each end has a slot, which holds the last one
 * of all that share it: memory is bounded, and no end is cut out of its text to be looked for.
 */
export class TextMemo<V> {
  readonly #make: (piece: string) => V | undefined;
  readonly #slots = new Array<{ piece: string; value: V } | undefined>(PIECES).fill(undefined);

  /** What `make` gives no value for is not kept; a piece beyond Latin-1 must have none. */
  constructor(make: (piece: string) => V | undefined) {
    this.#make = make;
  }

  /** What the text from an index on makes. */
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
    // In memory of its own: a piece would keep all of the text it was cut out of.
    this.#slots[slot] = { piece: Buffer.from(piece, 'latin1').toString('latin1'), value: made };
    return made;
  }
}

/** What is asked for before it is tried again whether keeping pays. */
const REST = 1_000_000;

/**
 * What was read last, in two generations of fixed size: a full one becomes the old one, whose
 * memory is used anew. Where so much is read that most is gone before it is asked for again, none
 * is kept for a while.
 */
export abstract class RecentMemory<G extends { readonly slots: Int32Array; end: number }> {
  protected young: G | null = null;
  protected old: G | null = null;
  /** Those found and kept since a generation was full. */
  protected found = 0;
  protected kept = 0;
  /** Whether the last one was not looked for. */
  protected isResting = false;
  #rest = 0;

  /** Memory for a generation. */
  protected abstract begun(): G;

  /** Whether the next one is not looked for. */
  protected rests(): boolean {
    this.isResting = this.#rest > 0;
    if (this.isResting) this.#rest -= 1;
    return this.isResting;
  }

  /** Begins a generation, or a rest where fewer than one of three asked for was found. */
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

/** What is kept of one release; another one begins anew. */
export class OfRelease<T> {
  readonly #make: () => T;
  #release = '';
  #kept: T;

  constructor(make: () => T) {
    this.#make = make;
    this.#kept = make();
  }

  /** What is kept of the one that was asked for last. */
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
  /** What a record is of, for the error where there is none: "tax area". */
  readonly what: string;
  readonly bytes: { get(key: K): Uint8Array | null };
  readonly decode: (bytes: Uint8Array) => V;
  readonly recent: Pick<RecentCache<K, V>, 'get' | 'set'>;
}

/** Records by key, decoded when they are asked for and kept; both ways to ask may be handed on. */
export class RecordTable<K extends number | string, V> {
  readonly #parts: RecordParts<K, V>;
  /** What was asked for last: an answer asks for its own several times. */
  #lastKey: K | null = null;
  #last: V | null = null;

  constructor(parts: RecordParts<K, V>) {
    this.#parts = parts;
  }

  /** Null where there is none. */
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

  /** @throws Error where there is none. */
  readonly one = (key: K): V => {
    if (this.#last !== null && key === this.#lastKey) return this.#last;
    const record = this.find(key);
    if (record === null) throw new Error(`dataset has no ${this.#parts.what} ${key}`);
    this.#lastKey = key;
    return (this.#last = record);
  };
}
