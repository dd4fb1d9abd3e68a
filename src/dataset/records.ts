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
  /** Label on the wire: "CA", "ORANGE", "IRVINE", a district's name in capitals, "Ontario". */
  readonly jurName: string;
  /** Code on the wire (FIPS-like, TAID, publisher's district code) or null. */
  readonly jurCode: string | null;
  /** Wire label of the kind in Canada: GST, PST, HST, QST; null elsewhere. */
  readonly kind: string | null;
  /** Ordered by `from`, never overlapping; a day in no period levies nothing. */
  readonly periods: readonly RatePeriod[];
}

/** Why an area's combined rate cannot be told for some days. */
export interface UnknownRecord {
  readonly level: Level;
  /** Unknown from this day to that one, both included. */
  readonly from: DateInt;
  readonly to: DateInt;
  /** Sentence naming state, level and the layer or recipe that would fill it. */
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
  /** Three digits, empty where there is none. */
  readonly countyFips: string;
  /** Plain name ("Orange"), the city's own for independent cities; empty where there is none. */
  readonly countyName: string;
  /** As the Census Bureau writes it ("Orange County", "Orleans Parish"); empty as above. */
  readonly countyFullName: string;
  /** Plain name of the incorporated place or town; empty in an unincorporated area. */
  readonly placeName: string;
  /** Seven-digit place or ten-digit county subdivision code; empty as above. */
  readonly placeGeoid: string;
  readonly incorporated: boolean;
  /** Component ids in wire order: state, county, city, districts. */
  readonly components: readonly number[];
  readonly unknown: readonly UnknownRecord[];
  /** Last day that every list behind the area was published for; later ones are stale answers. */
  readonly staleAfter: DateInt;
  /** True when any figure of the area comes from an estimated source. */
  readonly estimated: boolean;
  /** The state's list of districts is known to lack some, which would be added; absent if not. */
  readonly partial?: true | undefined;
}

/** One part of a ZIP: a tax area with its share of the ZIP's doors, if known. */
export interface ZipPart {
  readonly area: number;
  /** Parts per million of the ZIP; null when no source weighs the ZIP. */
  readonly weight: number | null;
  /** Parts per million of the ZIP's estimated land; null where its extent is not known. */
  readonly land: number | null;
  /** Upper-case city of the row: the incorporated city, else the postal city. */
  readonly city: string;
  readonly incorporated: boolean;
  /** A spot inside the area, in the ZIP or near it; both zero where none is known. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /**
   * Tax area to compare when an address is located by ZIP, where it cannot be told whether a door
   * of this part lies in a city; absent where it can.
   */
  readonly doubt?: number;
}

/** A five-digit ZIP and the tax areas it overlaps. */
export interface ZipRecord {
  readonly zip: number;
  /** State of the postal city; parts may lie in others. */
  readonly state: string;
  /** Postal city names in capitals, the preferred one first. */
  readonly cities: readonly string[];
  readonly parts: readonly ZipPart[];
  /** Areas that are none of its rows and in which an address of the ZIP may lie all the same. */
  readonly reach: readonly ZipFringe[];
}

/** An area that a ZIP may reach. */
export interface ZipFringe {
  readonly area: number;
  /** Parts per million of the ZIP's estimated land; 0 where its extent is not known. */
  readonly land: number;
}

/** A city name within a state: where postal and municipal names lead. */
export interface CityRecord {
  /** Properly cased name for normalized addresses. */
  readonly name: string;
  readonly zips: readonly number[];
  /** Tax areas whose incorporated place bears this name, one per county part. */
  readonly areas: readonly number[];
}

/** A state's rules that do not depend on the place within it, in force over a period. */
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
  /** IANA zone of most of its people; "today" is the date there. */
  readonly timeZone: string;
  readonly rules: readonly StateRuleRecord[];
  /** Last day of its boundary file; absent where none is held, or the file tells no end. */
  readonly statedUntil?: DateInt;
}
