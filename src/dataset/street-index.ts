/** Finds the streets of a ZIP or a locality in a dataset. Keeps those that were read last. */
import { NumberCache, RecentMemory, wordsOf, type WordTable } from '../base/tables.js';
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

/** Slots of a generation; a power of two. */
export const SLOTS = 131_072;

/** Entries that follow one another, in memory that the system provides only as it is written. */
export class Generation {
  readonly words: Int32Array;
  /** The memory of `words`. */
  readonly bytes: Uint8Array;
  /** Where the entries are; what the slot of an entry is and holds its user decides. */
  readonly slots = new Int32Array(SLOTS);
  end = 0;

  constructor(words: number) {
    this.words = new Int32Array(words);
    this.bytes = new Uint8Array(this.words.buffer);
  }
}

/** Bytes of a generation. */
const GENERATION_BYTES = 8 * 1024 * 1024;
/** Longer groups are not kept. The longest in the publishers' files at hand has 5,085 bytes. */
const KEPT_BYTES_MAX = GENERATION_BYTES / 16;
/** Slots that are tried for a key. If all are taken, the entry in the last one is lost. */
const PLACES = 8;
const WORD = 4;
/** Memory for all kept groups of one release. */
export const KEPT_GROUPS_BYTES = 2 * (GENERATION_BYTES + SLOTS * WORD);
/** Words before a key: its hash, its length and the length of the group. */
const HEAD_WORDS = 3;

/** The slot of a key, or one of those behind it: first word of its entry and 1; 0 for none. */
function slotOf(hash: number, place: number): number {
  return (hash + place) & (SLOTS - 1);
}

function wordsIn(bytes: number): number {
  return (bytes + WORD - 1) >>> 2;
}

/** Whether an entry is of a key with its hash. */
function holds(own: Int32Array, entry: number, { length, words }: StreetKey): boolean {
  if (own[entry + 1] !== length) return false;
  const from = entry + HEAD_WORDS;
  for (let at = wordsIn(length) - 1; at >= 0; at -= 1) {
    if (own[from + at] !== words[at]) return false;
  }
  return true;
}

/** Where the group of an entry begins in bytes. */
function startOf(words: Int32Array, entry: number): number {
  return (entry + HEAD_WORDS + wordsIn(words[entry + 1]!)) * WORD;
}

/**
 * Groups that were read last, found by a hash of their keys in place of a walk down the table's
 * tree (docs/benchmarks.md). Entries: hash · bytes of the key · bytes of the group · key · group.
 */
export class KeptGroups extends RecentMemory<Generation> {
  /** Handed out again and again. */
  readonly #group = { bytes: new Uint8Array(0) as Uint8Array, start: 0, end: 0, isLasting: true };
  #hash = 0;

  protected override begun(): Generation {
    return new Generation(GENERATION_BYTES / WORD);
  }

  /** The group of a key, or null where it is not kept. */
  find(key: StreetKey): Group | null {
    if (this.rests()) return null;
    this.#hash = key.hash();
    return this.#findIn(this.young, key) ?? this.#findIn(this.old, key);
  }

  #findIn(generation: Generation | null, key: StreetKey): Group | null {
    if (generation === null) return null;
    const { slots, words } = generation;
    const hash = this.#hash;
    for (let place = 0; place < PLACES; place += 1) {
      const entry = slots[slotOf(hash, place)]! - 1;
      if (entry < 0) return null;
      if (words[entry] === hash && holds(words, entry, key)) {
        this.found += 1;
        return this.#handOut(generation, entry);
      }
    }
    return null;
  }

  /** Keeps the group of the key that `find` has just not found. */
  keep(key: StreetKey, group: Uint8Array): Group {
    if (!this.isResting && group.length <= KEPT_BYTES_MAX) {
      const young = (this.young ??= this.begun());
      this.kept += 1;
      const entry = this.#add(young, key, group);
      if (entry >= 0) return this.#handOut(young, entry);
      this.turn();
    }
    return this.#give(group, 0, group.length, false);
  }

  /** First word of the new entry; −1 where there is no room. */
  #add(young: Generation, key: StreetKey, group: Uint8Array): number {
    const { words, slots, end: entry } = young;
    const end = entry + HEAD_WORDS + wordsIn(key.length) + wordsIn(group.length);
    if (end > words.length) return -1;
    words[entry] = this.#hash;
    words[entry + 1] = key.length;
    words[entry + 2] = group.length;
    for (let at = wordsIn(key.length) - 1; at >= 0; at -= 1) {
      words[entry + HEAD_WORDS + at] = key.words[at]!;
    }
    young.bytes.set(group.subarray(0, group.length), startOf(words, entry));
    young.end = end;
    let place = 0;
    while (place < PLACES - 1 && slots[slotOf(this.#hash, place)] !== 0) place += 1;
    slots[slotOf(this.#hash, place)] = entry + 1;
    return entry;
  }

  #handOut({ words, bytes }: Generation, entry: number): Group {
    const start = startOf(words, entry);
    return this.#give(bytes, start, start + words[entry + 2]!, true);
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
