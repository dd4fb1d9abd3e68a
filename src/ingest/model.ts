/** What the stages of a build pass to one another. */
import type { ComponentRecord, SourceRecord, UnknownRecord } from '../dataset/records.js';
import type { DateInt } from '../tax/date.js';
import type { Level } from '../tax/jurisdiction.js';
import type { Rate } from '../tax/rate.js';

/**
 * A combination of jurisdictions that holds somewhere. Codes are Census GEOIDs: state "06",
 * county "06059", place "0636770", town (county subdivision) "5000525525".
 */
export interface AreaTuple {
  /** Two digits; "CA-ON" style for Canadian provinces. */
  readonly state: string;
  /** Five digits; empty only where nothing is known below the state. */
  readonly county: string;
  /**
   * Incorporated place (CLASSFP C1, C2, C5–C8 and active), "" for none, "?" when it cannot be told
   * whether a place contains the spot (place boundaries not loaded, or a listed city has none).
   */
  readonly place: string;
  /** Governing town where town boundaries are loaded; else "". */
  readonly town: string;
  /** Ids of districts with a boundary of their own, ascending. */
  readonly districts: readonly string[];
  /** True where `districts` is a publisher's complete list, to which district_members adds none. */
  readonly complete?: boolean;
  /** Last day of that list where it has ended: districts that begin to levy later are added. */
  readonly until?: DateInt;
  /** True where a publisher says that the state's own tax does not apply. */
  readonly untaxed?: boolean;
  /** True where the codes are those of a boundary file that has a rate file of its own. */
  readonly stated?: boolean;
}

/** Precedes a district's id in a tuple where it is open whether the district is in force. */
export const OPEN_MARK = '?';

/** Returns the tax area id of a tuple, which is the same for equal tuples within a build. */
export type InternArea = (tuple: AreaTuple) => number;

/** A row of a rate list in our own form, from any publisher. */
export interface RateRow {
  /** Two-letter code. */
  readonly state: string;
  readonly level: Level;
  /** Five digits. On a city row: the county part that it is for; "" for all. */
  readonly county: string;
  /**
   * Seven-digit place or ten-digit town code; "" for other levels. On a county row: the place
   * within which the county levies this rate instead of that elsewhere; "" on most.
   */
  readonly place: string;
  /** Publisher's name. */
  readonly name: string;
  /** Publisher's code for answers, or "" to derive one. District rows always have one. */
  readonly code: string;
  /**
   * own: the jurisdiction's own part, added to the others. total: the legal total there, the state
   * included. sole: everything levied locally, so that the county's own part does not apply.
   * unknown: the jurisdiction is listed and its rate is not; `note` says why.
   */
  readonly basis: 'own' | 'total' | 'sole' | 'unknown';
  readonly sales: Rate;
  readonly use: Rate;
  readonly from: DateInt;
  readonly to: DateInt;
  readonly source: number;
  readonly asOf: DateInt;
  /** A sentence about an unknown rate; absent in other rows. */
  readonly note?: string;
}

/** A tuple with its rates. */
export interface ResolvedArea {
  readonly components: readonly Omit<ComponentRecord, 'id'>[];
  readonly unknown: readonly UnknownRecord[];
  readonly incorporated: boolean;
  readonly countyName: string;
  readonly placeName: string;
  /** Last day that all lists of the area were published for. */
  readonly staleAfter: DateInt;
  readonly estimated: boolean;
  /** Whether the list of districts is known to lack some, which are treated as levying nothing. */
  readonly partial: boolean;
}

/** Resolves tuples to rates. Depends only on the loaded lists: equal tuples give equal results. */
export interface RateBook {
  readonly sources: readonly SourceRecord[];
  resolve(tuple: AreaTuple): ResolvedArea;
}

/** Digits of a town's (county subdivision's) code; a place has seven. */
export const TOWN_DIGITS = 10;

/** An incorporated place or governing town. */
export interface PlaceFact {
  readonly geoid: string;
  /** "Irvine" */
  readonly name: string;
  /** "Irvine city" */
  readonly fullName: string;
  readonly state: string;
  /** Counties it lies in, largest share first. */
  readonly counties: readonly string[];
  /** Further counties with less than 0.5 % of its land, which are not searched for its name. */
  readonly slight?: readonly string[];
  /**
   * An independent city, or one that is consolidated with its county, so that there is no county
   * tax.
   */
  readonly independent: boolean;
}

/** All counties that a place has land in. */
export function countiesWithLand({ counties, slight = [] }: PlaceFact): readonly string[] {
  return slight.length === 0 ? counties : [...counties, ...slight];
}

/** Reports progress: stage, finished units and all units. */
export type Progress = (stage: string, done: number, total: number) => void;
