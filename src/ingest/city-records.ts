/** City names of each state with the ZIPs and the tax areas they lead to. */
import type { CityRecord } from '../dataset/records.js';
import { foldName, plainName } from '../engine/postal-name.js';
import { placeNames } from './city-names.js';
import type { PlaceFact } from './model.js';
import { tupleOf, type Ground } from './zip-cities.js';
import type { ZipGround } from './zip-counties.js';
import type { ZipInput } from './zip-model.js';
import type { BoundZip } from './zip-parts.js';

interface Draft {
  name: string;
  readonly keys: Set<string>;
  readonly zips: Set<number>;
  readonly areas: Set<number>;
}

class CityDrafts {
  readonly #drafts = new Map<string, Draft>();

  /** The draft of a name; `preferred` names win over those met first. */
  open(state: string, name: string, preferred: boolean): Draft {
    const key = `${state}|${foldName(name)}`;
    const found = this.#drafts.get(key);
    const draft = found ?? { name, keys: new Set([key]), zips: new Set(), areas: new Set() };
    if (preferred) draft.name = name;
    draft.keys.add(`${state}|${plainName(name)}`);
    this.#drafts.set(key, draft);
    return draft;
  }

  records(): Map<string, CityRecord> {
    const records = new Map<string, CityRecord>();
    for (const { name, keys, zips, areas } of this.#drafts.values()) {
      const ascending = (a: number, b: number): number => a - b;
      const record = {
        name, zips: [...zips].sort(ascending), areas: [...areas].sort(ascending),
      };
      for (const key of keys) records.set(key, record);
    }
    return records;
  }
}

/**
 * Collects names of postal cities, places and aliases. A postal spelling is preferred for printing,
 * since addresses are printed with it.
 */
export function cityRecords(
  input: ZipInput,
  ground: Ground,
  zips: readonly ZipGround[],
  bound: readonly BoundZip[],
): Map<string, CityRecord> {
  const drafts = new CityDrafts();
  const addPlace = (name: string, place: PlaceFact, counties: readonly string[]): void => {
    const draft = drafts.open(place.state, name, false);
    for (const county of counties) {
      const tuple = tupleOf(ground, place, county);
      if (tuple !== null) draft.areas.add(input.intern(tuple));
    }
  };
  for (const place of input.places) {
    for (const name of placeNames(place)) addPlace(name, place, place.counties);
  }
  for (const { name, place: geoid, county } of input.facts.aliases) {
    const place = ground.names.place(geoid);
    if (place !== undefined) addPlace(name, place, county === '' ? place.counties : [county]);
  }
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
