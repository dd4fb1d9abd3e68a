/** Search for one reading of an address among the streets of a dataset. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldStreetName } from '../../address/street-name.js';
import { typoAllowed } from '../../address/typo.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import { directionCode } from '../../dataset/street-format.js';
import type { Locality, StreetIndex } from '../../dataset/street-index.js';
import { DATE_OPEN } from '../../tax/date.js';
import type { Located } from './address-writer.js';
import { Candidates } from './candidates.js';
import type { DateOf, Support } from './doubt.js';
import type { DatasetGazetteer } from './place-names.js';
import { AREA_NONE, type Wanted } from './street-fit.js';

/** Most ZIPs of one city that are tried; only the largest cities have this many. */
const CITY_ZIPS_MAX = 200;

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

export type Found =
  | { readonly kind: 'door'; readonly from: Candidates; readonly support: Support }
  | { readonly kind: 'street'; readonly from: Candidates }
  | { readonly kind: 'ambiguous' }
  | { readonly kind: 'nothing' };

const NOTHING: Found = { kind: 'nothing' };
const AMBIGUOUS: Found = { kind: 'ambiguous' };

/**
 * Looks a street name up by all evidence of where it lies. Candidates are kept apart by it:
 * `agreed` lie in the ZIP and in the city (or in the one that is given), `elsewhere` in the city
 * under another ZIP, `foreign` in the ZIP under another city.
 */
export class StreetSearch {
  readonly #gazetteer: DatasetGazetteer;
  readonly #streets: StreetIndex;
  readonly #cursor = new StreetCursor();
  readonly #agreed: Candidates;
  readonly #elsewhere: Candidates;
  readonly #foreign: Candidates;
  readonly #places: number[] = [];
  readonly #names: string[] = [];

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer) {
    this.#gazetteer = gazetteer;
    this.#streets = dataset.streets;
    this.#agreed = new Candidates(dataset.cells);
    this.#elsewhere = new Candidates(dataset.cells);
    this.#foreign = new Candidates(dataset.cells);
  }

  /** Prepares a reading for searching; `state` and `zipRecord` are checked by the caller. */
  query(reading: ParsedAddress, state: string, zipRecord: ZipRecord | null, dateOf: DateOf): Query {
    const { number, numberValue, city } = reading;
    const value = Math.max(0, numberValue);
    const { localities, record } = this.#gazetteer.named(state, city);
    return {
      reading,
      fold: foldStreetName(reading.name),
      wanted: {
        pre: directionCode(reading.preDirection),
        post: directionCode(reading.postDirection),
        suffix: reading.suffix,
        value,
        text: number === String(value) ? '' : number,
        hasZip: reading.zip !== '',
        day: this.#streets.hasState(state) ? dateOf(state) : DATE_OPEN,
      },
      state,
      zip: reading.zip === '' ? 0 : Number(reading.zip),
      zipRecord,
      localities,
      city: record,
    };
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
    if (!this.#agreed.found && !this.#elsewhere.found) this.#scanPostal(query, fold);
    return this.#judge(query);
  }

  /** Folded street names near the place that differ from the one asked for by one typo. */
  similar(query: Query): readonly string[] {
    const { state, zip, localities } = query;
    if (!this.#streets.hasState(state)) return [];
    const { name } = query.reading;
    const names = this.#names;
    names.length = 0;
    if (zip > 0) this.#streets.similarInZip(state, zip, name, names);
    for (const { id } of localities) this.#streets.similarInCity(state, id, name, names);
    if (names.length === 0) {
      for (const other of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
        this.#streets.similarInZip(state, other, name, names);
      }
      for (const locality of this.#zipLocalities(query)) {
        this.#streets.similarInCity(state, locality.id, name, names);
      }
    }
    return [...new Set(names.filter(typoAllowed).map(foldStreetName))];
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
      if (place !== zip && (place < 0 || !agreed)) this.#scanPlace(query, fold, place, localities);
    }
  }

  /** Streets of a ZIP, or of a locality without ZIPs (negative), that lie in the localities. */
  #scanPlace(
    query: Query,
    fold: string,
    place: number,
    localities: readonly Locality[] | null,
  ): void {
    const { state, zip, wanted } = query;
    const group =
      place > 0
        ? this.#streets.zipGroup(state, place, fold)
        : this.#streets.townGroup(state, -place, fold);
    if (group === null) return;
    // A street whose ZIP is not known does not contradict any.
    const into = place < 0 || zip === 0 ? this.#agreed : this.#elsewhere;
    const cursor = this.#cursor;
    cursor.open(group);
    while (cursor.next()) {
      if (localities !== null && !lies(cursor, localities)) continue;
      const named = localities !== null || liesIn(cursor, query.localities);
      into.consider(cursor, Math.max(0, place), wanted, named);
    }
  }

  /** The ZIPs of a postal city; for a ZIP alone its localities that have streets without ZIP. */
  #scanPostal(query: Query, fold: string): void {
    for (const zip of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
      if (zip !== query.zip) this.#scanPlace(query, fold, zip, null);
    }
    const around = this.#zipLocalities(query);
    const places = this.#places;
    places.length = 0;
    for (const { id } of around) this.#streets.cityPlaces(query.state, id, fold, places);
    for (const place of places) {
      if (place < 0) this.#scanPlace(query, fold, place, around);
    }
  }

  /** Localities without ZIPs that bear a postal name of the ZIP, when no city is given. */
  #zipLocalities(query: Query): readonly Locality[] {
    if (query.reading.city !== '' || query.zipRecord === null) return [];
    return query.zipRecord.cities
      .flatMap((name) => this.#streets.localities(query.state, name))
      .filter((locality) => locality.withoutZips);
  }

  #judge(query: Query): Found {
    const agreed = this.#agreed;
    const elsewhere = this.#elsewhere;
    const foreign = this.#foreign;
    agreed.settle();
    elsewhere.settle();
    foreign.settle();
    if (agreed.found) return doorOf(agreed, 'agreed', agreed.ambiguous);
    // For addresses whose ZIP and city contradict each other: one of the two is wrong, so the
    // street's type must be right, and every place that the address may be must be taxed alike.
    if (elsewhere.found && elsewhere.hasRightStreet) {
      const clash =
        elsewhere.ambiguous ||
        differs(agreed, elsewhere.area) ||
        (foreign.found && (foreign.ambiguous || foreign.area !== elsewhere.area));
      return doorOf(elsewhere, 'elsewhere', clash);
    }
    if (foreign.found && foreign.hasRightStreet) {
      const clash =
        foreign.ambiguous || differs(agreed, foreign.area) || differs(elsewhere, foreign.area);
      return doorOf(foreign, 'foreign', clash);
    }
    if (agreed.hasRightStreet) return { kind: 'street', from: agreed };
    if (!foreign.hasRightStreet || query.localities.length > 0) return NOTHING;
    return query.city === null ? { kind: 'street', from: foreign } : NOTHING;
  }
}

