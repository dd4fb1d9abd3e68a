/** Search for one reading of an address among the streets of a dataset. */
import type { ParsedAddress } from '../../address/parsed.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import { lies, liesIn, type Locality, type StreetIndex } from '../../dataset/street-index.js';
import { failAmbiguous, isFailure, type Failure } from '../../failure.js';
import type { Situs } from '../situs.js';
import { type AddressWriter, doorFound } from './address-writer.js';
import { Candidates } from './candidates.js';
import { AMBIGUOUS, CONTRADICTION, type DateOf, type Doubts, type Support } from './doubt.js';
import { AREA_NONE, type Wanted } from './street-fit.js';
import { isIn, mayReach, NOWHERE, type Reached, ZipTowns } from './zip-towns.js';

/** Most ZIPs of one city that are tried; only the largest cities have this many. */
export const CITY_ZIPS_MAX = 200;

/** A reading with what the dataset knows of its places. */
export interface Query {
  readonly reading: ParsedAddress;
  /** The folded name of its street. */
  readonly fold: string;
  readonly wanted: Wanted;
  readonly state: string;
  /** 0 for none. */
  readonly zip: number;
  readonly zipRecord: ZipRecord | null;
  readonly localities: readonly Locality[];
  /** Of the city that is named. */
  readonly city: CityRecord | null;
}

type Found =
  /** `alternatives`: where else the number may be meant to be. */
  | {
      readonly kind: 'door';
      readonly from: Candidates;
      readonly support: Support;
      readonly alternatives: readonly number[];
    }
  | { readonly kind: 'street'; readonly from: Candidates; readonly alternatives: readonly number[] }
  | { readonly kind: 'ambiguous'; readonly from: Candidates }
  | { readonly kind: 'nothing'; readonly alternatives: readonly number[] };

const NO_AREAS: readonly number[] = [];
const NOTHING: Found = { kind: 'nothing', alternatives: NO_AREAS };

/**
 * Looks a street name up by all evidence of where it lies. Candidates are kept apart by it:
 * `agreed` lie in the ZIP and in the city (or in the one that is given), `elsewhere` in the city
 * under another ZIP, `foreign` in the ZIP under another city.
 */
export class StreetSearch {
  readonly #doubts: Doubts;
  readonly #writer: AddressWriter;
  readonly #streets: StreetIndex;
  readonly #towns: ZipTowns;
  readonly #cursor = new StreetCursor();
  readonly #agreed: Candidates;
  readonly #elsewhere: Candidates;
  readonly #foreign: Candidates;
  readonly #places: number[] = [];

  constructor(dataset: Dataset, doubts: Doubts, writer: AddressWriter) {
    this.#doubts = doubts;
    this.#writer = writer;
    this.#streets = dataset.streets;
    this.#towns = new ZipTowns(dataset);
    this.#agreed = new Candidates(dataset.cells);
    this.#elsewhere = new Candidates(dataset.cells);
    this.#foreign = new Candidates(dataset.cells);
  }

  /** The door by the street's name as written, of a range both ends; null when it is not there. */
  exact(query: Query, dateOf: DateOf, typed: boolean): Situs | Failure | null {
    const found = this.doorOf(query, query.fold, dateOf, typed);
    const { numberHigh } = query.reading;
    if (numberHigh < 0 || (found !== null && isFailure(found))) return found;
    const wanted = { ...query.wanted, value: numberHigh, text: '' };
    const last = this.doorOf({ ...query, wanted }, query.fold, dateOf, typed);
    if (found === null || last === null || isFailure(last)) return found ?? last;
    const both = [found.area, last.area];
    return this.#doubts.isAlike(both, dateOf) ? found : failAmbiguous(AMBIGUOUS);
  }

