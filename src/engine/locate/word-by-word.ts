/**
 * Reads addresses word by word, in every possible meaning. Where no street of the exact name has
 * the number, it tries weaker evidence: a typo, the ZIP+4, the whole street, ZIP and city.
 */
import { parseAddress } from '../../address/parse.js';
import type { ParsedAddress } from '../../address/parsed.js';
import { foldStreetName } from '../../address/street-name.js';
import { repairedReading, typoAllowed } from '../../address/typo.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { ZipRecord } from '../../dataset/records.js';
import { type DatasetGazetteer, isExclusive } from '../../dataset/city-names.js';
import { directionCode } from '../../dataset/street-index.js';
import { fail, failAmbiguous, isFailure, type Failure } from '../../failure.js';
import { DATE_OPEN } from '../../tax/date.js';
import { normalizedAddress, type Situs } from '../situs.js';
import {
  AMBIGUOUS,
  type Doubts,
  type DateOf,
  namesAnotherPlace,
  refuse,
  unreadable,
} from './doubt.js';
import type { Candidates } from './candidates.js';
import type { DoorlessLocator } from './doorless.js';
import type { PostalLocator } from './postal.js';
import type { ProvinceLocator } from './province.js';
import { hasAll, isIn, type Query, type StreetSearch } from './search.js';
import { CITY_ZIPS_MAX, type WiderSearch } from './wider-search.js';

/** Shortest name that is searched for typos, since a name of four letters may have lost one. */
const MISSPELT_LETTERS_MIN = 3;

/** What it uses of the engine. */
interface Evidence {
  readonly dataset: Dataset;
  readonly gazetteer: DatasetGazetteer;
  readonly search: StreetSearch;
  readonly wider: WiderSearch;
  readonly doorless: DoorlessLocator;
  readonly doubts: Doubts;
  readonly postal: PostalLocator;
  readonly provinces: ProvinceLocator;
}

export class ReadingLocator {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #search: StreetSearch;
  readonly #wider: WiderSearch;
  readonly #doorless: DoorlessLocator;
  readonly #doubts: Doubts;
  readonly #postal: PostalLocator;
  readonly #provinces: ProvinceLocator;

  constructor(evidence: Evidence) {
    const { dataset, gazetteer, search, wider, doorless, doubts, postal, provinces } = evidence;
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
    this.#search = search;
    this.#wider = wider;
    this.#doorless = doorless;
    this.#doubts = doubts;
    this.#postal = postal;
    this.#provinces = provinces;
  }

  /**
   * Locates a line by the possible meanings of its words. `tried` is the likeliest query, if it was
   * already tried and found nothing.
   */
  locate(text: string, tried: Query | null, dateOf: DateOf): Situs | Failure {
    const readings = parseAddress(text, this.#gazetteer);
    const first = readings[0];
    if (first === undefined) return unreadable(text, this.#gazetteer);
    if (
      first.country === 'CAN' ||
      first.canadianPostalCode !== '' ||
      (first.zip === '' && this.#provinces.has(first.state))
    ) {
      return this.#provinces.locateLine(text) ?? this.#provinces.locate(first);
    }
    const refusal = refuse(first);
    if (refusal !== null) return refusal;
    const queries: Query[] = [];
    for (const reading of readings) {
      if (reading === first && tried !== null) {
        queries.push(tried);
        continue;
      }
      const query = this.#query(reading, dateOf);
      if (query === null) continue;
      if (isFailure(query)) {
        // A refusal of a less likely reading is ignored if a likelier one can be searched.
        if (queries.length === 0) return query;
        continue;
      }
      const found = this.#search.exact(query, dateOf, true);
      if (found !== null) return found;
      queries.push(query);
    }
    for (const query of queries) {
      const found = this.#search.exact(query, dateOf, false);
      if (found !== null) return this.#unlessMisspelt(found, query, dateOf);
    }
    const best = queries[0];
    if (best === undefined) {
      return this.#provinces.locateCoded(text) ?? unreadable(text, this.#gazetteer);
    }
    return this.#weaker(queries, dateOf) ?? this.#postal.locate(best.reading, dateOf);
  }

  /** The query of a reading; null for one that cannot lead to a door. */
  #query(reading: ParsedAddress, dateOf: DateOf): Query | Failure | null {
    if (reading.kind !== 'street' || reading.number === '' || reading.name === '') return null;
    const record = reading.zip === '' ? null : this.#dataset.zip(Number(reading.zip));
    const state = reading.state || (record?.state ?? '');
    if (state === '' || (reading.zip === '' && reading.city === '')) return null;
    if (namesAnotherPlace(reading, state)) {
      const end = `its ZIP code or end leads to ${`${state} ${reading.zip}`.trim()}`;
      return fail('address-incomplete', `the address names ${reading.otherPlace}, and ${end}`);
    }
    if (reading.zip !== '' && record?.state !== state) {
      const { streets } = this.#dataset;
      const held =
        streets.hasZip(state, Number(reading.zip)) ||
        streets.statedZip(state, Number(reading.zip), dateOf(state)) !== null ||
        record?.parts.some((part) => this.#dataset.area(part.area).state === state) === true;
      if (!held) {
        return record === null
          ? fail('address-incomplete', `ZIP code ${reading.zip} is not known`)
          : fail('address-incomplete', `ZIP code ${reading.zip} is not in ${state}`);
      }
    }
    return this.#queryOf(reading, state, record, dateOf);
  }

  /** The query of a reading, whose `state` and `zipRecord` the caller has checked. */
  #queryOf(
    reading: ParsedAddress,
    state: string,
    zipRecord: ZipRecord | null,
    dateOf: DateOf,
  ): Query {
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
        day: this.#dataset.streets.hasState(state) ? dateOf(state) : DATE_OPEN,
      },
      state,
      zip: reading.zip === '' ? 0 : Number(reading.zip),
      zipRecord,
      localities,
      city: record,
    };
  }

