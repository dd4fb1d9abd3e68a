/**
 * What polygons say around a ZIP's point. The radius is the distance to the nearest other ZIP, so
 * the disc about covers the ZIP: measured on Vermont's doors, it holds 93 % of them, and towns met
 * within half of it are the ZIP's in 77 % of cases. A point counts only where the crosswalks show
 * its county, since some are wrong by hundreds of kilometres.
 */
import { foldName } from '../../address/place-name.js';
import type { AreaTuple } from '../model.js';
import type { PostalZip } from './counties.js';
import type { UnplacedCity, ZipPoint } from './model.js';

const KM_PER_DEGREE = 111.32;
const MICRO = 1_000_000;
/** Boxes and buildings with a ZIP of their own stand closer than this to another. */
const APART_KM = 0.5;
const RADIUS_KM_MAX = 15;
const DIRECTIONS = 8;
/** Samples on land below which the disc says nothing. */
const LAND_MIN = 9;
/** Samples in a city below which it is not near. */
const NEAR_MIN = 2;

type TupleAt = (lat: number, lng: number) => AreaTuple | null;

/** What lies around a ZIP's point. */
export interface Surroundings {
  /** The point that proved right. */
  readonly point: ZipPoint;
  /** Jurisdictions at the point itself. */
  readonly here: AreaTuple;
  /** Cities and towns within half the radius, in counties of the ZIP. */
  readonly near: readonly AreaTuple[];
  /** All land of the disc lies in cities. */
  readonly allCities: boolean;
}

/** Distance of two points, good for neighbours. */
export function kilometres(one: ZipPoint, other: ZipPoint): number {
  const east = (one.lng - other.lng) * Math.cos((one.lat / MICRO) * (Math.PI / 180));
  return (Math.hypot(one.lat - other.lat, east) / MICRO) * KM_PER_DEGREE;
}

/** Finds the distance from a ZIP's point to the nearest other, up to a limit. */
export class ZipSpacing {
  readonly #cells = new Map<number, ZipPoint[]>();

  constructor(points: readonly ZipPoint[]) {
    for (const point of points) {
      const key = this.#key(this.#row(point.lat), this.#row(point.lng));
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [point]);
      else cell.push(point);
    }
  }

  /** Cells of a quarter degree: the eight around a cell reach beyond the limit up to 60° north. */
  #row(micro: number): number {
    return Math.floor(micro / (MICRO / 4));
  }

  #key(row: number, column: number): number {
    return row * 10_000 + column;
  }

  radius(point: ZipPoint): number {
    const row = this.#row(point.lat);
    const column = this.#row(point.lng);
    let nearest = RADIUS_KM_MAX;
    for (let r = row - 1; r <= row + 1; r += 1) {
      for (let c = column - 1; c <= column + 1; c += 1) {
        for (const other of this.#cells.get(this.#key(r, c)) ?? []) {
          if (other.zip === point.zip) continue;
          const distance = kilometres(point, other);
          if (distance > APART_KM && distance < nearest) nearest = distance;
        }
      }
    }
    return nearest;
  }
}

function isCity(tuple: AreaTuple): boolean {
  return tuple.town !== '' || (tuple.place !== '' && tuple.place !== '?');
}

function ring(point: ZipPoint, km: number, tupleAt: TupleAt): AreaTuple[] {
  const tuples: AreaTuple[] = [];
  const north = (km / KM_PER_DEGREE) * MICRO;
  const east = north / Math.cos((point.lat / MICRO) * (Math.PI / 180));
  for (let step = 0; step < DIRECTIONS; step += 1) {
    const angle = (step / DIRECTIONS) * 2 * Math.PI;
    const lat = Math.round(point.lat + north * Math.sin(angle));
    const tuple = tupleAt(lat, Math.round(point.lng + east * Math.cos(angle)));
    if (tuple !== null) tuples.push(tuple);
  }
  return tuples;
}

function cityKey(tuple: AreaTuple): string {
  return `${tuple.county}|${tuple.place}|${tuple.town}`;
}

/** Looks around the first of the ZIP's points that lies in one of its counties. */
export function lookAround(
  zip: PostalZip,
  points: readonly ZipPoint[],
  spacing: ZipSpacing,
  tupleAt: TupleAt,
): Surroundings | null {
  if (zip.counties.length === 0) return null;
  for (const point of points) {
    const here = tupleAt(point.lat, point.lng);
    if (here === null || !zip.counties.includes(here.county)) continue;
    const radius = spacing.radius(point);
    const inner = [here, ...ring(point, radius / 2, tupleAt)];
    const land = [...inner, ...ring(point, radius, tupleAt)];
    const hits = new Map<string, { tuple: AreaTuple; count: number }>();
    for (const tuple of inner) {
      if (!isCity(tuple) || !zip.counties.includes(tuple.county)) continue;
      const hit = hits.get(cityKey(tuple)) ?? { tuple, count: 0 };
      hit.count += 1;
      hits.set(cityKey(tuple), hit);
    }
    return {
      point,
      here,
      near: [...hits.values()].filter(({ count }) => count >= NEAR_MIN).map(({ tuple }) => tuple),
      allCities: land.length >= LAND_MIN && land.every(isCity),
    };
  }
  return null;
}

// Where a listed city's boundary is not loaded, land near it may be in the city or outside: the
// remainder of its county is unknown in ZIPs of its name and within 15 km of their points.

const NEAR_KM = 15;
const NONE: ReadonlySet<string> = new Set();

function isNear(one: ZipPoint, other: ZipPoint): boolean {
  return kilometres(one, other) <= NEAR_KM;
}

/**
 * `pointOf` gives a ZIP's point where it can be trusted. Gives, per ZIP, the counties whose
 * remainder cannot be told from a city.
 */
export function doubtfulCounties(
  zips: readonly PostalZip[],
  pointOf: (zip: PostalZip) => ZipPoint | null,
  unplaced: readonly UnplacedCity[],
): (zip: PostalZip) => ReadonlySet<string> {
  const doubtful = new Map<number, Set<string>>();
  const doubt = (zip: number, county: string): void => {
    const counties = doubtful.get(zip);
    if (counties === undefined) doubtful.set(zip, new Set([county]));
    else counties.add(county);
  };
  const inCounty = new Map<string, PostalZip[]>();
  for (const { county } of unplaced) inCounty.set(county, []);
  for (const zip of zips) for (const county of zip.counties) inCounty.get(county)?.push(zip);
  for (const { county, name } of unplaced) {
    const near = inCounty.get(county) ?? [];
    const named = near.filter((zip) =>
      zip.names.some((other) => foldName(other) === foldName(name)));
    const spots = named.map((zip) => pointOf(zip)).filter((spot) => spot !== null);
    for (const zip of named) doubt(zip.zip, county);
    for (const zip of near) {
      const spot = spots.length === 0 ? null : pointOf(zip);
      if (spot !== null && spots.some((other) => isNear(spot, other))) doubt(zip.zip, county);
    }
  }
  return (zip) => doubtful.get(zip.zip) ?? NONE;
}