  /**
   * The door on a street. With `typed` the street's type must be the one written: where the name is
   * a guess already, or another reading may have the right one.
   */
  doorOf(query: Query, fold: string, dateOf: DateOf, typed: boolean): Situs | Failure | null {
    const found = this.find(query, fold);
    if (found.kind === 'nothing' || found.kind === 'street') return null;
    if (typed && !found.from.hasRightStreet) return null;
    if (found.kind === 'ambiguous') return failAmbiguous(AMBIGUOUS);
    const { from, support, alternatives } = found;
    const isSure =
      hasAll(query, support) || !this.#doubts.isDoubtful(query, support, from.area, dateOf);
    const isOne = alternatives.length === 0;
    return isSure && (isOne || this.#doubts.isAlike([from.area, ...alternatives], dateOf))
      ? this.#writer.write(doorFound(query, from))
      : failAmbiguous(CONTRADICTION);
  }

  /** Searches for a folded name; the answer's candidates last until the next search. */
  find(query: Query, fold: string): Found {
    if (!this.#streets.hasState(query.state)) return NOTHING;
    this.#agreed.clear();
    this.#elsewhere.clear();
    this.#foreign.clear();
    if (query.zip > 0) this.#scanZip(query, fold);
    const unsure = query.localities.some((locality) => locality.withoutZips);
    if (!this.#agreed.found || unsure) this.#scanCity(query, fold);
    const isThere = this.#agreed.found && query.localities.length > 0;
    if (!isThere && query.zip > 0 && !isOwnZip(query)) this.#scanTowns(query, fold);
    if (!this.#agreed.found && !this.#elsewhere.found) this.#scanPostal(query, fold);
    return this.#judge(query, fold);
  }

  #scanZip(query: Query, fold: string): void {
    const { state, zip, wanted, reading } = query;
    const group = this.#streets.zipGroup(state, zip, fold);
    if (group === null) return;
    const cursor = this.#cursor;
    cursor.open(group);
    // Whether every street of the ZIP may be written with this city; asked only where it matters.
    let free: boolean | null = reading.city === '' ? true : null;
    while (cursor.next()) {
      let agrees = free === true || lies(cursor, query.localities);
      if (!agrees && free === null) {
        free = query.city?.zips.includes(zip) === true;
        agrees = free;
      }
      const into = agrees ? this.#agreed : this.#foreign;
      const named = liesIn(cursor, query.localities);
      into.consider(cursor, zip, wanted, named);
    }
  }

  /** The city's streets of the name, whatever their ZIP. */
  #scanCity(query: Query, fold: string): void {
    const { state, zip, localities } = query;
    const places = this.#places;
    places.length = 0;
    for (const { id } of localities) this.#streets.cityPlaces(state, id, fold, places);
    // What lies under another ZIP is not asked where the ZIP has the door.
    const agreed = this.#agreed.hasRightDoor && zip > 0;
    for (const place of places) {
      if (place === zip || (place > 0 && agreed)) continue;
      const into = this.#mayHave(query, place) ? this.#agreed : this.#elsewhere;
      this.#scanPlace(query, fold, place, localities, into);
    }
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
  #scanPlace(
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

  /** Streets without a ZIP in towns that the ZIP reaches, where they lie in its areas. */
  #scanTowns(query: Query, fold: string): void {
    const reached = this.reached(query);
    if (reached === NOWHERE) return;
    const { state, zip, localities, city, reading, wanted } = query;
    const places = this.#places;
    places.length = 0;
    for (const town of reached.towns) {
      if (!localities.includes(town)) this.#streets.cityPlaces(state, town.id, fold, places);
    }
    const agrees = reading.city === '' || (localities.length === 0 && city?.zips.includes(zip));
    const into = agrees ? this.#agreed : this.#foreign;
    const cursor = this.#cursor;
    for (const place of places) {
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
  #scanPostal(query: Query, fold: string): void {
    for (const zip of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
      if (zip === query.zip) continue;
      const into = query.zip === 0 ? this.#agreed : this.#elsewhere;
      this.#scanPlace(query, fold, zip, null, into);
    }
  }

  /** The towns that the query's ZIP reaches. */
  reached({ state, zipRecord }: Query): Reached {
    return zipRecord === null ? NOWHERE : this.#towns.of(state, zipRecord);
  }

  /**
   * Where the street asked for lies in the municipality that is named, which has doors of its own:
   * a new one there may be meant, or one on its street of another type, though the ZIP has the
   * number in a town beside.
   */
  #inTownNamed(query: Query, fold: string): readonly number[] {
    const { wanted, state, localities } = query;
    const { city, municipality } = this.#agreed;
    if (!wanted.exclusive || isIn(localities, city, municipality)) return NO_AREAS;
    const named = this.#elsewhere;
    named.clear();
    const places: number[] = [];
    for (const { id } of localities) this.#streets.cityPlaces(state, id, fold, places);
    for (const place of places) this.#scanPlace(query, fold, place, localities, named);
    named.settle();
    if (named.found) return [named.area];
    return named.hasRightStreet ? [named.streetArea] : NO_AREAS;
  }

  #judge(query: Query, fold: string): Found {
    const agreed = this.#agreed;
    const elsewhere = this.#elsewhere;
    const foreign = this.#foreign;
    agreed.settle();
    elsewhere.settle();
    foreign.settle();
    if (agreed.found) {
      return doorIn(agreed, 'agreed', agreed.ambiguous, this.#inTownNamed(query, fold));
    }
    // For addresses whose ZIP and city contradict each other: one of the two is wrong, so the
    // street's type must be right, and every place that the address may be must be taxed alike.
    if (elsewhere.found && elsewhere.hasRightStreet) {
      const clash =
        elsewhere.ambiguous ||
        differs(agreed, elsewhere.area) ||
        (foreign.found && (foreign.ambiguous || foreign.area !== elsewhere.area));
      const isThere = isIn(query.localities, elsewhere.city, elsewhere.municipality);
      return doorIn(elsewhere, isThere ? 'elsewhere' : 'beside', clash);
    }
    if (foreign.found && foreign.hasRightStreet) {
      const clash =
        foreign.ambiguous || differs(agreed, foreign.area) || differs(elsewhere, foreign.area);
      return doorIn(foreign, 'foreign', clash);
    }
    if (agreed.hasRightStreet)
      return { kind: 'street', from: agreed, alternatives: agreed.alternatives };
    const alternatives = [...agreed.alternatives, ...foreign.alternatives];
    const isNamed = query.localities.length > 0 || query.city !== null;
    if (isNamed || !foreign.hasRightStreet) return { kind: 'nothing', alternatives };
    return { kind: 'street', from: foreign, alternatives };
  }
}

/** Whether a door has all the evidence there may be: nothing that was given leads elsewhere. */
export function hasAll({ reading, zip }: Query, support: Support): boolean {
  return support === 'agreed' && (zip > 0 || reading.city === '');
}

/** Whether the place named is known to the source of streets, and has the ZIP. */
function isOwnZip({ localities, city, zip }: Query): boolean {
  return localities.length > 0 && city?.zips.includes(zip) === true;
}

function doorIn(
  from: Candidates,
  support: Support,
  ambiguous: boolean,
  alternatives = NO_AREAS,
): Found {
  return ambiguous ? { kind: 'ambiguous', from } : { kind: 'door', from, support, alternatives };
}

function differs(other: Candidates, area: number): boolean {
  return other.hasRightStreet && other.streetArea !== AREA_NONE && other.streetArea !== area;
}