  /** Tries the weaker kinds of evidence, after no street of the exact name has the number. */
  #weaker(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    const alternatives: number[] = [];
    let street: Situs | null = null;
    let known = false;
    for (const query of queries) {
      const found = this.#search.find(query, query.fold);
      const isStreet = found.kind === 'street';
      known ||= isStreet;
      if (street === null && (isStreet || found.kind === 'nothing'))
        alternatives.push(...found.alternatives);
      if (!isStreet || street !== null || found.from.streetArea < 0) continue;
      const area = found.from.streetArea;
      const support = isWhereNamed(query, found.from) ? 'agreed' : 'foreign';
      const isSure = hasAll(query, support);
      if (!isSure && this.#doubts.isDoubtful(query, support, area, dateOf)) continue;
      street = this.#doorless.onStreet(query, found.from);
    }
    if (street !== null && !this.#doubts.isAlike([street.area, ...alternatives], dateOf))
      street = null;
    const near = known
      ? null
      : (this.#repaired(queries, dateOf) ?? this.#misspelt(queries, dateOf));
    return near ?? this.#zip9(queries, dateOf) ?? street;
  }

  /** The door by the repaired readings of a street (`repairedReading`). */
  #repaired(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    for (const query of queries) {
      const reading = repairedReading(query.reading);
      if (reading === null) continue;
      const other = this.#queryOf(reading, query.state, query.zipRecord, dateOf);
      const found = this.#search.exact(other, dateOf, false);
      if (found !== null) return found;
    }
    return null;
  }

  /**
   * The door on a street of another type than the one written. Refused where a street of that type,
   * with a name that differs by a typo, has the number in a place with other taxes: either the type
   * or the name may be wrong.
   */
  #unlessMisspelt(found: Situs | Failure, query: Query, dateOf: DateOf): Situs | Failure {
    if (isFailure(found)) return found;
    const doubted = this.#similar(query).some((fold) => {
      const other = this.#search.doorOf(query, fold, dateOf, true);
      if (other === null) return false;
      return isFailure(other) || !this.#doubts.isAlike([found.area, other.area], dateOf);
    });
    return doubted ? failAmbiguous(AMBIGUOUS) : found;
  }

  /** The door on the only street whose name differs by a typo. */
  #misspelt(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    let only: Situs | null = null;
    for (const query of queries) {
      for (const fold of this.#similar(query)) {
        const found = this.#search.doorOf(query, fold, dateOf, true);
        if (found === null) continue;
        if (isFailure(found)) return found;
        if (only !== null && normalizedAddress(only) !== normalizedAddress(found)) {
          return failAmbiguous(AMBIGUOUS);
        }
        only = found;
      }
      if (only !== null) return only;
    }
    return null;
  }

  #zip9(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    for (const { reading, state } of queries) {
      const found = this.#doorless.byAddOn(reading, state, dateOf);
      if (found !== null) return found;
    }
    return null;
  }

  /** Folded names of streets near the place that differ from the one asked for by one typo. */
  #similar(query: Query): readonly string[] {
    const { state, zip, localities } = query;
    const { streets } = this.#dataset;
    const { name } = query.reading;
    if (name.length < MISSPELT_LETTERS_MIN || !streets.hasState(state)) return [];
    const names: string[] = [];
    if (zip > 0) streets.similarInZip(state, zip, name, names);
    for (const { id } of localities) streets.similarInCity(state, id, name, names);
    const towns = localities.length > 0 ? [] : this.#wider.reached(query).towns;
    for (const { id } of towns) streets.similarInCity(state, id, name, names);
    if (names.length === 0) {
      for (const other of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
        streets.similarInZip(state, other, name, names);
      }
    }
    return [...new Set(names.filter(typoAllowed).map(foldStreetName))];
  }
}

/** Whether a street lies in the named place, if the source of streets knows that place. */
function isWhereNamed(query: Query, street: Candidates): boolean {
  return isIn(query.localities, street.streetCity, street.streetMunicipality);
}
