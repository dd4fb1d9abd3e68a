/** What is known about ZIPs before they are bound to tax areas, from all publishers. */
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { Polygon } from '../../geo/polygon.js';
import type { OwnDistricts } from '../layer/districts.js';
import type { AreaTuple, InternArea, PlaceFact } from '../model.js';
import type { CountyFact } from '../rates/facts.js';
import type { StateFact } from '../state-facts.js';
import type { BoundZip } from './zip-parts.js';

/**
 * A row of a postal list: a ZIP with its postal city. Points may be far off, and counties wrong.
 */
export interface ZipPoint {
  readonly zip: number;
  /** Postal city, properly cased. */
  readonly name: string;
  /** Two-letter code, AA, AE or AP for military mail. */
  readonly state: string;
  /** Five digits, "" when the list names none. */
  readonly county: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** A ZIP that overlaps a county, without a share. */
export interface ZipCounty {
  readonly zip: number;
  /** Five digits. */
  readonly county: string;
}

/** A city that an authority's list binds to a ZIP, by name. */
export interface ZipCity {
  readonly zip: number;
  readonly state: string;
  readonly name: string;
}

/** Number of a ZIP's doors in one tuple, by address points. */
export interface ZipCount {
  readonly zip: number;
  readonly tuple: AreaTuple;
  readonly count: number;
}

/** Another name of a place, from facts: "Bronx" is the part of New York in one county. */
export interface CityAlias {
  readonly state: string;
  readonly name: string;
  readonly place: string;
  /** Five digits; "" for all counties of the place. */
  readonly county: string;
}

/** A county without land outside cities. */
export interface MunicipalCounty {
  readonly county: string;
  /** Its only, or its largest, place. */
  readonly place: string;
  /** Whether the place covers the whole county. */
  readonly sole: boolean;
}

/** A ZIP of a territory, which postal lists of the states lack. */
interface TerritoryZip {
  readonly zip: number;
  readonly state: string;
  readonly city: string;
  /** Five digits; "" where other lists give it. */
  readonly county: string;
}

/** Facts about ZIPs that no list has. */
export interface ZipFacts {
  readonly aliases: readonly CityAlias[];
  readonly municipal: readonly MunicipalCounty[];
  readonly territories: readonly TerritoryZip[];
}

/** A listed city without a boundary, so that land near it may be in it or not. */
export interface UnplacedCity {
  readonly state: string;
  /** Five digits. */
  readonly county: string;
  readonly name: string;
}

/** What ZIPs are bound from, without doors. Lists may be empty; nothing else is read. */
export interface ZipLists {
  readonly states: readonly StateFact[];
  readonly counties: readonly CountyFact[];
  /** Incorporated places and, where towns have boundaries, governing towns (ten digits). */
  readonly places: readonly PlaceFact[];
  /** States (two letters) whose place boundaries or membership are known. */
  readonly placesLoaded: ReadonlySet<string>;
  readonly unplaced: readonly UnplacedCity[];
  readonly points: readonly ZipPoint[];
  /** ZIP–county pairs of delivered addresses. */
  readonly delivered: readonly ZipCounty[];
  /** ZIP–county pairs of land, from census blocks. */
  readonly tabulated: readonly ZipCounty[];
  readonly cities: readonly ZipCity[];
  /** States (two letters) of which all doors are known, so that their numbers weigh ZIPs. */
  readonly countedStates: ReadonlySet<string>;
  readonly facts: ZipFacts;
  /** The tuple at a spot by polygons; null outside all. */
  readonly tupleAt?: (lat: Microdegrees, lng: Microdegrees) => AreaTuple | null;
  /** Boundary of a place, town or county by its code. */
  readonly polygonOf?: (geoid: string) => Polygon | undefined;
  /** Boundaries of a drawn district by its code. */
  readonly polygonsOfDistrict?: (code: string) => readonly Polygon[];
  /** Districts of layers; none if absent. */
  readonly districts?: OwnDistricts;
  readonly intern: InternArea;
}

/** Everything ZIPs are bound from. */
export interface ZipInput extends ZipLists {
  readonly counts: readonly ZipCount[];
}

/**
 * Evidence that a city belongs to a ZIP: address points, the postal city's name, an authority's
 * list, a county that is one city, the ZIP's point, what lies around that point.
 */
const EVIDENCE = ['doors', 'name', 'list', 'county', 'point', 'near'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** Figures of a binding, for the build's report. */
export interface ZipReport {
  readonly zips: number;
  /** ZIPs without parts: military, free associated states, and those no evidence places. */
  readonly partless: readonly number[];
  readonly parts: number;
  /** ZIPs with more than one tax area. */
  readonly divided: number;
  readonly weighed: number;
  /** ZIPs that extend into a second state. */
  readonly interstate: number;
  /** Number of city parts by evidence; a part with several kinds counts for each. */
  readonly evidence: Readonly<Record<Evidence, number>>;
  /** Number of city parts with only this kind of evidence. */
  readonly lone: Readonly<Record<Evidence, number>>;
  /** Listed city names that match no place in the ZIP's counties, with their ZIPs. */
  readonly unjoined: ReadonlyMap<string, number>;
  readonly cities: number;
}

function none(): Record<Evidence, number> {
  return { doors: 0, name: 0, list: 0, county: 0, point: 0, near: 0 };
}

/** Counts evidence over ZIPs. */
export function countEvidence(zips: readonly BoundZip[]): {
  evidence: Record<Evidence, number>;
  lone: Record<Evidence, number>;
} {
  const evidence = none();
  const lone = none();
  for (const zip of zips) {
    for (const kinds of zip.evidence) {
      for (const kind of EVIDENCE) {
        if (!kinds.has(kind)) continue;
        evidence[kind] += 1;
        if (kinds.size === 1) lone[kind] += 1;
      }
    }
  }
  return { evidence, lone };
}
