/** Finds the tax areas of doors and of sides of streets. */
import { foldCounty, foldName } from '../../address/place-name.js';
import {
  distanceMetres,
  DOOR_SETBACK_METRES,
  interpolate,
  type Microdegrees,
} from '../../geo/microdegrees.js';
import type { AreaTuple, PlaceFact } from '../model.js';
import type { CountyFact } from '../rates/facts.js';
import type { RangeSide, StreetRange } from '../source/ranges.js';

type Locate = (lat: Microdegrees, lng: Microdegrees) => number;

/**
 * How far across a border a door may lie from the municipality that its address names, in metres.
 */
const MUNICIPALITY_METRES = [60, 120];
/** How far from its county a door may lie if its municipality is different too. */
const COUNTY_METRES = [500, 1000, 2000];
/** How far from municipality and county it may lie, where boundaries contradict one another. */
const NAMED_METRES = [...MUNICIPALITY_METRES, 250, ...COUNTY_METRES];
const DIRECTIONS = 16;
/** Metres in a microdegree of latitude. */
const MICRODEGREE_METRES = distanceMetres(0, 0, 1, 0);

/** Areas, and names of municipalities, as plain values. */
export interface AreaNames {
  /** Codes of place and town for each tax area, by number; "" for none. */
  readonly municipalities: readonly (readonly [place: string, town: string])[];
  /** State and folded county name for each tax area. */
  readonly counties: readonly (readonly [state: string, name: string])[];
  /** Whether the town of each tax area lies in another county, by borders drawn differently. */
  readonly foreignTowns: readonly boolean[];
  /** Folded names of each place and town by its code. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Collects the names of places, and of the tax areas so far. */
export function areaNames({
  places,
  tuples,
  counties = [],
}: {
  readonly places: readonly Pick<PlaceFact, 'geoid' | 'name' | 'fullName'>[];
  readonly tuples: readonly AreaTuple[];
  readonly counties?: readonly Pick<CountyFact, 'fips' | 'fullName'>[];
}): AreaNames {
  const named = new Map(counties.map(({ fips, fullName }) => [fips, foldCounty(fullName)]));
  return {
    municipalities: tuples.map(({ place, town }) => [place, town] as const),
    counties: tuples.map(({ state, county }) => [state, named.get(county) ?? ''] as const),
    foreignTowns: tuples.map(({ county, town }) => town !== '' && !town.startsWith(county)),
    names: new Map(
      places.map(({ geoid, name, fullName }) => [geoid, [foldName(name), foldName(fullName)]]),
    ),
  };
}

/** What an address names besides its street. */
interface Named {
  readonly municipality: string;
  readonly county: string;
}

/** The nearest suitable area around a spot; −1 where there is none. */
function areaAround(
  [lat, lng]: readonly [Microdegrees, Microdegrees],
  rings: readonly number[],
  locate: Locate,
  fits: (area: number) => boolean,
): number {
  const east = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (const metres of rings) {
    const reach = metres / MICRODEGREE_METRES;
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / DIRECTIONS;
      const area = locate(
        Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + (reach / east) * Math.cos(angle)),
      );
      if (area >= 0 && fits(area)) return area;
    }
  }
  return -1;
}

/** A function of texts that remembers its results, since sources repeat few texts often. */
function kept(make: (text: string) => string): (text: string) => string {
  const made = new Map<string, string>();
  return (text) => {
    let own = made.get(text);
    if (own === undefined) made.set(text, (own = make(text)));
    return own;
  };
}

/**
 * Finds the tax areas of doors. The municipality that a publisher names is an authority's statement
 * and takes precedence over a simplified border, but only if it lies within a street's width.
 */
export class DoorSituator {
  readonly #locate: Locate;
  readonly #known: AreaNames;
  readonly #municipalities: ReadonlySet<string>;
  readonly #counties: ReadonlySet<string>;
  readonly #fold = kept(foldName);
  readonly #foldCounty = kept(foldCounty);

