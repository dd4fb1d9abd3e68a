/** Addresses of a dataset: which streets a ZIP or a locality has, and where their doors are. */
import type { StreetCursor } from './street-cursor.js';
import { NumberCache, RecentCache, wordsOf, type WordTable } from '../base/tables.js';
import type { DateInt } from '../tax/date.js';
import { type Group, KeptGroups, StreetKey } from './street-groups.js';
import type { StreetTable } from './layout.js';
import { areasOfAddOn, areasOfZip, type StatedZip } from './stated-areas.js';
import {
  addOnsKey,
  cityNamesKey,
  localitiesKey,
  LOCALITY_IS_MUNICIPALITY,
  LOCALITY_WITHOUT_ZIPS,
  type LocalityRow,
  namesWithinOneTypo,
  statedZipKey,
  STATES_KEY,
  TOWN_BIT,
  zipNamesKey,
} from './street-format.js';

const DIRECTIONS = ['', 'N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/** Code of a direction's abbreviation; 0 for none. */
export function directionCode(direction: string): number {
  return Math.max(0, DIRECTIONS.indexOf(direction));
}

const LONG_FORMS: Readonly<Record<string, string>> = {
  ST: 'SAINT',
  STE: 'SAINTE',
  MT: 'MOUNT',
  FT: 'FORT',
  PT: 'POINT',
  N: 'NORTH',
  S: 'SOUTH',
  SO: 'SOUTH',
  NO: 'NORTH',
  E: 'EAST',
  W: 'WEST',
  HTS: 'HEIGHTS',
  SPGS: 'SPRINGS',
  JCT: 'JUNCTION',
};

/** Folds a locality's name so that "St. Albans", "SAINT ALBANS" and "Saintalbans" are one. */
export function foldLocality(name: string): string {
  const words = name
    .normalize('NFD')
    .toUpperCase()
    .replace(/['’.]|\p{M}/gu, '')
    .split(/[^A-Z0-9]+/u);
  let folded = '';
  for (const word of words) folded += LONG_FORMS[word] ?? word;
  return folded;
}

/** Kinds of municipality that a name may end in where two neighbours share the rest. */
const MUNICIPAL_ENDING = /.(?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/;

/** A folded name without its municipal ending, or "" when it has none. */
export function withoutMunicipalEnding(fold: string): string {
  const found = MUNICIPAL_ENDING.exec(fold);
  return found === null ? '' : fold.slice(0, found.index + 1);
}

/** A city, town or village as the address sources name it. */
export interface Locality {
  readonly id: number;
  readonly label: string;
  /** Some of its streets have no known ZIP. */
  readonly withoutZips: boolean;
  /** A source lists its doors as those of the municipality, not of a postal city. */
  readonly isMunicipality: boolean;
}

/** Localities of one state, by folded name and by number. */
interface StateLocalities {
  readonly byName: ReadonlyMap<string, readonly Locality[]>;
  readonly byId: readonly Locality[];
  /** Answers for names as written, to fold each but once. */
  readonly asked: RecentCache<string, readonly Locality[]>;
}

/** Answers kept per state, in each of two generations. */
const ASKED_MAX = 5_000;

const NONE: readonly Locality[] = [];

/** ZIPs whose being held is remembered, in each of two generations: more than there are. */
const ZIPS_MAX = 65_536;
/** A state's two letters and a ZIP make one number below 2³¹. */
const ZIP_SPAN = 100_000;
const STATE_SPAN = 128 * ZIP_SPAN;

function readLocalities(bytes: Uint8Array | null): StateLocalities {
  const asked = new RecentCache<string, readonly Locality[]>(ASKED_MAX);
  if (bytes === null) return { byName: new Map(), byId: [], asked };
  const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly LocalityRow[];
  const exact = new Map<string, Locality[]>();
  const shortened = new Map<string, Locality[]>();
  const byId = rows.map(([name, label, flags], id) => {
    const locality = {
      id,
      label,
      withoutZips: (flags & LOCALITY_WITHOUT_ZIPS) !== 0,
      isMunicipality: (flags & LOCALITY_IS_MUNICIPALITY) !== 0,
    };
    if (id > 0) add(exact, name, locality);
    const short = withoutMunicipalEnding(name);
    if (short !== '') add(shortened, short, locality);
    return locality;
  });
  // "Barre" means Barre City and Barre Town unless a source knows a plain Barre.
  for (const [name, list] of shortened) if (!exact.has(name)) exact.set(name, list);
  return { byName: exact, byId, asked };
}

function add(into: Map<string, Locality[]>, name: string, locality: Locality): void {
  const list = into.get(name);
  if (list === undefined) into.set(name, [locality]);
  else list.push(locality);
}

/** Reads the street table. */
export class StreetIndex {
  readonly isEmpty: boolean;
  readonly #table: StreetTable;
  readonly #key = new StreetKey();
  readonly #kept = new KeptGroups();
  /** States that the table has anything of; streets of no other are looked for. */
  readonly #states: WordTable<true>;
  readonly #localities = new Map<string, StateLocalities>();
  /** The state that was asked for last. */
  #lastState = '?';
  #last: StateLocalities = readLocalities(null);
  /** Which ZIPs have streets: where addresses come without their ZIP, none of a state has. */
  readonly #zips = new NumberCache<boolean>(ZIPS_MAX);

  constructor(table: StreetTable) {
    this.#table = table;
    const states = Buffer.from(table.get(STATES_KEY) ?? []).toString('latin1');
    this.#states = wordsOf(states.match(/../g) ?? []);
    this.isEmpty = states.length < 2;
  }

  /** Whether anything is held of a state; what is asked of another one is never found. */
  hasState(state: string): boolean {
    return this.#states.has(state);
  }

  /** Localities that a city name may mean; none when no source knows the name. */
  localities(state: string, name: string): readonly Locality[] {
    if (!this.hasState(state)) return NONE;
    const { byName, asked } = this.#stateLocalities(state);
    const known = asked.get(name);
    if (known !== undefined) return known;
    const fold = foldLocality(name);
    const found = byName.get(fold) ?? byName.get(withoutMunicipalEnding(fold)) ?? NONE;
    asked.set(name, found);
    return found;
  }

  locality(state: string, id: number): Locality | null {
    return this.#stateLocalities(state).byId[id] ?? null;
  }

  /** Streets of a folded name in a ZIP, for a StreetCursor. */
  zipGroup(state: string, zip: number, fold: string): Group | null {
    const key = this.#key.zipGroup(state, zip, fold);
    const kept = this.#kept.find(key);
    return kept ?? (this.hasZip(state, zip) ? this.#read(key) : null);
  }

  /** Streets of a folded name in a locality, those whose ZIP is not known. */
  townGroup(state: string, locality: number, fold: string): Group | null {
    return this.#group(this.#key.townGroup(state, locality, fold));
  }

  /** Where a locality has streets of a folded name: ZIPs, or −id of localities without ZIPs. */
  cityPlaces(state: string, locality: number, fold: string, into: number[]): void {
    const group = this.#group(this.#key.city(state, locality, fold));
    if (group === null) return;
    const { bytes, start, end } = group;
    for (let at = start; at + 4 <= end; at += 4) {
      const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
      const place = (low | (bytes[at + 3]! << 24)) >>> 0;
      const signed = place >= TOWN_BIT ? TOWN_BIT - place : place;
      if (!into.includes(signed)) into.push(signed);
    }
  }

  /** Names of a ZIP's streets, words apart, that differ from a name by one typo. */
  similarInZip(state: string, zip: number, name: string, into: string[]): void {
    namesWithinOneTypo(this.#table.get(zipNamesKey(state, zip)), name, into);
  }

  similarInCity(state: string, locality: number, name: string, into: string[]): void {
    namesWithinOneTypo(this.#table.get(cityNamesKey(state, locality)), name, into);
  }

  /** Whether any street of the ZIP is held. */
  hasZip(state: string, zip: number): boolean {
    if (!this.hasState(state)) return false;
    const key = state.charCodeAt(0) * STATE_SPAN + state.charCodeAt(1) * ZIP_SPAN + zip;
    const known = this.#zips.get(key);
    if (known !== undefined) return known;
    const held = this.#table.get(zipNamesKey(state, zip)) !== null;
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
    if (state === this.#lastState) return this.#last;
    this.#last = this.#readState(state);
    this.#lastState = state;
    return this.#last;
  }

  #readState(state: string): StateLocalities {
    let known = this.#localities.get(state);
    if (known === undefined) {
      known = readLocalities(this.#table.get(localitiesKey(state)));
      // Only two-letter keys are ever asked for, so the cache stays small.
      if (state.length === 2) this.#localities.set(state, known);
    }
    return known;
  }
}

/** Whether the street under the cursor lies in one of the places. */
export function lies(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  for (const { id } of localities) {
    if (cursor.city === id || cursor.municipality === id) return true;
  }
  return false;
}

/** Whether it lies in the place named; in any, where none is known. */
export function liesIn(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  return localities.length === 0 || lies(cursor, localities);
}
