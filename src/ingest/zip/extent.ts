/**
 * How far a ZIP may reach. Nobody publishes the land of ZIPs freely, so it is estimated from their
 * points: a spot is taken for the ZIP's own where no other ZIP's point is nearer, and for one it
 * may reach where its point is at most twice as far as the nearest other. Measured on the doors of
 * four sources, 98 of 100 cities and towns with a fiftieth of a ZIP's doors are so
 * reached; the others are ZIPs whose point is far off. A point counts only where the crosswalks
 * show its county, since some are wrong by hundreds of kilometres.
 */
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { Polygon } from '../../geo/polygon.js';
import type { AreaTuple } from '../model.js';
import { isCity, tupleKey } from './cities.js';
import type { PostalZip } from './counties.js';
import type { ZipPoint } from './model.js';

const KM_PER_DEGREE = 111.32;
const MICRO = 1_000_000;
const KM = KM_PER_DEGREE / MICRO;
/** Boxes and buildings with a ZIP of their own stand closer than this to another. */
const APART_KM = 0.5;
const SPACING_KM_MAX = 30;
const REACH_KM_MAX = 60;
/** So many times as far as the nearest other ZIP's point a spot may lie. */
const SLACK = 2;
const NEIGHBOURS = 32;
const DIRECTIONS = 24;
/**
 * So many times as densely is land of cities lived in as other land: by the Census Bureau's report
 * of 2015 62.7 % of the people lived on the 3.5 % of the land that cities have.
 */
export const CITY_DENSITY = 46;
/** Steps along a ray: in parts of the spacing, a little longer each. */
const STEP = 0.15;
const STEP_GROWTH = 0.02;
/** Steps that are taken whatever lies near, since a ZIP has some land. */
const STEPS_MIN = 3;
/** Samples of its own below which a ZIP says nothing of all its land. */
const LAND_MIN = 9;
/** A city that is farther from the point and not reached rather shows that the point is wrong. */
const TRUSTED_KM = 15;
/** Distances of one plane are taken at slightly different latitudes. */
const ROUNDING = 1.05;
/** Quarter degrees. */
const CELL = MICRO / 4;
const CELLS_AROUND_MAX = 3;

type TupleAt = (lat: number, lng: number) => AreaTuple | null;

/** A combination of jurisdictions that a ZIP may reach. */
export interface Reached {
  readonly tuple: AreaTuple;
  /** Parts per million of the ZIP's own land, as it is lived on; 0 where it reaches at most. */
  readonly land: number;
  /** The sampled spot nearest to the ZIP's point. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Where a ZIP may lie. */
export interface Extent {
  /** The point that proved right. */
  readonly point: ZipPoint;
  /** Jurisdictions at the point itself. */
  readonly here: AreaTuple;
  /** In counties of the ZIP, most land first. */
  readonly reached: readonly Reached[];
  /** All of its own land lies in cities. */
  readonly allCities: boolean;
}

/** Kilometres between two spots, good for neighbours. */
export function kilometres(
  one: { readonly lat: number; readonly lng: number },
  other: { readonly lat: number; readonly lng: number },
): number {
  const east = (one.lng - other.lng) * Math.cos((one.lat / MICRO) * (Math.PI / 180));
  return Math.hypot(one.lat - other.lat, east) * KM;
}

interface Hit {
  readonly tuple: AreaTuple;
  own: number;
  nearest: number;
  lat: number;
  lng: number;
}

function takeNearer(hit: Hit, km: number, lat: number, lng: number): void {
  if (km >= hit.nearest) return;
  hit.nearest = km;
  hit.lat = lat;
  hit.lng = lng;
}

/** Samples of one ZIP. */
class Sampling {
  /** By the tuple itself, since its key costs more than all else of a sample. */
  readonly #hits = new Map<AreaTuple, Hit>();
  samples = 0;
  cities = 0;
  #own = 0;

  add(tuple: AreaTuple, lat: number, lng: number, km: number, own: number): void {
    let hit = this.#hits.get(tuple);
    if (hit === undefined) {
      hit = { tuple, own: 0, nearest: km, lat, lng };
      this.#hits.set(tuple, hit);
    }
    takeNearer(hit, km, lat, lng);
    if (own === 0) return;
    const lived = isCity(tuple) ? own : own / CITY_DENSITY;
    hit.own += lived;
    this.#own += lived;
    this.samples += 1;
    if (isCity(tuple)) this.cities += 1;
  }

