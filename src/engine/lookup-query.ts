/** What a lookup asks, after the wire has read and checked its parameters, and what it leads to. */
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
  /** Tells where the answer comes from; not when absent. */
  readonly explain?: boolean;
  /** Taxability code as written, or null. */
  readonly taxabilityCode: string | null;
  /** Total of the single article in 10⁻⁹ dollars, or null. */
  readonly satItemTotal: bigint | null;
}

/** What holds where nothing is said. */
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
  /** Degrees as given, for the answer's echo. */
  readonly latDegrees: number;
  readonly lngDegrees: number;
}

/** A five-digit ZIP with what narrows it; empty text where not given. */
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

/** The rates of an area on a day, in wire order: state, county, city, districts. */
export interface KnownRates {
  readonly sales: Rate;
  readonly use: Rate;
  readonly rows: readonly AreaRateRow[];
}

/** The nearest line to a spot beyond which another rate holds. */
export interface Border {
  /** Whole metres from the spot, good to about one, and to a fiftieth by direction. */
  readonly metres: number;
  /** Combined sales rate beyond; null where it is not known. */
  readonly rate: Rate | null;
}

/** A single place with its rates on a day. */
export interface SitusOutcome {
  readonly kind: 'situs';
  readonly situs: Situs;
  readonly area: AreaRecord;
  readonly date: DateInt;
  readonly rates: KnownRates;
  /** How near a border is, once `Lookups.border` was asked. */
  border: Border | null | undefined;
}

/** Every tax area that overlaps a ZIP. */
export interface PostalOutcome {
  readonly kind: 'postal';
  readonly rows: readonly PostalRow[];
}

export type LookupOutcome = SitusOutcome | PostalOutcome | Failure;

/** Rates that were asked for and are not held. */
export interface Unheld {
  readonly state: string;
  /** They are not for days that have an end, such as those before the state's list begins. */
  readonly past: boolean;
  /** Whose rates, and what would fill the gap. */
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

/** The farthest ahead of UTC that a calendar runs. */
const ZONE_AHEAD_MS = 14 * 3_600_000;

/** The refusal of a month asked for that is not over on a day; null where it is. */
export function notOver(asked: DateInt, today: DateInt): Failure | null {
  if (Math.floor(asked / 100) < Math.floor(today / 100)) return null;
  return fail('invalid-historical', 'The month must have ended: give a month before this one.');
}

/** The day where it is the latest. */
export function aheadOf(nowMs: number): DateInt {
  const day = new Date(nowMs + ZONE_AHEAD_MS);
  const date = dateOf(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate());
  if (date === null) throw new RangeError(`no calendar date at ${nowMs}`);
  return date;
}
