/** Streets of a name beyond the ZIP that is given: in the place named, and in towns of the ZIP. */
import type { Dataset } from '../../dataset/dataset.js';
import type { Locality } from '../../dataset/locality-list.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import type { StreetIndex } from '../../dataset/street-index.js';
import type { Candidates } from './candidates.js';
import { lies, liesIn, type Query } from './search.js';
import { mayReach, NOWHERE, type Reached, ZipTowns } from './zip-towns.js';

/** Most ZIPs of one city that are tried; only the largest cities have this many. */
export const CITY_ZIPS_MAX = 200;

/** Finds them in one dataset, and has them considered as what they are evidence of. */
export class WiderSearch {
  readonly #streets: StreetIndex;
  readonly #towns: ZipTowns;
  readonly #cursor = new StreetCursor();
  readonly #places: number[] = [];

  constructor(dataset: Dataset) {
    this.#streets = dataset.streets;
    this.#towns = new ZipTowns(dataset);
  }

  /** The city's streets of the name, whatever their ZIP. */
  inCity(query: Query, fold: string, agreed: Candidates, elsewhere: Candidates): void {
    const { zip } = query;
    // What lies under another ZIP is not asked where the ZIP has the door.
    const isMet = agreed.hasRightDoor && zip > 0;
    for (const place of this.#placesOf(query, fold, query.localities)) {
      if (place === zip || (place > 0 && isMet)) continue;
      const into = this.#mayHave(query, place) ? agreed : elsewhere;
      this.#scan(query, fold, place, query.localities, into);
    }
  }

  /** Those that lie in the place named, whatever the ZIP is evidence of. */
  inPlaceNamed(query: Query, fold: string, into: Candidates): void {
    for (const place of this.#placesOf(query, fold, query.localities)) {
      this.#scan(query, fold, place, query.localities, into);
    }
  }

  /** Streets without a ZIP in towns that the ZIP reaches, where they lie in its areas. */
  inTowns(query: Query, fold: string, agreed: Candidates, foreign: Candidates): void {
    const reached = this.reached(query);
    if (reached === NOWHERE) return;
    const { state, zip, localities, city, reading, wanted } = query;
    const others = reached.towns.filter((town) => !localities.includes(town));
    const agrees = reading.city === '' || (localities.length === 0 && city?.zips.includes(zip));
    const into = agrees ? agreed : foreign;
    const cursor = this.#cursor;
    for (const place of this.#placesOf(query, fold, others)) {
      const group = place < 0 ? this.#streets.townGroup(state, -place, fold) : null;
      if (group === null) continue;
      cursor.open(group);
      while (cursor.next()) {
        if (!mayReach(cursor, reached)) continue;
        into.consider(cursor, 0, wanted, liesIn(cursor, localities));
      }
    }
  }

  /** The ZIPs of a postal city. */
  inPostalCity(query: Query, fold: string, into: Candidates): void {
    for (const zip of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
      if (zip !== query.zip) this.#scan(query, fold, zip, null, into);
    }
  }

  /** The towns that the query's ZIP reaches. */
  reached({ state, zipRecord }: Query): Reached {
    return zipRecord === null ? NOWHERE : this.#towns.of(state, zipRecord);
  }

  /** Where localities have streets of the name, as of `cityPlaces`; for a moment. */
  #placesOf({ state }: Query, fold: string, localities: readonly Locality[]): readonly number[] {
    const places = this.#places;
    places.length = 0;
    for (const { id } of localities) this.#streets.cityPlaces(state, id, fold, places);
    return places;
  }

  /** Whether the ZIP that was given may be that of a place's streets. */
  #mayHave(query: Query, place: number): boolean {
    const { zip, city } = query;
    if (zip === 0) return true;
    if (place > 0) return false;
    if (city?.zips.includes(zip) === true || query.zipRecord === null) return true;
    return this.reached(query).towns.some(({ id }) => id === -place);
  }

  /** Streets of a ZIP, or of a locality without ZIPs (negative), that lie in the localities. */
  #scan(
    query: Query,
    fold: string,
    place: number,
    localities: readonly Locality[] | null,
    into: Candidates,
  ): void {
    const { state, wanted } = query;
    const group =
      place > 0
        ? this.#streets.zipGroup(state, place, fold)
        : this.#streets.townGroup(state, -place, fold);
    if (group === null) return;
    const cursor = this.#cursor;
    cursor.open(group);
    while (cursor.next()) {
      if (localities !== null && !lies(cursor, localities)) continue;
      const named = liesIn(cursor, query.localities);
      into.consider(cursor, Math.max(0, place), wanted, named);
    }
  }
}
