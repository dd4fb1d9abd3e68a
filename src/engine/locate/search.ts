/** Searches the streets of a dataset for one reading of an address. */
import type { ParsedAddress } from '../../address/parsed.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { PlaceWriter } from '../../dataset/city-names.js';
import type { Locality } from '../../dataset/locality-list.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import type { StreetIndex } from '../../dataset/street-index.js';
import { failAmbiguous, isFailure, type Failure } from '../../failure.js';
import type { Situs } from '../situs.js';
import { Candidates } from './candidates.js';
import { AMBIGUOUS, CONTRADICTION, type DateOf, type Doubts, type Support } from './doubt.js';
import { AREA_NONE, type Wanted } from './street-fit.js';
import type { WiderSearch } from './wider-search.js';

/** A reading, and what the dataset has of its places. */
export interface Query {
  readonly reading: ParsedAddress;
  /** The folded name of the street. */
  readonly fold: string;
  readonly wanted: Wanted;
  readonly state: string;
  /** The ZIP; 0 for none. */
  readonly zip: number;
  readonly zipRecord: ZipRecord | null;
  readonly localities: readonly Locality[];
  /** The record of the city that is named. */
  readonly city: CityRecord | null;
}

type Found =
  /** `alternatives` are areas where the number may also be meant to be. */
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
 * Searches for a street's name by all evidence of where it lies. Candidates are separated by the
 * evidence: `agreed` lie in the ZIP and in the city (or in the one of them that is given),
 * `elsewhere` in the city under another ZIP, `foreign` in the ZIP under another city.
 */
export class StreetSearch {
  readonly #doubts: Doubts;
  readonly #places: PlaceWriter;
  readonly #wider: WiderSearch;
  readonly #streets: StreetIndex;
  readonly #cursor = new StreetCursor();
  readonly #agreed: Candidates;
  readonly #elsewhere: Candidates;
  readonly #foreign: Candidates;

  constructor(dataset: Dataset, doubts: Doubts, places: PlaceWriter, wider: WiderSearch) {
    this.#doubts = doubts;
    this.#places = places;
    this.#wider = wider;
    this.#streets = dataset.streets;
    this.#agreed = new Candidates(dataset.cells);
    this.#elsewhere = new Candidates(dataset.cells);
    this.#foreign = new Candidates(dataset.cells);
  }

  /**
   * The door on the street as written, for a range of numbers at both ends; null when there is
   * none.
   */
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
   * The door on a street of this folded name. With `typed`, the street must have the type that is
   * written: used where the name is itself a guess, or another reading may have the right type.
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
      ? this.#write(query, from)
      : failAmbiguous(CONTRADICTION);
  }

  /** The answer for a door. */
  #write(query: Query, door: Candidates): Situs {
    const { reading, state, zip } = query;
    const { area } = door;
    const found = {
      state,
      city: door.city,
      municipality: door.municipality,
      zip: door.zip,
      cityAsked: reading.city,
    };
    const plus4 = door.plus4 >= 0 ? door.plus4 : plus4Sent(query, door.zip);
    const { place, city, postalCode } = this.#places.write(found, area, zip, plus4);
    const situs: Situs = {
      area,
      precision: door.isPoint ? 'point' : 'range',
      lat: door.lat,
      lng: door.lng,
      place,
      houseNumber: door.numberText || reading.number,
      street: door.label,
      city,
      postalCode,
      apart: door.isApart,
    };
    return door.isStated ? Object.assign(situs, { stated: true }) : situs;
  }

  /**
   * Searches for a folded name. The candidates in the result are only valid until the next search.
   */
  find(query: Query, fold: string): Found {
    if (!this.#streets.hasState(query.state)) return NOTHING;
    const agreed = this.#agreed;
    const elsewhere = this.#elsewhere;
    const foreign = this.#foreign;
    const wider = this.#wider;
    agreed.clear();
    elsewhere.clear();
    foreign.clear();
    if (query.zip > 0) this.#scanZip(query, fold);
    const unsure = query.localities.some((locality) => locality.withoutZips);
    if (!agreed.found || unsure) wider.inCity(query, fold, agreed, elsewhere);
    const isThere = agreed.found && query.localities.length > 0;
    if (!isThere && query.zip > 0 && !isOwnZip(query)) wider.inTowns(query, fold, agreed, foreign);
    if (!agreed.found && !elsewhere.found) {
      wider.inPostalCity(query, fold, query.zip === 0 ? agreed : elsewhere);
    }
    return this.#judge(query, fold);
  }

  #scanZip(query: Query, fold: string): void {
    const { state, zip, wanted, reading } = query;
    const group = this.#streets.zipGroup(state, zip, fold);
    if (group === null) return;
    const cursor = this.#cursor;
    cursor.open(group);
    // Whether every street of the ZIP may be written with this city; determined only when needed.
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

  /**
   * If the street asked for lies in the named municipality, which has its own list of doors: areas
   * where a new door there may be, or one on a street with another type, although the ZIP has the
   * number in a neighbouring town.
   */
  #inTownNamed(query: Query, fold: string): readonly number[] {
    const { city, municipality } = this.#agreed;
    if (!query.wanted.exclusive || isIn(query.localities, city, municipality)) return NO_AREAS;
    const named = this.#elsewhere;
    named.clear();
    this.#wider.inPlaceNamed(query, fold, named);
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
    // Here ZIP and city contradict each other, so one of them is wrong. The street's type must then
    // be right, and all places where the address may lie must be taxed the same.
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

/** Whether a door has all the evidence possible, so that nothing given leads elsewhere. */
export function hasAll({ reading, zip }: Query, support: Support): boolean {
  return support === 'agreed' && (zip > 0 || reading.city === '');
}

/** Whether the source of streets knows the named place, and the place has the ZIP. */
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

/** The four digits given after the ZIP, if that is the ZIP of what was found; otherwise −1. */
export function plus4Sent({ reading: { zip4 }, zip }: Query, found: number): number {
  return zip4 !== '' && (found === zip || found <= 0) ? Number(zip4) : -1;
}

/** Whether the current street lies in one of the localities. */
export function lies(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  for (const { id } of localities) {
    if (cursor.city === id || cursor.municipality === id) return true;
  }
  return false;
}

/** Whether the current street lies in the named place; true where no place is known. */
export function liesIn(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  return localities.length === 0 || lies(cursor, localities);
}

/**
 * Whether a door or street lies in the named place, by the numbers of its localities. True also
 * where either is not known.
 */
export function isIn(localities: readonly Locality[], city: number, municipality: number): boolean {
  return (
    localities.length === 0 ||
    (city === 0 && municipality === 0) ||
    localities.some(({ id }) => id === city || id === municipality)
  );
}
