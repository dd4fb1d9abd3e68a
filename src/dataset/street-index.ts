/** Finds the streets of a ZIP or a locality in a dataset. Keeps those that were read last. */
import { KeepingPays, NumberCache, wordsOf, type WordTable } from '../base/tables.js';
import type { DateInt } from '../tax/date.js';
import { foldLocality } from './city-names.js';
import type { StreetTable } from './layout.js';
import {
  type Locality,
  readLocalities,
  type StateLocalities,
  withoutMunicipalEnding,
} from './locality-list.js';
import { areasOfAddOn, areasOfZip, type StatedZip } from './stated-areas.js';
import { StreetKey } from './street-bytes.js';
import {
  addOnsKey,
  addPlaces,
  cityNamesKey,
  type Group,
  localitiesKey,
  namesWithinOneTypo,
  statedZipKey,
  STATES_KEY,
  zipNamesKey,
} from './street-format.js';

const DIRECTIONS = ['', 'N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/** Code of a direction, given its abbreviation; 0 for none. */
export function directionCode(direction: string): number {
  return Math.max(0, DIRECTIONS.indexOf(direction));
}

/** Bytes of a generation. The system provides the memory only as it is written. */
const GENERATION_BYTES = 8 * 1024 * 1024;
/** Longer groups are not kept. The longest in the publishers' files at hand has 5,085 bytes. */
const KEPT_BYTES_MAX = GENERATION_BYTES / 16;
/** Slots of a generation; a power of two. */
const SLOTS = 131_072;
/** Slots that are tried for a key. If all are taken, the entry in the last one is lost. */
const PLACES = 8;
const WORD = 4;
/** Memory for all kept groups of one release. */
export const KEPT_GROUPS_BYTES = 2 * (GENERATION_BYTES + SLOTS * WORD);
/** Words before a key: its hash, its length and the length of the group. */
const HEAD_WORDS = 3;

/** The entries follow one another: hash · bytes of the key · bytes of the group · key · group. */
class Generation {
  readonly bytes: Uint8Array;
  /** The memory of `bytes`, read as integers of four bytes. */
  readonly words: Int32Array;
  /** By slot: index of an entry's first word plus 1; 0 for none. */
  readonly #slots = new Int32Array(SLOTS);
  #end = 0;

  constructor() {
    this.words = new Int32Array(GENERATION_BYTES / WORD);
    this.bytes = new Uint8Array(this.words.buffer);
  }

  clear(): void {
    this.#slots.fill(0);
    this.#end = 0;
  }

  /** Index of an entry's first word; −1 for none. */
  find(hash: number, key: StreetKey): number {
    for (let place = 0; place < PLACES; place += 1) {
      const entry = this.#slots[(hash + place) & (SLOTS - 1)]! - 1;
      if (entry < 0) return -1;
      if (this.words[entry] === hash && this.#holds(entry, key)) return entry;
    }
    return -1;
  }

  #holds(entry: number, { length, words }: StreetKey): boolean {
    const own = this.words;
    if (own[entry + 1] !== length) return false;
    const from = entry + HEAD_WORDS;
    for (let at = wordsIn(length) - 1; at >= 0; at -= 1) {
      if (own[from + at] !== words[at]) return false;
    }
    return true;
  }

  /** Where the group of an entry begins in `bytes`. */
  startOf(entry: number): number {
    return (entry + HEAD_WORDS + wordsIn(this.words[entry + 1]!)) * WORD;
  }

  /** Index of the new entry's first word; −1 where there is no room. */
  add(hash: number, key: StreetKey, group: Uint8Array): number {
    const entry = this.#end;
    const words = this.words;
    const end = entry + HEAD_WORDS + wordsIn(key.length) + wordsIn(group.length);
    if (end > words.length) return -1;
    words[entry] = hash;
    words[entry + 1] = key.length;
    words[entry + 2] = group.length;
    for (let at = wordsIn(key.length) - 1; at >= 0; at -= 1) {
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

function wordsIn(bytes: number): number {
  return (bytes + WORD - 1) >>> 2;
}

/**
 * Keeps the groups that were read last, found by a hash of their keys, which is faster than a
 * search in the table's tree (docs/benchmarks.md). When the young generation is full it becomes the
 * old one, and the old one's memory is reused. Where most groups are gone before they are asked for
 * again, none is kept for a while.
 */
export class KeptGroups {
  #young: Generation | null = null;
  #old: Generation | null = null;
  /** The object that is returned each time, with other members. */
  readonly #group = { bytes: new Uint8Array(0) as Uint8Array, start: 0, end: 0, isLasting: true };
  #hash = 0;
  readonly #pays = new KeepingPays();

  /** The group of a key, or null where it is not kept. */
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

  /** Keeps the group of the key that `find` has just not found. */
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

  /** Begins a new generation. Drops the young one where too few of its groups were found again. */
  #turn(): void {
    const spent = this.#old ?? new Generation();
    spent.clear();
    this.#old = this.#pays.turn() ? this.#young : null;
    this.#young = spent;
  }

  #handOut(generation: Generation, entry: number): Group {
    const start = generation.startOf(entry);
    return this.#give(generation.bytes, start, start + generation.words[entry + 2]!, true);
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

const NONE: readonly Locality[] = [];

/** ZIPs in each of two generations of the cache below; there are fewer in the country. */
const ZIPS_MAX = 65_536;
/** With this factor, a state's two letters and a ZIP make one number below 2³¹. */
const ZIP_SPAN = 100_000;
const STATE_SPAN = 128 * ZIP_SPAN;

/** Reads the street table. */
export class StreetIndex {
  readonly #table: StreetTable;
  readonly #key = new StreetKey();
  readonly #zipKey = new StreetKey();
  readonly #kept = new KeptGroups();
  /** States with any streets; those of other states are not looked for. */
  readonly #states: WordTable<true>;
  readonly #localities = new Map<string, StateLocalities>();
  /** Whether a ZIP has streets. Where a state's addresses come without ZIPs, none has. */
  readonly #zips = new NumberCache<boolean>(ZIPS_MAX);

  constructor(table: StreetTable) {
    this.#table = table;
    const states = Buffer.from(table.get(STATES_KEY) ?? []).toString('latin1');
    this.#states = wordsOf(states.match(/../g) ?? []);
  }

  /** Whether there is anything for a state; if not, none of its streets is ever found. */
  hasState(state: string): boolean {
    return this.#states.has(state);
  }

  /** Localities that the name of a city may mean; empty when no source knows the name. */
  localities(state: string, name: string): readonly Locality[] {
    if (!this.hasState(state)) return NONE;
    const { byName } = this.#stateLocalities(state);
    const fold = foldLocality(name);
    return byName.get(fold) ?? byName.get(withoutMunicipalEnding(fold)) ?? NONE;
  }

  locality(state: string, id: number): Locality | null {
    return this.#stateLocalities(state).byId[id] ?? null;
  }

  /** Streets of a folded name in a ZIP, to be read by a StreetCursor. */
  zipGroup(state: string, zip: number, fold: string): Group | null {
    const key = this.#key.zipGroup(state, zip, fold);
    const kept = this.#kept.find(key);
    return kept ?? (this.hasZip(state, zip) ? this.#read(key) : null);
  }

  /** Streets of a folded name in a locality whose ZIP is not known. */
  townGroup(state: string, locality: number, fold: string): Group | null {
    return this.#group(this.#key.ofLocality('t|', state, locality, fold));
  }

  /** Where a locality has streets of a folded name: ZIPs, or −id of localities without ZIPs. */
  cityPlaces(state: string, locality: number, fold: string, into: number[]): void {
    const group = this.#group(this.#key.ofLocality('c|', state, locality, fold));
    if (group !== null) addPlaces(group, into);
  }

  /** Names of a ZIP's streets that differ from a name by one typo, with their words apart. */
  similarInZip(state: string, zip: number, name: string, into: string[]): void {
    namesWithinOneTypo(this.#table.get(zipNamesKey(state, zip)), name, into);
  }

  similarInCity(state: string, locality: number, name: string, into: string[]): void {
    namesWithinOneTypo(this.#table.get(cityNamesKey(state, locality)), name, into);
  }

  /** Whether the ZIP has any streets. */
  hasZip(state: string, zip: number): boolean {
    if (!this.hasState(state)) return false;
    const key = state.charCodeAt(0) * STATE_SPAN + state.charCodeAt(1) * ZIP_SPAN + zip;
    const known = this.#zips.get(key);
    if (known !== undefined) return known;
    const held = this.#table.group(this.#zipKey.zipNames(state, zip)) !== null;
    this.#zips.set(key, held);
    return held;
  }

  /** Tax areas stated for a ZIP+4 on a day; empty when no source states any. */
  addOn(state: string, zip: number, addOn: number, day: DateInt): readonly number[] {
    const bytes = this.hasState(state) ? this.#table.get(addOnsKey(state, zip)) : null;
    return bytes === null ? [] : areasOfAddOn(bytes, addOn, day);
  }

  /** What the state's boundary file says of a ZIP on a day; null where it does not name it. */
  statedZip(state: string, zip: number, day: DateInt): StatedZip | null {
    const bytes = this.hasState(state) ? this.#table.get(statedZipKey(state, zip)) : null;
    return bytes === null ? null : areasOfZip(bytes, day);
  }

  #group(key: StreetKey): Group | null {
    return this.#kept.find(key) ?? this.#read(key);
  }

  #read(key: StreetKey): Group | null {
    const bytes = this.#table.group(key);
    return bytes === null ? null : this.#kept.keep(key, bytes);
  }

  #stateLocalities(state: string): StateLocalities {
    let known = this.#localities.get(state);
    if (known === undefined) {
      known = readLocalities(this.#table.get(localitiesKey(state)));
      // Cached only for keys of two letters, of which there are few.
      if (state.length === 2) this.#localities.set(state, known);
    }
    return known;
  }
}
