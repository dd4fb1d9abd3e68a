/** What the stages of a dataset build hand to one another. */
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
  /** True where `districts` is a publisher's complete list, so district_members adds none. */
  readonly complete?: boolean;
  /** True where a publisher says that the state's own tax does not apply. */
  readonly untaxed?: boolean;
  /** True where the codes are those of a boundary file whose rate file says what they are worth. */
  readonly stated?: boolean;
}

/** Before a district's id in a tuple: it cannot be told whether the district holds there. */
export const OPEN_MARK = '?';

/** Gives the tax area id of a tuple; the same tuple always gets the same id within a build. */
export type InternArea = (tuple: AreaTuple) => number;

/** A row of a rate list, in our own schema, whoever published it. */
export interface RateRow {
  /** Two-letter code. */
  readonly state: string;
  readonly level: Level;
  /** Five digits. On a city row: the county part it holds for; "" for all. */
  readonly county: string;
  /**
   * Seven-digit place or ten-digit town code; "" for other levels. On a county row: the place
   * inside which the county's part is this one, not what it takes elsewhere; "" on most.
   */
  readonly place: string;
  /** Publisher's name. */
  readonly name: string;
  /** Publisher's code for the wire, "" to derive one. District rows always have one. */
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
  /** Sentence on an unknown rate; absent elsewhere. */
  readonly note?: string;
}

/** A tuple with its rates. */
export interface ResolvedArea {
  readonly components: readonly Omit<ComponentRecord, 'id'>[];
  readonly unknown: readonly UnknownRecord[];
  readonly incorporated: boolean;
  readonly countyName: string;
  readonly placeName: string;
  /** Last day that every list behind the area was published for. */
  readonly staleAfter: DateInt;
  readonly estimated: boolean;
  /** The list of districts is known to lack some, and nothing is taken for those. */
  readonly partial: boolean;
}

/** Turns tuples into tax areas. Pure over the loaded lists; same tuple, same answer. */
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
  /** Further counties that hold less than 0.5 % of its land: its name is not looked for there. */
  readonly slight?: readonly string[];
  /** Independent city or consolidated with its county: its county tier does not exist. */
  readonly independent: boolean;
}

/** All counties that a place has land in. */
export function countiesWithLand({ counties, slight = [] }: PlaceFact): readonly string[] {
  return slight.length === 0 ? counties : [...counties, ...slight];
}

/** A line of progress: stage, done and total units. */
export type Progress = (stage: string, done: number, total: number) => void;