function doorOf(from: Candidates, support: Support, ambiguous: boolean): Found {
  return ambiguous ? AMBIGUOUS : { kind: 'door', from, support };
}

function differs(other: Candidates, area: number): boolean {
  return other.hasRightStreet && other.streetArea !== AREA_NONE && other.streetArea !== area;
}

/** Whether the street under the cursor lies in the place named; in any, where none is known. */
function liesIn(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  return localities.length === 0 || lies(cursor, localities);
}

function lies(cursor: StreetCursor, localities: readonly Locality[]): boolean {
  for (const { id } of localities) {
    if (cursor.city === id || cursor.municipality === id) return true;
  }
  return false;
}

/** The four digits that were sent after the ZIP of what was found; −1 for none. */
function plus4Sent({ reading: { zip4 }, zip }: Query, found: number): number {
  return zip4 !== '' && (found === zip || found <= 0) ? Number(zip4) : -1;
}

/** A door as it is written out. */
export function doorFound(query: Query, door: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: door.area,
    precision: door.isPoint ? 'point' : 'range',
    lat: door.lat,
    lng: door.lng,
    number: door.numberText || reading.number,
    street: door.label,
    state,
    city: door.city,
    municipality: door.municipality,
    zip: door.zip,
    plus4: door.plus4 >= 0 ? door.plus4 : plus4Sent(query, door.zip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: door.isStated,
    apart: door.isApart,
  };
}

/** A street alone as it is written out. */
export function streetFound(query: Query, street: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: street.streetArea,
    precision: 'street',
    lat: 0,
    lng: 0,
    number: reading.number,
    street: street.streetLabel,
    state,
    city: street.streetCity,
    municipality: street.streetMunicipality,
    zip: street.streetZip,
    plus4: plus4Sent(query, street.streetZip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: false,
    apart: false,
  };
}
