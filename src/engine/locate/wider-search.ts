/**
 * Searches for streets beyond the given ZIP: in the named place under other ZIPs, and in towns
 * whose streets come without a ZIP, if the ZIP reaches into them.
 */
import { NumberCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { Locality } from '../../dataset/locality-list.js';
import type { ZipRecord } from '../../dataset/records.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import type { StreetIndex } from '../../dataset/street-index.js';
import type { Candidates } from './candidates.js';
import { withoutSlivers } from './doubt.js';
import { lies, liesIn, type Query } from './search.js';

/** Most ZIPs of one city that are tried; only the largest cities have this many. */
export const CITY_ZIPS_MAX = 200;

/** ZIPs whose towns are remembered, in each of two generations. */
const ZIPS_MAX = 10_000;

/** The towns without ZIPs that a ZIP reaches in a state. */
interface Reached {
  readonly towns: readonly Locality[];
  /** Towns that share their name with another one; only their streets in `areas` are meant. */
  readonly namesakes: readonly Locality[];
  readonly areas: ReadonlySet<number>;
}

/** Used for a ZIP that is unknown or reaches no such towns. */
const NOWHERE: Reached = { towns: [], namesakes: [], areas: new Set() };

/** The towns whose streets come without ZIPs, by the ZIPs that reach into them. */
class ZipTowns {
  readonly #dataset: Dataset;
  readonly #known = new NumberCache<Reached>(ZIPS_MAX);

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** The towns that a ZIP reaches in a state, by its postal names and the places of its parts. */
  of(state: string, zip: ZipRecord): Reached {
    if (zip.state !== state) return this.#find(state, zip);
    let reached = this.#known.get(zip.zip);
    if (reached === undefined) this.#known.set(zip.zip, (reached = this.#find(state, zip)));
    return reached;
  }

  #find(state: string, { cities, parts }: ZipRecord): Reached {
    const { streets } = this.#dataset;
    if (!streets.hasState(state)) return NOWHERE;
    const areas = withoutSlivers(parts)
      .map(({ area }) => this.#dataset.area(area))
      .filter((area) => area.state === state && area.placeName !== '');
    const names = [...cities, ...areas.map(({ placeName }) => placeName.toUpperCase())];
    const found = [...new Set(names)].map((name) => streets.localities(state, name));
    const towns = withoutZips(found.flat());
    if (towns.length === 0) return NOWHERE;
    const namesakes = withoutZips(found.filter(({ length }) => length > 1).flat());
    return { towns, namesakes, areas: new Set(areas.map(({ id }) => id)) };
  }
}

function withoutZips(localities: readonly Locality[]): readonly Locality[] {
  return [...new Set(localities.filter((locality) => locality.withoutZips))];
}

/** Whether the current street lies in a town that the ZIP may reach. */
function mayReach(cursor: StreetCursor, { towns, namesakes, areas }: Reached): boolean {
  if (!lies(cursor, towns)) return false;
  if (!lies(cursor, namesakes)) return true;
  for (let index = 0; index < cursor.areaCount; index += 1) {
    if (areas.has(cursor.areaOf(index))) return true;
  }
  return false;
}

/** Finds streets of one dataset, and has them considered for the evidence that they are. */
export class WiderSearch {
  readonly #streets: StreetIndex;
  readonly #towns: ZipTowns;
  readonly #cursor = new StreetCursor();
  readonly #places: number[] = [];

  constructor(dataset: Dataset) {
    this.#streets = dataset.streets;
    this.#towns = new ZipTowns(dataset);
  }

  /** Considers the city's streets of the name under any ZIP. */
  inCity(query: Query, fold: string, agreed: Candidates, elsewhere: Candidates): void {
    const { zip } = query;
    // Streets under other ZIPs are not needed where the given ZIP has the door.
    const isMet = agreed.hasRightDoor && zip > 0;
    for (const place of this.#placesOf(query, fold, query.localities)) {
      if (place === zip || (place > 0 && isMet)) continue;
      const into = this.#mayHave(query, place) ? agreed : elsewhere;
      this.#scan(query, fold, place, query.localities, into);
    }
  }

  /** Considers streets that lie in the named place, regardless of the ZIP. */
  inPlaceNamed(query: Query, fold: string, into: Candidates): void {
    for (const place of this.#placesOf(query, fold, query.localities)) {
      this.#scan(query, fold, place, query.localities, into);
    }
  }

  /** Considers streets without a ZIP in towns that the ZIP reaches, if they lie in its areas. */
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

  /** Considers the streets of a postal city's ZIPs. */
  inPostalCity(query: Query, fold: string, into: Candidates): void {
    for (const zip of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
      if (zip !== query.zip) this.#scan(query, fold, zip, null, into);
    }
  }

  /** The towns that the query's ZIP reaches. */
  reached({ state, zipRecord }: Query): Reached {
    return zipRecord === null ? NOWHERE : this.#towns.of(state, zipRecord);
  }

  /** Where localities have streets of the name, as from `cityPlaces`; valid until the next call. */
  #placesOf({ state }: Query, fold: string, localities: readonly Locality[]): readonly number[] {
    const places = this.#places;
    places.length = 0;
    for (const { id } of localities) this.#streets.cityPlaces(state, id, fold, places);
    return places;
  }

  /** Whether streets of a place may have the ZIP that was given. */
  #mayHave(query: Query, place: number): boolean {
    const { zip, city } = query;
    if (zip === 0) return true;
    if (place > 0) return false;
    if (city?.zips.includes(zip) === true || query.zipRecord === null) return true;
    return this.reached(query).towns.some(({ id }) => id === -place);
  }

  /**
   * Considers the streets of a ZIP, or of a locality without ZIPs (negative), that lie in the
   * localities.
   */
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
