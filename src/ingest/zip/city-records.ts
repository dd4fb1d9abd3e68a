/** Records of cities by the names that addresses may use, with their ZIPs and areas. */
import { plainName } from '../../address/place-name.js';
import type { CityRecord } from '../../dataset/records.js';
import { NO_DISTRICTS } from '../layer/districts.js';
import type { PlaceFact } from '../model.js';
import { type SharedFacts, tupleOf } from './cities.js';
import type { PostalZip } from './counties.js';
import { nameKey, placeNames } from './names.js';
import type { ZipLists } from './zip-facts.js';
import type { BoundZip } from './zip-parts.js';

interface Draft {
  name: string;
  readonly keys: Set<string>;
  readonly zips: Set<number>;
  readonly areas: Set<number>;
}

class CityDrafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #spellings: ReadonlyMap<string, string>;

  /** `spellings` has the key of the place's own spelling by that of another one. */
  constructor(spellings: ReadonlyMap<string, string>) {
    this.#spellings = spellings;
  }

  /** The draft of a name; `preferred` spellings replace those seen first. */
  open(state: string, name: string, preferred: boolean): Draft {
    const key = nameKey(state, name);
    const own = this.#spellings.get(key) ?? key;
    const found = this.#drafts.get(own);
    const draft = found ?? { name, keys: new Set(), zips: new Set(), areas: new Set() };
    if (preferred) draft.name = name;
    draft.keys.add(key).add(`${state}|${plainName(name)}`);
    this.#drafts.set(own, draft);
    return draft;
  }

  records(): Map<string, CityRecord> {
    const records = new Map<string, CityRecord>();
    for (const { name, keys, zips, areas } of this.#drafts.values()) {
      const ascending = (a: number, b: number): number => a - b;
      const record = {
        name,
        zips: [...zips].sort(ascending),
        areas: [...areas].sort(ascending),
      };
      for (const key of keys) records.set(key, record);
    }
    return records;
  }
}

/** Names of ZIPs and aliases that are places' own names, written in another way. */
function spellingsOf(
  { facts }: ZipLists,
  { names }: SharedFacts,
  zips: readonly PostalZip[],
): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  const note = (state: string, name: string, counties: readonly string[]): void => {
    const own = names.ownSpelling(state, name, counties);
    if (own !== null) spellings.set(nameKey(state, name), nameKey(state, own));
  };
  for (const { state, name, place, county } of facts.aliases) {
    if (county === '') note(state, name, names.place(place)?.counties ?? []);
  }
  for (const zip of zips) for (const name of zip.names) note(zip.state, name, zip.counties);
  return spellings;
}

/**
 * Collects the names of postal cities, places and aliases. For printing, the postal spelling is
 * preferred.
 */
export function cityRecords(
  input: ZipLists,
  shared: SharedFacts,
  zips: readonly PostalZip[],
  bound: readonly BoundZip[],
): Map<string, CityRecord> {
  const drafts = new CityDrafts(spellingsOf(input, shared, zips));
  const addPlace = (name: string, place: PlaceFact, counties: readonly string[]): void => {
    const draft = drafts.open(place.state, name, false);
    for (const county of counties) {
      const tuple = tupleOf(shared, place, county);
      if (tuple === null) continue;
      for (const each of (input.districts ?? NO_DISTRICTS).variants(tuple, null, [])) {
        draft.areas.add(input.intern(each));
      }
    }
  };
  for (const place of input.places) {
    for (const name of placeNames(place)) addPlace(name, place, place.counties);
  }
  for (const { name, place: geoid, county } of input.facts.aliases) {
    const place = shared.names.place(geoid);
    if (place !== undefined) addPlace(name, place, county === '' ? place.counties : [county]);
  }
  // A listed city without a boundary gets a record without areas, so that its name is not taken for
  // another city.
  for (const { state, name } of input.unplaced) drafts.open(state, name, false);
  zips.forEach(({ zip, state, names }, index) => {
    for (const name of names) drafts.open(state, name, true).zips.add(zip);
    const one = bound[index];
    one?.parts.forEach(({ city, incorporated }, part) => {
      const own = one.states[part] ?? state;
      if (incorporated && city !== '') drafts.open(own, city, false).zips.add(zip);
    });
  });
  return drafts.records();
}
