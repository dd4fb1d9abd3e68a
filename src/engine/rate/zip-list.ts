/** Every rate that overlaps a ZIP, narrowed by state, county and city. */
import { foldCounty, foldName, plainName } from '../../address/place-name.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, ZipRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { type KnownRates, notOver, type PostalOutcome, type ZipQuery } from '../lookup-query.js';
import { SLIVER_PPM } from '../locate/doubt.js';
import type { RatesByArea, States } from './on-day.js';

/** Parameters that narrow a list by postal code; "" where one is not given. */
export type PostalQuery = Pick<ZipQuery, 'zip' | 'state' | 'stateCode' | 'city' | 'county'>;

/** One tax area of the ZIP with its rates. */
export interface PostalRow {
  /** Five digits. */
  readonly zip: string;
  /** City in capitals: the incorporated one, or else the postal city. */
  readonly city: string;
  readonly incorporated: boolean;
  readonly area: AreaRecord;
  readonly rates: KnownRates;
  /** The day that the rates apply to. */
  readonly date: DateInt;
}

interface Row {
  readonly city: string;
  readonly incorporated: boolean;
  readonly area: AreaRecord;
}

/** Lists rates of one dataset by ZIP. */
export class ZipLists {
  readonly #dataset: Dataset;
  readonly #rates: RatesByArea;

  constructor(dataset: Dataset, rates: RatesByArea) {
    this.#dataset = dataset;
    this.#rates = rates;
  }

  /**
   * Lists the rates that overlap a ZIP on the day that `dateOf` gives for each area's state. A list
   * that would lack a row because its rate is unknown is refused, since it would look complete.
   */
  list(query: PostalQuery, dateOf: (state: string) => DateInt): readonly PostalRow[] | Failure {
    const state = this.#stateCode(query.state);
    const stateCode = this.#stateCode(query.stateCode);
    if (state === null) return fail('invalid-state', `no state is called "${query.state}"`);
    if (stateCode === null) {
      return fail('invalid-state', `no state has the code ${query.stateCode}`);
    }
    const record = this.#dataset.zip(Number(query.zip));
    const all =
      record === null || record.parts.length === 0
        ? this.#stated(Number(query.zip), dateOf)
        : this.#ofParts(record, dateOf);
    if (all.length === 0) {
      const why = record === null ? 'is not known' : 'lies in no known tax area';
      return fail('no-result', `ZIP ${query.zip} ${why}`);
    }
    const rows: Row[] = [];
    for (const row of all) {
      const { area } = row;
      if (state !== '' && area.state !== state) continue;
      if (stateCode !== '' && area.state !== stateCode) continue;
      rows.push(row);
    }
    const inCounties = query.county === '' ? rows : inCounty(rows, query.county);
    const inCity = this.#inCity(record?.cities ?? [], inCounties, query.city);
    return this.#withRates(query.zip, inCity, dateOf);
  }

  /** The list for a lookup, whose month must have ended in each of the states. */
  outcome(
    query: ZipQuery,
    dateOf: (state: string) => DateInt,
    states: States,
    nowMs: number,
  ): PostalOutcome | Failure {
    const rows = this.list(query, dateOf);
    if (isFailure(rows)) return rows;
    const { date: asked } = query.options;
    for (const { area } of rows) {
      const early = asked === null ? null : notOver(asked, states.today(area.state, nowMs));
      if (early !== null) return early;
    }
    return { kind: 'postal', rows };
  }

  /** The parts of a ZIP, and the land outside cities that it reaches and whose rate is unknown. */
  #ofParts(
    { parts, reach, cities: [city = ''] }: ZipRecord,
    dateOf: (state: string) => DateInt,
  ): readonly Row[] {
    const rows = parts.map(
      (part): Row => ({
        area: this.#dataset.area(part.area),
        city: part.city,
        incorporated: part.incorporated,
      }),
    );
    const states = new Set(rows.map(({ area }) => area.state));
    for (const { area: id, land } of reach) {
      if (land < SLIVER_PPM) continue;
      const area = this.#dataset.area(id);
      if (area.incorporated || area.unknown.length === 0 || !states.has(area.state)) continue;
      const isUnknown = isFailure(this.#rates.at(id, dateOf(area.state)));
      if (isUnknown) rows.push({ area, city, incorporated: false });
    }
    return rows;
  }

  /**
   * Rows for a ZIP that no list has, from states' boundary files, if one makes a statement about
   * the whole ZIP.
   */
  #stated(zip: number, dateOf: (state: string) => DateInt): readonly Row[] {
    const { streets } = this.#dataset;
    return this.#dataset.states().flatMap(({ code }) => {
      const stated = streets.hasState(code) ? streets.statedZip(code, zip, dateOf(code)) : null;
      const areas = stated?.own.length ? new Set([...stated.own, ...stated.all]) : [];
      return [...areas].map((id): Row => {
        const area = this.#dataset.area(id);
        return { area, city: area.placeName.toUpperCase(), incorporated: area.incorporated };
      });
    });
  }

  /** The code of a state by its code or name; "" for "", null when the text names no state. */
  #stateCode(text: string): string | null {
    if (text === '') return '';
    const name = foldName(text);
    for (const { code, name: full } of this.#dataset.states()) {
      if (plainName(text) === code || foldName(full) === name) return code;
    }
    return null;
  }

  #inCity(cities: readonly string[], rows: readonly Row[], city: string): readonly Row[] {
    if (city === '') return rows;
    const dataset = this.#dataset;
    const name = foldName(city);
    const areas = new Set(
      rows.flatMap(
        ({ area: { state } }) =>
          (dataset.city(state, plainName(city)) ?? dataset.city(state, name))?.areas ?? [],
      ),
    );
    const postal = cities.some((other) => foldName(other) === name);
    return rows.filter(
      (row) =>
        foldName(row.city) === name ||
        foldName(row.area.placeName) === name ||
        areas.has(row.area.id) ||
        (postal && !row.incorporated),
    );
  }

  #withRates(
    zip: string,
    rows: readonly Row[],
    dateOf: (state: string) => DateInt,
  ): readonly PostalRow[] | Failure {
    if (rows.length === 0) {
      return fail('no-result', `no rate of ZIP ${zip} is left by state, county and city`);
    }
    const known: PostalRow[] = [];
    for (const { area, city, incorporated } of rows) {
      const date = dateOf(area.state);
      const rates = this.#rates.at(area.id, date);
      if (isFailure(rates)) return rates;
      known.push({ zip, city, incorporated, area, rates, date });
    }
    return known;
  }
}

/**
 * Rows of a county by its code or its name, with or without its kind. A county and an independent
 * city of the same name are distinguished where the kind is given ("St. Louis County").
 */
function inCounty(rows: readonly Row[], county: string): readonly Row[] {
  const full = foldName(county);
  const own = rows.filter(({ area }) => foldName(area.countyFullName) === full);
  if (own.length > 0) return own;
  const name = foldCounty(county);
  return rows.filter(
    ({ area }) => county === area.countyFips || foldCounty(area.countyName) === name,
  );
}
