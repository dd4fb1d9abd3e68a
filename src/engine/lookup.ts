/** One lookup: a checked query and a dataset to a tax area with its rates, or a refusal. */
import type { Dataset } from '../dataset/dataset.js';
import type { AreaRecord } from '../dataset/records.js';
import { fail, isFailure, type Failure } from '../failure.js';
import { dateOf, type DateInt } from '../tax/date.js';
import { locateAddress } from './locate/locator.js';
import type { AddressQuery, LookupQuery, PointQuery, ZipQuery } from './query.js';
import { isKnown, ratesAt, type KnownRates } from './rate/area-rates.js';
import { todayAt } from './rate/state-day.js';
import { lookupPostal, type PostalRow } from './rate/zip-list.js';
import { countryName, PRECISIONS, reaches, type Precision, type Situs } from './situs.js';

/** A single place with its rates on a day. */
export interface SitusOutcome {
  readonly kind: 'situs';
  readonly situs: Situs;
  readonly area: AreaRecord;
  readonly date: DateInt;
  readonly rates: KnownRates;
}

/** A row of a postal lookup with the day its rates hold on. */
export interface DatedRow extends PostalRow {
  readonly date: DateInt;
}

/** Every tax area that overlaps a ZIP. */
export interface PostalOutcome {
  readonly kind: 'postal';
  readonly rows: readonly DatedRow[];
}

export type LookupOutcome = SitusOutcome | PostalOutcome | Failure;

/** What every location is at least as good as. */
const WEAKEST: Precision = 'postal';

/** The farthest ahead of UTC that a calendar runs. */
const ZONE_AHEAD_MS = 14 * 3_600_000;

/**
 * Answers a query at `nowMs`. A location found less precisely than `precisionMin` is refused;
 * lists by postal code are not locations and always pass.
 */
export function lookup(
  dataset: Dataset, query: LookupQuery, nowMs: number, precisionMin: Precision = WEAKEST,
): LookupOutcome {
  const { date: asked } = query.options;
  if (asked !== null && !isPast(asked, aheadOf(nowMs))) return notPast();
  const dateAt = (state: string): DateInt => asked ?? todayIn(dataset, state, nowMs);
  if (query.kind === 'postal') return postal(dataset, query, dateAt, nowMs);
  const situs = query.kind === 'address'
    ? address(dataset, query, dateAt)
    : point(dataset, query);
  if (isFailure(situs)) return situs;
  if (precisionMin !== WEAKEST
    && PRECISIONS.indexOf(situs.precision) > PRECISIONS.indexOf(precisionMin)) {
    return fail('address-incomplete',
      `It is found by ${situs.precision} only; this server asks for ${precisionMin} or better.`);
  }
  const area = dataset.area(situs.area);
  if (asked !== null && !isPast(asked, todayIn(dataset, area.state, nowMs))) return notPast();
  const date = dateAt(area.state);
  const rates = ratesAt(dataset, situs.area, date);
  return isKnown(rates)
    ? { kind: 'situs', situs, area, date, rates }
    : fail('no-result', rates.unknown);
}

function address(
  dataset: Dataset, query: AddressQuery, dateAt: (state: string) => DateInt,
): Situs | Failure {
  const situs = locateAddress(dataset, query.address, dateAt);
  if (isFailure(situs)) return situs;
  const { country } = dataset.area(situs.area);
  return reaches(query.options.country, country) ? situs : elsewhere(query.options.country);
}

function point(dataset: Dataset, query: PointQuery): Situs | Failure {
  const id = dataset.cells.locate(query.lat, query.lng);
  if (id < 0) return fail('no-result', 'The coordinates lie in no known tax jurisdiction.');
  const area = dataset.area(id);
  // Coordinates of a territory or of Canada need their own countryCode (specification, lookups 5).
  if (area.country !== query.options.country) return elsewhere(query.options.country);
  return {
    area: id,
    precision: 'polygon',
    lat: query.lat,
    lng: query.lng,
    normalizedAddress: `${pointPlace(area)}${countryName(area.country)}`,
    houseNumber: '',
    street: '',
    city: area.placeName,
    postalCode: '',
  };
}

/** "Irvine, CA, " or, outside every place, "Orange County, CA, ". */
function pointPlace({ placeName, countyFullName, state, stateName }: AreaRecord): string {
  if (placeName !== '') return `${placeName}, ${state}, `;
  return countyFullName === '' ? `${stateName}, ` : `${countyFullName}, ${state}, `;
}

function postal(
  dataset: Dataset, query: ZipQuery, dateAt: (state: string) => DateInt, nowMs: number,
): PostalOutcome | Failure {
  const found = lookupPostal(dataset, query, dateAt);
  if (isFailure(found)) return found;
  const { date: asked } = query.options;
  const rows: DatedRow[] = [];
  for (const row of found.rows) {
    const { state } = row.area;
    if (asked !== null && !isPast(asked, todayIn(dataset, state, nowMs))) return notPast();
    const { zip, city, incorporated, area, rates } = row;
    rows.push({ zip, city, incorporated, area, rates, date: dateAt(state) });
  }
  return { kind: 'postal', rows };
}

function elsewhere(asked: string): Failure {
  return fail('no-result', `The location is not in ${asked}; check countryCode.`);
}

function notPast(): Failure {
  return fail('invalid-historical', 'The month must have ended: give a month before this one.');
}

/** Whether the month of `date` is over on `today`. */
function isPast(date: DateInt, today: DateInt): boolean {
  return Math.floor(date / 100) < Math.floor(today / 100);
}

function aheadOf(nowMs: number): DateInt {
  const day = new Date(nowMs + ZONE_AHEAD_MS);
  const date = dateOf(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate());
  if (date === null) throw new RangeError(`no calendar date at ${nowMs}`);
  return date;
}

function todayIn(dataset: Dataset, state: string, nowMs: number): DateInt {
  const record = dataset.state(state);
  if (record === null) throw new Error(`the dataset has areas in ${state} but no such state`);
  return todayAt(record, nowMs);
}
