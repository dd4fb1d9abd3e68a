/** Every rate that overlaps a ZIP, narrowed by state, county and city. */
import { foldCounty, foldName, plainName } from '../../address/place-name.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, ZipRecord } from '../../dataset/records.js';
import { fail, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { isKnown, ratesAt, type KnownRates } from './area-rates.js';

/** What a postal-code lookup asks; empty text where a parameter is not given. */
export interface PostalQuery {
  readonly zip: string;
  /** Two-letter code or name of the state. */
  readonly state: string;
  /** Two-letter code. */
  readonly stateCode: string;
  readonly city: string;
  readonly county: string;
}

/** One tax area of the ZIP with its rates. */
export interface PostalRow {
  /** Five digits. */
  readonly zip: string;
  /** Upper-case city: the incorporated one, else the postal city. */
  readonly city: string;
  readonly incorporated: boolean;
  readonly area: AreaRecord;
  readonly rates: KnownRates;
}

interface Row {
  readonly city: string;
  readonly incorporated: boolean;
  readonly area: AreaRecord;
}

/**
 * Lists the rates overlapping a ZIP on the day that `dateOf` gives for the area's state. A list
 * that would lack a row because its rate is unknown is refused, since it would look complete.
 */
export function lookupPostal(
  dataset: Dataset,
  query: PostalQuery,
  dateOf: (state: string) => DateInt,
): { readonly rows: readonly PostalRow[] } | Failure {
  const state = resolveState(dataset, query.state);
  const stateCode = resolveState(dataset, query.stateCode);
  if (state === null) return fail('invalid-state', `no state is called "${query.state}"`);
  if (stateCode === null) return fail('invalid-state', `no state has the code ${query.stateCode}`);
  const record = dataset.zip(Number(query.zip));
  if (record === null) return fail('no-result', `ZIP ${query.zip} is not known`);
  if (record.parts.length === 0) {
    return fail('no-result', `ZIP ${query.zip} lies in no known tax area`);
  }
  const rows: Row[] = [];
  for (const { area: id, city, incorporated } of record.parts) {
    const area = dataset.area(id);
    if (state !== '' && area.state !== state) continue;
    if (stateCode !== '' && area.state !== stateCode) continue;
    if (query.county !== '' && !inCounty(area, query.county)) continue;
    rows.push({ area, city, incorporated });
  }
  return withRates(dataset, query, inCity(dataset, record, rows, query.city), dateOf);
}

/** "" stays ""; a code or a name becomes a code; null when it names no state. */
function resolveState(dataset: Dataset, text: string): string | null {
  if (text === '') return '';
  const name = foldName(text);
  for (const { code, name: full } of dataset.states()) {
    if (plainName(text) === code || foldName(full) === name) return code;
  }
  return null;
}

function inCounty(area: AreaRecord, county: string): boolean {
  return county === area.countyFips || foldCounty(area.countyName) === foldCounty(county);
}

function inCity(
  dataset: Dataset,
  record: ZipRecord,
  rows: readonly Row[],
  city: string,
): readonly Row[] {
  if (city === '') return rows;
  const name = foldName(city);
  const areas = new Set(rows.flatMap(({ area }) =>
    (dataset.city(area.state, plainName(city)) ?? dataset.city(area.state, name))?.areas ?? []));
  const postal = record.cities.some((other) => foldName(other) === name);
  return rows.filter((row) => foldName(row.city) === name
    || areas.has(row.area.id) || (postal && !row.incorporated));
}

function withRates(
  dataset: Dataset,
  query: PostalQuery,
  rows: readonly Row[],
  dateOf: (state: string) => DateInt,
): { readonly rows: readonly PostalRow[] } | Failure {
  if (rows.length === 0) {
    return fail('no-result', `no rate of ZIP ${query.zip} is left by state, county and city`);
  }
  const known: PostalRow[] = [];
  for (const { area, city, incorporated } of rows) {
    const rates = ratesAt(dataset, area.id, dateOf(area.state));
    if (!isKnown(rates)) return fail('no-result', rates.unknown);
    known.push({ zip: query.zip, city, incorporated, area, rates });
  }
  return { rows: known };
}
