/** The query of a lookup, after its parameters were read and checked, and its outcome. */
import type { AreaRecord, ComponentRecord } from '../dataset/records.js';
import { fail, type Failure } from '../failure.js';
import { type Microdegrees, toMicrodegrees } from '../geo/microdegrees.js';
import { dateOf, type DateInt } from '../tax/date.js';
import type { Country } from '../tax/jurisdiction.js';
import type { Rate } from '../tax/rate.js';
import type { PostalRow } from './rate/zip-list.js';
import type { Situs } from './situs.js';

/** Options that hold for every kind of lookup. */
export interface LookupOptions {
  readonly country: Country;
  /** First day of the month asked for; null for today at the place. */
  readonly date: DateInt | null;
  readonly addressDetailExtended: boolean;
  readonly shippingExtended: boolean;
  /** Adds an explanation of where the answer comes from; off if absent. */
  readonly explain?: boolean;
  /** Taxability code as written, or null. */
  readonly taxabilityCode: string | null;
  /** Price of a single article in 10⁻⁹ dollars, or null. */
  readonly satItemTotal: bigint | null;
}

/** The options of a query that gives none. */
export const NO_OPTIONS: LookupOptions = {
  country: 'USA',
  date: null,
  addressDetailExtended: false,
  shippingExtended: false,
  taxabilityCode: null,
  satItemTotal: null,
};

/** A street address on one line. */
export interface AddressQuery {
  readonly kind: 'address';
  readonly options: LookupOptions;
  readonly address: string;
}

/** Coordinates. */
export interface PointQuery {
  readonly kind: 'point';
  readonly options: LookupOptions;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** Degrees as given, which the answer repeats. */
  readonly latDegrees: number;
  readonly lngDegrees: number;
}

/** A five-digit ZIP, and parameters that narrow the result; "" where not given. */
export interface ZipQuery {
  readonly kind: 'postal';
  readonly options: LookupOptions;
  readonly zip: string;
  readonly state: string;
  readonly stateCode: string;
  readonly city: string;
  readonly county: string;
}

export type LookupQuery = AddressQuery | PointQuery | ZipQuery;

/** What one jurisdiction levies on the day. */
export interface AreaRateRow {
  readonly component: ComponentRecord;
  readonly sales: Rate;
  readonly use: Rate;
  /** Index of the SourceRecord; null where the jurisdiction levies nothing on the day. */
  readonly source: number | null;
  readonly estimated: boolean;
}

/** The rates of an area on a day, in the order of answers: state, county, city, districts. */
export interface KnownRates {
  readonly sales: Rate;
  readonly use: Rate;
  readonly rows: readonly AreaRateRow[];
}

/** The nearest line to a spot at which the rate changes. */
export interface Border {
  /** Whole metres from the spot, accurate to about one metre and a fiftieth. */
  readonly metres: number;
  /** Combined sales rate beyond the line; null where it is not known. */
  readonly rate: Rate | null;
}

/** A single place with its rates on a day. */
export interface SitusOutcome {
  readonly kind: 'situs';
  readonly situs: Situs;
  readonly area: AreaRecord;
  readonly date: DateInt;
  readonly rates: KnownRates;
  /** How near a line is; undefined until `Lookups.border` was called. */
  border: Border | null | undefined;
}

/** Every tax area that overlaps a ZIP. */
export interface PostalOutcome {
  readonly kind: 'postal';
  readonly rows: readonly PostalRow[];
}

export type LookupOutcome = SitusOutcome | PostalOutcome | Failure;

/** Rates that a query needs and that are missing. */
export interface Unheld {
  readonly state: string;
  /** Whether they are missing for past days only, such as those before the state's list begins. */
  readonly past: boolean;
  /** Whose rates they are, and what would supply them. */
  readonly why: string;
}

/** The query of coordinates in degrees. */
export function pointQuery(lat: number, lng: number, options: PointQuery['options']): PointQuery {
  return {
    kind: 'point',
    lat: toMicrodegrees(lat),
    lng: toMicrodegrees(lng),
    latDegrees: lat,
    lngDegrees: lng,
    options,
  };
}

/** The largest time difference by which a calendar is ahead of UTC. */
const ZONE_AHEAD_MS = 14 * 3_600_000;

/** The refusal of a month that has not ended on a day; null for one that has. */
export function notOver(asked: DateInt, today: DateInt): Failure | null {
  if (Math.floor(asked / 100) < Math.floor(today / 100)) return null;
  return fail('invalid-historical', 'The month must have ended: give a month before this one.');
}

/** The latest date anywhere at a moment. */
export function aheadOf(nowMs: number): DateInt {
  const day = new Date(nowMs + ZONE_AHEAD_MS);
  const date = dateOf(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate());
  if (date === null) throw new RangeError(`no calendar date at ${nowMs}`);
  return date;
}
