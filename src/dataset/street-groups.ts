/**
 * Keys of groups of streets, and the groups that were read last, found by a hash of their keys in
 * place of a walk down the table's tree (docs/benchmarks.md). Two generations of fixed size: when
 * the young one is full it becomes the old one, whose memory is used anew. Where so many are read
 * that most are gone before they are asked for again, none is kept for a while.
 */

/** Five digits of a ZIP kept as an integer. */
export function zipText(zip: number): string {
  return zip < 10_000 ? String(zip).padStart(5, '0') : String(zip);
}

/** The table takes no longer keys; the words of an address come nowhere near. */
const KEY_BYTES_MAX = 1900;
const BAR = 124;
const COLON = 58;
const DIGIT_ZERO = 48;
const ZIP_DIGITS = 5;
const ASCII_MAX = 127;

/**
 * A key of the table put together in place, byte by byte: to build its text and encode that would
 * cost a lookup more than the read itself. One key at a time: every method starts anew and gives
 * the key itself.
 */
export class StreetKey {
  readonly bytes = new Uint8Array(KEY_BYTES_MAX);
  /** The same memory; hashing clears what the last word has beyond the key. */
  readonly words = new Int32Array(this.bytes.buffer);
  length = 0;

  /** Streets of a folded name in a ZIP. */
  zipGroup(state: string, zip: number, fold: string): this {
    this.#begin('z', state);
    let rest = zip;
    for (let at = this.length + ZIP_DIGITS - 1; at >= this.length; at -= 1) {
      this.bytes[at] = DIGIT_ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.length += ZIP_DIGITS;
    return this.#end(fold);
  }

  /** Streets of a folded name in a locality, those whose ZIP is not known. */
  townGroup(state: string, locality: number, fold: string): this {
    return this.#ofLocality('t', state, locality, fold);
  }

  /** Where a locality has streets of a folded name. */
  city(state: string, locality: number, fold: string): this {
    return this.#ofLocality('c', state, locality, fold);
  }

  /** A number of 32 bits that nearly every key has alone. */
  hash(): number {
    const { bytes, words, length } = this;
    bytes[length] = bytes[length + 1] = bytes[length + 2] = 0;
    let hash = length;
    for (let at = (length - 1) >> 2; at >= 0; at -= 1) {
      hash = Math.imul(hash ^ words[at]!, 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  /** The key as text, for tables that are not read by bytes. */
  toString(): string {
    return Buffer.from(this.bytes.buffer, 0, this.length).toString('latin1');
  }

  #ofLocality(kind: string, state: string, locality: number, fold: string): this {
    this.#begin(kind, state);
    this.bytes[this.length] = COLON;
    this.length += 1;
    this.#text(String(locality));
    return this.#end(fold);
  }

  #begin(kind: string, state: string): void {
    this.length = 0;
    this.#text(kind);
    this.#bar();
    this.#text(state);
  }

  #end(fold: string): this {
    this.#bar();
    this.#text(fold);
    return this;
  }

  #bar(): void {
    this.bytes[this.length] = BAR;
    this.length += 1;
  }

  #text(text: string): void {
    const { bytes } = this;
    const at = this.length;
    if (at + text.length + ZIP_DIGITS + 2 > KEY_BYTES_MAX) throw new RangeError('key too long');
    let bits = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      bits |= code;
      bytes[at + index] = code;
    }
    if (bits > ASCII_MAX) throw new RangeError('a folded name has letters and figures alone');
    this.length = at + text.length;
  }
}

/** Bytes of a group. */
export interface Group {
  readonly bytes: Uint8Array;
  /** First byte, and the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** It lasts until the next group is read; else until the next read of any table. */
  readonly isLasting: boolean;
}

/** Memory of a generation, which the system hands out as it is written. */
const GENERATION_BYTES = 8 * 1024 * 1024;
/** Longer ones are not kept; of the publishers' files at hand the longest has 5,085 bytes. */
const KEPT_BYTES_MAX = GENERATION_BYTES / 16;
/** What is asked for before it is tried again whether keeping pays. */
const REST = 1_000_000;
/** Slots of a generation; a power of two. */
const SLOTS = 131_072;
/** Slots that a key may have; if all are taken the last one is lost. */
const PLACES = 8;
const WORD = 4;
/** Memory of all that is kept of one release. */
export const KEPT_GROUPS_BYTES = 2 * (GENERATION_BYTES + SLOTS * WORD);
/** Words before a key: its hash, its length and the length of the group. */
const HEAD_WORDS = 3;

/** Entries one after the other: hash · bytes of the key · bytes of the group · key · group. */
class Generation {
  readonly bytes: Uint8Array;
  readonly #words: Int32Array;
  /** First word of an entry and 1; 0 for none. */
  readonly #slots = new Int32Array(SLOTS);
  #end = 0;

