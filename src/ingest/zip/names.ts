/** Places by the names that people, the post office and lists use. */
import { closedName, foldName } from '../../address/place-name.js';
import type { PlaceFact } from '../model.js';
import type { CityAlias } from './zip-facts.js';

const PARENTHESES = /^(.*?) \(([^()]+)\)$/;
const KIND = /^(CITY|TOWN|VILLAGE) OF | (CITY|TOWN|VILLAGE)$/;
const CONSOLIDATED = /government|county|\(balance\)/i;

/**
 * Names of a place, the usual one first. The Census Bureau writes a second name in parentheses,
 * "(balance)" for what a consolidated city leaves of its county, and both partners of a
 * consolidation.
 */
export function placeNames(place: PlaceFact): readonly string[] {
  const bare = place.name.replace(/ \(balance\)$/i, '');
  if (CONSOLIDATED.test(`${place.fullName} ${place.name}`)) {
    const [city = bare] = bare.split(/[-/,]/);
    return [...new Set([city.replace(/ city$/, '').trim(), place.name])];
  }
  const [, outer, inner] = PARENTHESES.exec(bare) ?? [];
  return outer !== undefined && inner !== undefined ? [outer, inner] : [bare];
}

/** Whether two names of one place differ in spelling alone: "Heber City" and "Heber". */
function isSameName(one: string, other: string): boolean {
  const [left, right] = [foldName(one), foldName(other)];
  return (
    closedName(left) === closedName(right) || left.replace(KIND, '') === right.replace(KIND, '')
  );
}

/** A place under one of its names, in some of its counties. */
interface NamedPlace {
  readonly place: PlaceFact;
  readonly counties: readonly string[];
}

/**
 * Finds places by state and name. The post office writes "Mc Cook" for McCook: a name that no place
 * has is that of the place that is so called but for blanks.
 */
export class PlaceNames {
  readonly #byName = new Map<string, NamedPlace[]>();
  readonly #byClosedName = new Map<string, NamedPlace[]>();
  /** Keys of the names that are no aliases. */
  readonly #own = new Set<string>();
  readonly #byGeoid = new Map<string, PlaceFact>();

  constructor(places: readonly PlaceFact[], aliases: readonly CityAlias[]) {
    for (const place of places) {
      this.#byGeoid.set(place.geoid, place);
      for (const name of placeNames(place)) {
        const named = { place, counties: place.counties };
        const key = nameKey(place.state, name);
        this.#own.add(key);
        add(this.#byName, key, named);
        add(this.#byClosedName, `${place.state}|${closedName(name)}`, named);
      }
    }
    for (const alias of aliases) {
      const place = this.#byGeoid.get(alias.place);
      if (place === undefined) continue;
      const counties = alias.county === '' ? place.counties : [alias.county];
      add(this.#byName, nameKey(alias.state, alias.name), { place, counties });
    }
  }

  find(state: string, name: string): readonly NamedPlace[] {
    return (
      this.#byName.get(nameKey(state, name)) ??
      this.#byClosedName.get(`${state}|${closedName(name)}`) ??
      []
    );
  }

  /**
   * The place's own spelling of a name that no place has as it is written, in some counties. Null
   * where there is none, or where several places there could be meant.
   */
  ownSpelling(state: string, name: string, counties: readonly string[]): string | null {
    if (this.#own.has(nameKey(state, name))) return null;
    const [named, ...others] = this.find(state, name).filter((each) =>
      each.counties.some((county) => counties.includes(county)),
    );
    if (named === undefined || others.length > 0) return null;
    return placeNames(named.place).find((own) => isSameName(own, name)) ?? null;
  }

  place(geoid: string): PlaceFact | undefined {
    return this.#byGeoid.get(geoid);
  }
}

/** Key of a name within its state, the same for every spelling that folds alike. */
export function nameKey(state: string, name: string): string {
  return `${state}|${foldName(name)}`;
}

function add(to: Map<string, NamedPlace[]>, key: string, named: NamedPlace): void {
  const list = to.get(key);
  if (list === undefined) to.set(key, [named]);
  else if (!list.some(({ place }) => place === named.place)) list.push(named);
}
