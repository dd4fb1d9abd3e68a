/** Facts beside the rate lists: which lists are complete, which districts hold where, and names. */
import type { Country, Level } from '../../tax/jurisdiction.js';
import type { DateInt } from '../../tax/date.js';
import type { Rate } from '../../tax/rate.js';

/** A state, province or territory, as far as rates need it. */
export interface StateName {
  /** Two letters; "CA-ON" style for Canadian provinces. */
  readonly code: string;
  readonly fips: string;
  readonly name: string;
  readonly country: Country;
}

/** A county or county equivalent. */
export interface CountyFact {
  /** Five digits. */
  readonly fips: string;
  readonly state: string;
  /** With its suffix: "Baltimore County" and "Baltimore city" are two. */
  readonly fullName: string;
  /** The state's own number where the wire shows that one, else "". */
  readonly code: string;
}

/**
 * A county equivalent without a county government: an independent city stands in for its county,
 * a consolidated government levies as a city, a census area has no government at all.
 */
export interface TierFact {
  readonly county: string;
  /** Place that stands for the county, "" where there is none. */
  readonly place: string;
  readonly kind: 'independent' | 'consolidated' | 'census-area';
}

/** Where a district holds: whole counties, what lies outside places, or places. */
export interface DistrictMember {
  readonly state: string;
  readonly code: string;
  readonly scope: 'state' | 'county' | 'remainder' | 'place';
  /** Five digits; on a place: the county part it holds for, "" for all. */
  readonly county: string;
  /** Seven-digit place or ten-digit town code. */
  readonly place: string;
  /** Places of the county that lie outside the district. */
  readonly except: readonly string[];
  readonly from: DateInt;
  readonly to: DateInt;
}

/** What a state's lists say about one level: what is listed, and what silence means. */
export interface ListMark {
  readonly state: string;
  readonly level: Exclude<Level, 'state'>;
  /** not-levied: the level levies nothing by law, so nothing needs a list. */
  readonly mark: 'complete' | 'partial' | 'none' | 'not-levied';
  /** What an unlisted jurisdiction levies. */
  readonly unlisted: 'nothing' | 'unknown';
  /** First day the list speaks for; before it everything unlisted is unknown. */
  readonly since: DateInt;
  /** full: before its first row a listed jurisdiction levied nothing. current: that is unknown. */
  readonly history: 'full' | 'current';
  /** Last day the list was published for; later it is used and called stale. */
  readonly until: DateInt;
  readonly source: number;
  /** What would fill the gap, as the end of a sentence. */
  readonly fill: string;
  /** What the list is known to lack though it answers, "" for nothing. */
  readonly gap: string;
}

/** Highest sum of all local parts a state's law allows. */
export interface LocalCap {
  readonly state: string;
  readonly cap: Rate;
}