  reached(counties: readonly string[]): Reached[] {
    const hits = new Map<string, Hit>();
    for (const hit of this.#hits.values()) {
      const key = tupleKey(hit.tuple);
      const same = hits.get(key);
      if (same === undefined) hits.set(key, hit);
      else {
        same.own += hit.own;
        takeNearer(same, hit.nearest, hit.lat, hit.lng);
      }
    }
    return [...hits.values()].filter(({ tuple }) => counties.includes(tuple.county))
      .sort((a, b) => b.own - a.own || (tupleKey(a.tuple) < tupleKey(b.tuple) ? -1 : 1))
      .map(({ tuple, own, lat, lng }) =>
        ({ tuple, land: Math.round((own / this.#own) * MICRO), lat, lng }));
  }
}

/** Estimates the extents of ZIPs from all their points. */
export class ZipExtents {
  readonly #cells = new Map<number, ZipPoint[]>();
  readonly #tupleAt: TupleAt;

  /** `points` of ZIPs that have land: those of boxes and buildings would take it from others. */
  constructor(points: readonly ZipPoint[], tupleAt: TupleAt) {
    this.#tupleAt = tupleAt;
    for (const point of points) {
      const key = this.#key(Math.floor(point.lat / CELL), Math.floor(point.lng / CELL));
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [point]);
      else cell.push(point);
    }
  }

  #key(row: number, column: number): number {
    return row * 10_000 + column;
  }

  /** The nearest points of other ZIPs, nearest first. */
  #neighbours(point: ZipPoint): readonly ZipPoint[] {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    let found: ZipPoint[] = [];
    for (let around = 1; around <= CELLS_AROUND_MAX && found.length < NEIGHBOURS; around += 1) {
      found = [];
      for (let r = row - around; r <= row + around; r += 1) {
        for (let c = column - around; c <= column + around; c += 1) {
          for (const other of this.#cells.get(this.#key(r, c)) ?? []) {
            if (other.zip !== point.zip) found.push(other);
          }
        }
      }
    }
    return found.map((other) => ({ other, km: kilometres(point, other) }))
      .filter(({ km }) => km > APART_KM)
      .sort((a, b) => a.km - b.km || a.other.zip - b.other.zip)
      .slice(0, NEIGHBOURS).map(({ other }) => other);
  }

  /** Samples the land around the first of the ZIP's points that lies in one of its counties. */
  of(zip: PostalZip, points: readonly ZipPoint[]): Extent | null {
    for (const point of points) {
      const here = this.#tupleAt(point.lat, point.lng);
      if (here === null || !zip.counties.includes(here.county)) continue;
      const sampling = this.#sample(point, here);
      return {
        point, here, reached: sampling.reached(zip.counties),
        allCities: sampling.samples >= LAND_MIN && sampling.cities === sampling.samples,
      };
    }
    return null;
  }

  #sample(point: ZipPoint, here: AreaTuple): Sampling {
    const near = new Neighbours(point, this.#neighbours(point));
    const sampling = new Sampling();
    const { spacing } = near;
    sampling.add(here, point.lat, point.lng, 0, (spacing * STEP) ** 2);
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (direction / DIRECTIONS) * 2 * Math.PI;
      const north = Math.sin(angle) / KM;
      const east = Math.cos(angle) / KM / near.shrink;
      for (let step = 1; ; step += 1) {
        const km = spacing * STEP * step * (1 + STEP_GROWTH * step);
        if (km > REACH_KM_MAX) break;
        const lat = Math.round(point.lat + km * north);
        const lng = Math.round(point.lng + km * east);
        const ratio = km / near.nearest(lat, lng, km);
        if (ratio > SLACK && step > STEPS_MIN) break;
        const tuple = this.#tupleAt(lat, lng);
        // Land of a sample grows with its distance.
        if (tuple !== null) sampling.add(tuple, lat, lng, km, ratio <= 1 ? km * spacing : 0);
      }
    }
    return sampling;
  }

  /** Whether a city that is not among what an extent reached may lie in the ZIP all the same. */
  mayTouch({ point }: Extent, { coords }: Polygon): boolean {
    const near = new Neighbours(point, this.#neighbours(point));
    let nearest = Infinity;
    for (let at = 0; at < coords.length; at += 2) {
      const spot = { lng: coords[at]!, lat: coords[at + 1]! };
      const km = kilometres(point, spot);
      if (km < nearest) nearest = km;
      if (km <= SLACK * near.nearest(spot.lat, spot.lng, km)) return true;
    }
    return nearest > TRUSTED_KM;
  }
}

/** Distances to the other ZIPs around a point. */
class Neighbours {
  readonly spacing: number;
  /** Degrees of longitude in those of latitude. */
  readonly shrink: number;
  readonly #lats: Float64Array;
  readonly #lngs: Float64Array;
  /** From the point, ascending. */
  readonly #kms: Float64Array;

  constructor(point: ZipPoint, others: readonly ZipPoint[]) {
    const [first] = others;
    this.shrink = Math.cos((point.lat / MICRO) * (Math.PI / 180));
    this.spacing = first === undefined
      ? SPACING_KM_MAX : Math.min(SPACING_KM_MAX, kilometres(point, first));
    this.#lats = Float64Array.from(others, ({ lat }) => lat);
    this.#lngs = Float64Array.from(others, ({ lng }) => lng);
    this.#kms = Float64Array.from(others, (other) => kilometres(point, other));
  }

  /** Kilometres to the nearest of them from a spot that is `km` away from the point. */
  nearest(lat: number, lng: number, km: number): number {
    let least = Infinity;
    let enough = Infinity;
    for (let at = 0; at < this.#lats.length; at += 1) {
      // It and those behind it are farther from the spot than the nearest so far.
      if (this.#kms[at]! - km > enough) break;
      const north = this.#lats[at]! - lat;
      const east = (this.#lngs[at]! - lng) * this.shrink;
      const square = north * north + east * east;
      if (square < least) {
        least = square;
        enough = Math.sqrt(square) * KM * ROUNDING;
      }
    }
    return Math.max(0.05, Math.sqrt(least) * KM);
  }
}
