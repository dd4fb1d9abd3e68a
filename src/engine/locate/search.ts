/** Search for one reading of an address among the streets of a dataset. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldStreetName } from '../../address/street-name.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { StreetCursor } from '../../dataset/street-cursor.js';
import { directionCode } from '../../dataset/street-format.js';
import type { Locality, StreetIndex } from '../../dataset/street-index.js';
import { DATE_OPEN } from '../../tax/date.js';
import { Candidates } from './candidates.js';
import type { DateOf, Support } from './doubt.js';
import {
  type DatasetGazetteer,
  isExclusive,
  isIn,
  lies,
  liesIn,
  mayReach,
  NOWHERE,
  type Reached,
  ZipTowns,
} from './place-names.js';
import { CITY_ZIPS_MAX, similarNames } from './similar.js';
import { AREA_NONE, type Wanted } from './street-fit.js';

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
  /** `rivals`: where else the number may be meant to be. */
  | {
      readonly kind: 'door';
      readonly from: Candidates;
      readonly support: Support;
      readonly rivals: readonly number[];
    }
  | { readonly kind: 'street'; readonly from: Candidates; readonly rivals: readonly number[] }
  | { readonly kind: 'ambiguous'; readonly from: Candidates }
  | { readonly kind: 'nothing'; readonly rivals: readonly number[] };

const NO_RIVALS: readonly number[] = [];
const NOTHING: Found = { kind: 'nothing', rivals: NO_RIVALS };

/**
 * Looks a street name up by all evidence of where it lies. Candidates are kept apart by it:
 * `agreed` lie in the ZIP and in the city (or in the one that is given), `elsewhere` in the city
 * under another ZIP, `foreign` in the ZIP under another city.
 */
export class StreetSearch {
  readonly #gazetteer: DatasetGazetteer;
  readonly #streets: StreetIndex;
  readonly #towns: ZipTowns;
  readonly #cursor = new StreetCursor();
  readonly #agreed: Candidates;
  readonly #elsewhere: Candidates;
  readonly #foreign: Candidates;
  readonly #places: number[] = [];

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer) {
    this.#gazetteer = gazetteer;
    this.#streets = dataset.streets;
    this.#towns = new ZipTowns(dataset);
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
        exclusive: isExclusive(city, localities, zipRecord),
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
    const isThere = this.#agreed.found && query.localities.length > 0;
    if (!isThere && query.zip > 0 && !isOwnZip(query)) this.#scanTowns(query, fold);
    if (!this.#agreed.found && !this.#elsewhere.found) this.#scanPostal(query, fold);
    return this.#judge(query, fold);
  }

  /** Folded street names near the place that differ from the one asked for by one typo. */
  similar(query: Query): readonly string[] {
    return similarNames(this.#streets, query, () => this.#reached(query));
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
    return this.#reached(query).towns.some(({ id }) => id === -place);
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
    const reached = this.#reached(query);
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

  #reached({ state, zipRecord }: Query): Reached {
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
    if (!wanted.exclusive || isIn(localities, city, municipality)) return NO_RIVALS;
    const named = this.#elsewhere;
    named.clear();
    const places: number[] = [];
    for (const { id } of localities) this.#streets.cityPlaces(state, id, fold, places);
    for (const place of places) this.#scanPlace(query, fold, place, localities, named);
    named.settle();
    if (named.found) return [named.area];
    return named.hasRightStreet ? [named.streetArea] : NO_RIVALS;
  }

  #judge(query: Query, fold: string): Found {
    const agreed = this.#agreed;
    const elsewhere = this.#elsewhere;
    const foreign = this.#foreign;
    agreed.settle();
    elsewhere.settle();
    foreign.settle();
    if (agreed.found) {
      return doorOf(agreed, 'agreed', agreed.ambiguous, this.#inTownNamed(query, fold));
    }
    // For addresses whose ZIP and city contradict each other: one of the two is wrong, so the
    // street's type must be right, and every place that the address may be must be taxed alike.
    if (elsewhere.found && elsewhere.hasRightStreet) {
      const clash =
        elsewhere.ambiguous ||
        differs(agreed, elsewhere.area) ||
        (foreign.found && (foreign.ambiguous || foreign.area !== elsewhere.area));
      const isThere = isIn(query.localities, elsewhere.city, elsewhere.municipality);
      return doorOf(elsewhere, isThere ? 'elsewhere' : 'beside', clash);
    }
    if (foreign.found && foreign.hasRightStreet) {
      const clash =
        foreign.ambiguous || differs(agreed, foreign.area) || differs(elsewhere, foreign.area);
      return doorOf(foreign, 'foreign', clash);
    }
    if (agreed.hasRightStreet) return { kind: 'street', from: agreed, rivals: agreed.rivals };
    const rivals = [...agreed.rivals, ...foreign.rivals];
    const isNamed = query.localities.length > 0 || query.city !== null;
    if (isNamed || !foreign.hasRightStreet) return { kind: 'nothing', rivals };
    return { kind: 'street', from: foreign, rivals };
  }
}

/** Whether the place named is known to the source of streets, and has the ZIP. */
function isOwnZip({ localities, city, zip }: Query): boolean {
  return localities.length > 0 && city?.zips.includes(zip) === true;
}

function doorOf(from: Candidates, support: Support, ambiguous: boolean, rivals = NO_RIVALS): Found {
  return ambiguous ? { kind: 'ambiguous', from } : { kind: 'door', from, support, rivals };
}

function differs(other: Candidates, area: number): boolean {
  return other.hasRightStreet && other.streetArea !== AREA_NONE && other.streetArea !== area;
}

/** Whether a street lies in the place that is named, if the source of streets has one. */
export function isWhereNamed(query: Query, street: Candidates): boolean {
  return isIn(query.localities, street.streetCity, street.streetMunicipality);
}