  constructor(locate: Locate, known: AreaNames) {
    this.#locate = locate;
    this.#known = known;
    this.#municipalities = new Set([...known.names.values()].flat());
    this.#counties = new Set(known.counties.map((county) => county.join('|')));
  }

  /**
   * The area of a spot; −1 where there is none. Where the boundaries have a town outside its
   * county, one of them is off there, so the municipality and county that an address names are
   * believed from farther away.
   */
  areaAt(lat: Microdegrees, lng: Microdegrees, municipality: string, county = ''): number {
    const here = this.#locate(lat, lng);
    if (municipality === '' || here < 0) return here;
    const name = this.#fold(municipality);
    if (county !== '' && this.#known.foreignTowns[here] === true) {
      const own = this.#foldCounty(county);
      const { counties, foreignTowns } = this.#known;
      const agrees = (area: number): boolean =>
        foreignTowns[area] !== true && counties[area]?.[1] === own && this.#bears(area, name);
      const agreed = areaAround([lat, lng], NAMED_METRES, this.#locate, agrees);
      if (agreed >= 0) return agreed;
    }
    if (this.#bears(here, name) || !this.#municipalities.has(name)) return here;
    const bears = (area: number): boolean => this.#bears(area, name);
    const area = areaAround([lat, lng], MUNICIPALITY_METRES, this.#locate, bears);
    return area < 0 ? here : area;
  }

  /**
   * Whether a spot is far from everything that its address names, so that its coordinates are those
   * of another door. A single name may be a neighbour's, or newer than the boundaries.
   */
  isAstray(lat: Microdegrees, lng: Microdegrees, area: number, named: Named): boolean {
    const [state, own] = this.#known.counties[area] ?? ['', ''];
    const county = this.#foldCounty(named.county);
    if (county === own || !this.#counties.has(`${state}|${county}`)) return false;
    const name = this.#fold(named.municipality);
    if (!this.#municipalities.has(name) || this.#bears(area, name)) return false;
    const fits = (other: number): boolean => this.#known.counties[other]?.[1] === county;
    return areaAround([lat, lng], COUNTY_METRES, this.#locate, fits) < 0;
  }

  #bears(area: number, name: string): boolean {
    const { municipalities, names } = this.#known;
    return (municipalities[area] ?? []).some((code) => names.get(code)?.includes(name) ?? false);
  }
}

/** Positions along a side at which its tax area is determined. */
const SAMPLES = [0, 0.25, 0.5, 0.75, 1];

/** The area of a side; −1 where it changes along it, null where a part lies in none. */
export function areaAlong(
  range: StreetRange,
  side: RangeSide,
  right: boolean,
  locate: Locate,
): number | null {
  const setback = DOOR_SETBACK_METRES[side.wideSetback ? 'wide' : 'usual'];
  let common = -2;
  for (const share of SAMPLES) {
    const { lat, lng } = interpolate(range.geometry, share, right ? setback : -setback);
    const area = locate(lat, lng);
    if (area < 0) return null;
    if (common === -2) common = area;
    else if (common !== area) return -1;
  }
  return common;
}

// Doors on piers and shores lie outside of simplified boundaries, so they get the nearest area.

/** Distances from a door at which land is searched. */
const RINGS_METRES = [60, 150, 300, 600, 1000];
const SHORE_DIRECTIONS = 16;

/**
 * The area of a spot, or of the nearest land when it lies in none; −1 where there is none near, or
 * the nearest ring meets several. `here` is the result of `locate` for the spot.
 */
export function areaAshore(
  lat: Microdegrees,
  lng: Microdegrees,
  locate: Locate,
  here: number = locate(lat, lng),
): number {
  if (here >= 0) return here;
  const east = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (const metres of RINGS_METRES) {
    const reach = metres / MICRODEGREE_METRES;
    let found = -1;
    for (let direction = 0; direction < SHORE_DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / SHORE_DIRECTIONS;
      const area = locate(
        Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + (reach / east) * Math.cos(angle)),
      );
      if (area < 0) continue;
      if (found >= 0 && found !== area) return -1;
      found = area;
    }
    if (found >= 0) return found;
  }
  return -1;
}