  constructor() {
    this.#words = new Int32Array(GENERATION_BYTES / WORD);
    this.bytes = new Uint8Array(this.#words.buffer);
  }

  clear(): void {
    this.#slots.fill(0);
    this.#end = 0;
  }

  /** First word of an entry; −1 for none. */
  find(hash: number, key: StreetKey): number {
    for (let place = 0; place < PLACES; place += 1) {
      const entry = this.#slots[(hash + place) & (SLOTS - 1)]! - 1;
      if (entry < 0) return -1;
      if (this.#words[entry] === hash && this.#holds(entry, key)) return entry;
    }
    return -1;
  }

  #holds(entry: number, { length, words }: StreetKey): boolean {
    const own = this.#words;
    if (own[entry + 1] !== length) return false;
    const from = entry + HEAD_WORDS;
    for (let at = wordsOf(length) - 1; at >= 0; at -= 1) {
      if (own[from + at] !== words[at]) return false;
    }
    return true;
  }

  /** Where the group of an entry begins in `bytes`. */
  startOf(entry: number): number {
    return (entry + HEAD_WORDS + wordsOf(this.#words[entry + 1]!)) * WORD;
  }

  lengthOf(entry: number): number {
    return this.#words[entry + 2]!;
  }

  /** First word of the new entry; −1 where there is no room. */
  add(hash: number, key: StreetKey, group: Uint8Array): number {
    const entry = this.#end;
    const words = this.#words;
    const end = entry + HEAD_WORDS + wordsOf(key.length) + wordsOf(group.length);
    if (end > words.length) return -1;
    words[entry] = hash;
    words[entry + 1] = key.length;
    words[entry + 2] = group.length;
    for (let at = wordsOf(key.length) - 1; at >= 0; at -= 1) {
      words[entry + HEAD_WORDS + at] = key.words[at]!;
    }
    this.bytes.set(group.subarray(0, group.length), this.startOf(entry));
    this.#end = end;
    this.#slots[this.#freeSlot(hash)] = entry + 1;
    return entry;
  }

  #freeSlot(hash: number): number {
    for (let place = 0; place < PLACES; place += 1) {
      const slot = (hash + place) & (SLOTS - 1);
      if (this.#slots[slot] === 0) return slot;
    }
    return (hash + PLACES - 1) & (SLOTS - 1);
  }
}

function wordsOf(bytes: number): number {
  return (bytes + WORD - 1) >>> 2;
}

const NONE: Uint8Array = new Uint8Array(0);

/** Tells whether keeping pays: at least one of three that were asked for was found. */
export class KeepingPays {
  /** Those found and kept since a generation was full. */
  found = 0;
  kept = 0;
  /** Whether the last one was not looked for. */
  isResting = false;
  #rest = 0;

  /** Whether the next one is not looked for. */
  rests(): boolean {
    this.isResting = this.#rest > 0;
    if (this.isResting) this.#rest -= 1;
    return this.isResting;
  }

  /** A generation is full: whether it stays; else a rest begins. */
  turn(): boolean {
    const pays = this.found * 2 >= this.kept;
    this.found = this.kept = 0;
    if (!pays) this.#rest = REST;
    return pays;
  }
}

export class KeptGroups {
  #young: Generation | null = null;
  #old: Generation | null = null;
  /** Handed out again and again. */
  readonly #group = { bytes: NONE, start: 0, end: 0, isLasting: true };
  #hash = 0;
  readonly #pays = new KeepingPays();

  /** The group of a key, if it is kept. */
  find(key: StreetKey): Group | null {
    if (this.#pays.rests()) return null;
    this.#hash = key.hash();
    return this.#findIn(this.#young, key) ?? this.#findIn(this.#old, key);
  }

  #findIn(generation: Generation | null, key: StreetKey): Group | null {
    if (generation === null) return null;
    const entry = generation.find(this.#hash, key);
    if (entry < 0) return null;
    this.#pays.found += 1;
    return this.#handOut(generation, entry);
  }

  /** Keeps the group of the key that was looked for last and not found. */
  keep(key: StreetKey, group: Uint8Array): Group {
    if (this.#pays.isResting || group.length > KEPT_BYTES_MAX) {
      return this.#give(group, 0, group.length, false);
    }
    const young = (this.#young ??= new Generation());
    const entry = young.add(this.#hash, key, group);
    this.#pays.kept += 1;
    if (entry >= 0) return this.#handOut(young, entry);
    this.#turn();
    return this.#give(group, 0, group.length, false);
  }

  /** Begins a generation, or a rest where fewer than one of three asked for was found. */
  #turn(): void {
    const spent = this.#old ?? new Generation();
    spent.clear();
    this.#old = this.#pays.turn() ? this.#young : null;
    this.#young = spent;
  }

  #handOut(generation: Generation, entry: number): Group {
    const start = generation.startOf(entry);
    return this.#give(generation.bytes, start, start + generation.lengthOf(entry), true);
  }

  #give(bytes: Uint8Array, start: number, end: number, isLasting: boolean): Group {
    const group = this.#group;
    group.bytes = bytes;
    group.start = start;
    group.end = end;
    group.isLasting = isLasting;
    return group;
  }
}
