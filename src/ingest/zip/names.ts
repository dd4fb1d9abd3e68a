/** Places by the names that people, the post office and lists use. */
import { foldName } from '../../address/place-name.js';
import type { PlaceFact } from '../model.js';
import type { CityAlias } from './zip-facts.js';

const PARENTHESES = /^(.*?) \(([^()]+)\)$/;
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

/** A place under one of its names, in some of its counties. */
interface NamedPlace {
  readonly place: PlaceFact;
  readonly counties: readonly string[];
}

/** Finds places by state and folded name. */
export class PlaceNames {
  readonly #byName = new Map<string, NamedPlace[]>();
  readonly #byGeoid = new Map<string, PlaceFact>();

  constructor(places: readonly PlaceFact[], aliases: readonly CityAlias[]) {
    for (const place of places) {
      this.#byGeoid.set(place.geoid, place);
      for (const name of placeNames(place)) {
        this.#add(place.state, name, { place, counties: place.counties });
      }
    }
    for (const alias of aliases) {
      const place = this.#byGeoid.get(alias.place);
      if (place === undefined) continue;
      const counties = alias.county === '' ? place.counties : [alias.county];
      this.#add(alias.state, alias.name, { place, counties });
    }
  }

  #add(state: string, name: string, named: NamedPlace): void {
    const key = `${state}|${foldName(name)}`;
    const list = this.#byName.get(key);
    if (list === undefined) this.#byName.set(key, [named]);
    else if (!list.some(({ place }) => place === named.place)) list.push(named);
  }

  find(state: string, name: string): readonly NamedPlace[] {
    return this.#byName.get(`${state}|${foldName(name)}`) ?? [];
  }

  place(geoid: string): PlaceFact | undefined {
    return this.#byGeoid.get(geoid);
  }
}
