/** Tax areas of doors and of sides of streets. */
import {
  distanceMetres,
  DOOR_SETBACK_METRES,
  interpolate,
  type Microdegrees,
} from '../../geo/microdegrees.js';
import type { RangeSide, StreetRange } from '../source/ranges.js';

type Locate = (lat: Microdegrees, lng: Microdegrees) => number;

/** How far a door may lie across a border from the municipality its address names, in metres. */
const MUNICIPALITY_METRES = 120;
const METRES_PER_DEGREE = 111_195;
const DIRECTIONS = 8;

/** What is known of areas and of the names of municipalities; plain values. */
export interface AreaNames {
  /** Place and town of each tax area, by its number; "" for none. */
  readonly municipalities: readonly (readonly [place: string, town: string])[];
  /** Names of each place and town by its code, in capitals. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/**
 * Tax areas of doors. The municipality a publisher names is an authority's statement and beats a
 * simplified border, but only where that municipality lies within a street's width.
 */
export class DoorSituator {
  readonly #locate: Locate;
  readonly #known: AreaNames;

  constructor(locate: Locate, known: AreaNames) {
    this.#locate = locate;
    this.#known = known;
  }

  /** The area of a spot, −1 where there is none. */
  areaAt(lat: Microdegrees, lng: Microdegrees, municipality: string): number {
    const here = this.#locate(lat, lng);
    if (municipality === '' || here < 0) return here;
    const name = municipality.toUpperCase();
    if (this.#bears(here, name)) return here;
    const reach = (MUNICIPALITY_METRES / METRES_PER_DEGREE) * 1e6;
    const stretch = 1 / Math.max(0.01, Math.cos((lat / 1e6 / 180) * Math.PI));
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / DIRECTIONS;
      const area = this.#locate(
        Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + reach * stretch * Math.cos(angle)),
      );
      if (area >= 0 && this.#bears(area, name)) return area;
    }
    return here;
  }

  #bears(area: number, name: string): boolean {
    const { municipalities, names } = this.#known;
    return (municipalities[area] ?? []).some((code) => names.get(code)?.includes(name) ?? false);
  }
}

/** Shares of a side's length at which its tax area is looked up. */
const SAMPLES = [0, 0.25, 0.5, 0.75, 1];

/** The area of a side, −1 when it changes along it, null when a part lies in none. */
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

// Doors on piers and shores lie outside simplified boundaries: the nearest area is theirs.

/** Rings around a door on which land is looked for. */
const RINGS_METRES = [60, 150, 300, 600, 1000];
const SHORE_DIRECTIONS = 16;
/** Metres from the equator to a millionth of a degree north of it. */
const MICRODEGREE_METRES = distanceMetres(0, 0, 1, 0);

/**
 * The area of a spot, or of the land nearest to it when it lies in none; −1 where there is none
 * near, or where the nearest ring touches several. `here` is what `locate` says of the spot.
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
