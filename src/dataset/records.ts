/**
 * Records of a dataset, as the engine reads them. They are written by `ingest/` and never change
 * once a release is built. Dates are YYYYMMDD, rates parts per billion.
 */
import type { Microdegrees } from '../geo/microdegrees.js';
import type { DateInt } from '../tax/date.js';
import type { Country, Level } from '../tax/jurisdiction.js';
import type { Rate } from '../tax/rate.js';

/** One publisher's file or list behind figures of the dataset. */
export interface SourceRecord {
  readonly id: number;
  /** Short stable name, e.g. "ca-cdtfa" or "facts/local_rates.tsv#WA". */
  readonly name: string;
  readonly publisher: string;
  readonly licence: string;
  /** Newest date the publisher states for its figures. */
  readonly asOf: DateInt;
  /** True for figures that are estimates and not an authority's own. */
  readonly estimated: boolean;
}

/** A rate in force over an inclusive period, with where it came from. */
export interface RatePeriod {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly sales: Rate;
  readonly use: Rate;
  /** Index of the SourceRecord. */
  readonly source: number;
  readonly asOf: DateInt;
}

/** What one jurisdiction levies in a tax area. Interned: many areas share one component. */
export interface ComponentRecord {
  readonly id: number;
  readonly level: Level;
  /** The name in answers: "CA", "ORANGE", "IRVINE", a district's name in capitals, "Ontario". */
  readonly jurName: string;
  /** The code in answers (like FIPS, TAID, or the publisher's code of a district), or null. */
  readonly jurCode: string | null;
  /** The kind of tax in answers for Canada: GST, PST, HST, QST; null elsewhere. */
  readonly kind: string | null;
  /** Ordered by `from`, never overlapping; a day in no period levies nothing. */
  readonly periods: readonly RatePeriod[];
}

/** Why the combined rate of an area is not known for some days. */
export interface UnknownRecord {
  readonly level: Level;
  /** First and last of these days. */
  readonly from: DateInt;
  readonly to: DateInt;
  /** Sentence that names state and level, and the layer or recipe that would supply the rate. */
  readonly reason: string;
}

/** A tax area: every place on earth with the same set of taxing jurisdictions. */
export interface AreaRecord {
  readonly id: number;
  readonly country: Country;
  /** Two-letter code of the state, province or territory. */
  readonly state: string;
  readonly stateName: string;
  readonly stateFips: string;
  /** Three digits; empty where there is no county. */
  readonly countyFips: string;
  /** Plain name ("Orange"), or the city's own for independent cities; empty where there is none. */
  readonly countyName: string;
  /**
   * As the Census Bureau writes it ("Orange County", "Orleans Parish"); empty where there is none.
   */
  readonly countyFullName: string;
  /** Plain name of the incorporated place or town; empty in an unincorporated area. */
  readonly placeName: string;
  /**
   * Seven-digit code of a place or ten-digit code of a county subdivision; empty where
   * unincorporated.
   */
  readonly placeGeoid: string;
  readonly incorporated: boolean;
  /** Component ids in the order of answers: state, county, city, districts. */
  readonly components: readonly number[];
  readonly unknown: readonly UnknownRecord[];
  /** Last day that all lists of the area were published for; answers for later days are stale. */
  readonly staleAfter: DateInt;
  /** Whether any figure of the area comes from an estimated source. */
  readonly estimated: boolean;
  /** Set where the state's list of districts is known to lack some, whose rates would be added. */
  readonly partial?: true | undefined;
}

/** One part of a ZIP: a tax area with its share of the ZIP's doors, if known. */
export interface ZipPart {
  readonly area: number;
  /** Parts per million of the ZIP's doors; null when no source counts doors in it. */
  readonly weight: number | null;
  /** Parts per million of the ZIP's estimated land; null where its extent is not known. */
  readonly land: number | null;
  /** The incorporated city of the part in capitals, or else the postal city. */
  readonly city: string;
  readonly incorporated: boolean;
  /** A point inside the area, in the ZIP or near it; both zero where none is known. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /**
   * An area to compare with when an address is located by ZIP only, because a door of this part may
   * or may not lie in a city. Absent where that is certain.
   */
  readonly doubt?: number;
}

/** A five-digit ZIP and the tax areas it overlaps. */
export interface ZipRecord {
  readonly zip: number;
  /** State of the postal city; some parts may lie in other states. */
  readonly state: string;
  /** Postal city names in capitals, the preferred one first; then cities' own spellings of them. */
  readonly cities: readonly string[];
  readonly parts: readonly ZipPart[];
  /** Areas without a part of their own in which an address of the ZIP may nevertheless lie. */
  readonly reach: readonly ZipFringe[];
}

/** An area that a ZIP may extend into. */
export interface ZipFringe {
  readonly area: number;
  /** Parts per million of the ZIP's estimated land; 0 where its extent is not known. */
  readonly land: number;
}

/** What a city's name stands for in a state, both as a postal and a municipal name. */
export interface CityRecord {
  /** The name in mixed case, for normalized addresses. */
  readonly name: string;
  readonly zips: readonly number[];
  /** Tax areas whose incorporated place bears this name, one per county part. */
  readonly areas: readonly number[];
}

/** Rules of a state that hold everywhere in it, in force over a period. */
export interface StateRuleRecord {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly serviceTaxable: 'Y' | 'N' | 'L';
  readonly freightTaxable: 'Y' | 'N';
  readonly freightRule:
    | 'EXEMPT'
    | 'EXEMPT_WHEN_SEPARATELY_STATED'
    | 'ITEM_SPECIFIC'
    | 'CONDITIONAL'
    | 'TAXABLE';
  readonly freightExemptWhenSeparatelyStated: boolean;
  readonly freightDescription: string;
  readonly sourcing: 'O' | 'D';
  readonly sourcingDescription: string;
  readonly source: number;
}

/** A state, province or territory. */
export interface StateRecord {
  readonly code: string;
  readonly fips: string;
  readonly name: string;
  readonly country: Country;
  /** IANA time zone of most of its people, by which "today" is determined. */
  readonly timeZone: string;
  readonly rules: readonly StateRuleRecord[];
  /** Last day of its boundary file; absent where there is none, or it has no end. */
  readonly statedUntil?: DateInt;
}
