/** The land of a ZIP by tuple, and how densely it is inhabited. */
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { AreaTuple } from '../model.js';
import { isCity, tupleKey } from './cities.js';
import type { Claims } from './claims.js';
import { KM, type PlacedZip, type TupleAt } from './placed.js';
import { type Polygon, rowInside } from '../../geo/polygon.js';

const PPM = 1_000_000;
/**
 * How many times as many doors a square kilometre of a city has as one outside, for each square
 * kilometre of the ZIP: those outside are about as many in a large ZIP as in a small one. Measured
 * on the doors of Vermont and of Baltimore County, where most points of ZIPs lie outside cities.
 */
const DENSITY_BY_KM2 = 0.12;
const DENSITY_MIN = 3;
const DENSITY_MAX = 1_000;

/**
 * How many times as densely as other land a city is inhabited, in a ZIP of `km2`. `open` is the
 * share of surrounding ZIPs with a point outside cities. Where few have one, land outside cities is
 * hardly inhabited: it is water, parks and works.
 */
export function cityDensity(km2: number, open: number): number {
  const times = Math.max(DENSITY_MIN, DENSITY_BY_KM2 * km2);
  return Math.min(DENSITY_MAX, times / open);
}

/** The share of ZIPs with a point outside cities, which is never exactly 0. */
export function openShare(open: number, all: number): number {
  return (open + 0.5) / (all + 1);
}

/** A tuple that a ZIP may reach. */
export interface Reached {
  readonly tuple: AreaTuple;
  /** Parts per million of the ZIP's own inhabited land; 0 where it may only reach the tuple. */
  readonly land: number;
  /** The sampled spot nearest to the ZIP's point. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

interface Hit {
  readonly tuple: AreaTuple;
  /** Square kilometres that probably belong to the ZIP. */
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

/** The samples of one ZIP. */
export class ZipLand {
  /** By tuple object, since making its key takes longer than all else of a sample. */
  readonly #hits = new Map<AreaTuple, Hit>();

  /**
   * Adds a spot that the ZIP may reach, `km` from its point; `own` square kilometres of it are its
   * own.
   */
  add(tuple: AreaTuple, lat: number, lng: number, km: number, own: number): void {
    let hit = this.#hits.get(tuple);
    if (hit === undefined) {
      hit = { tuple, own: 0, nearest: km, lat, lng };
      this.#hits.set(tuple, hit);
    }
    takeNearer(hit, km, lat, lng);
    hit.own += own;
  }

  /** Whether a sample lies in the city or town. */
  has(geoid: string): boolean {
    for (const { town, place } of this.#hits.keys()) if ((town || place) === geoid) return true;
    return false;
  }

  /** Whether a sample lies outside cities, in one of the counties. */
  hasOpen(counties: readonly string[]): boolean {
    for (const tuple of this.#hits.keys()) {
      if (!isCity(tuple) && counties.includes(tuple.county)) return true;
    }
    return false;
  }

  /** All tuples in the counties, the most inhabited first; `open` as in `cityDensity`. */
  reached(counties: readonly string[], open: number): Reached[] {
    const hits = new Map<string, Hit>();
    for (const hit of this.#hits.values()) {
      if (!counties.includes(hit.tuple.county)) continue;
      const key = tupleKey(hit.tuple);
      const same = hits.get(key);
      if (same === undefined) hits.set(key, { ...hit });
      else {
        same.own += hit.own;
        takeNearer(same, hit.nearest, hit.lat, hit.lng);
      }
    }
    const all = [...hits.values()];
    const density = cityDensity(
      all.reduce((sum, { own }) => sum + own, 0),
      open,
    );
    const lived = ({ tuple, own }: Hit): number => (isCity(tuple) ? own * density : own);
    const total = all.reduce((sum, hit) => sum + lived(hit), 0);
    return all
      .map((hit) => ({ hit, own: total === 0 ? 0 : lived(hit) / total }))
      .sort((a, b) => b.own - a.own || (tupleKey(a.hit.tuple) < tupleKey(b.hit.tuple) ? -1 : 1))
      .map(({ hit: { tuple, lat, lng }, own }) => ({
        tuple,
        land: Math.round(own * PPM),
        lat,
        lng,
      }));
  }
}

/** Number of spots across a city, and their largest distance in microdegrees. */
const SPOTS_ACROSS = 6;
const SPACING_MAX = 12_000;
/**
 * Number of corners of a city's line that are tested along its length, and their least distance.
 */
const CORNERS_ALONG = 14;
const CORNERS_APART_MAX = 8_000;
/** Distances from a corner to a spot inside, in microdegrees. */
const NUDGES = [30, 300, 2_000] as const;
const CORNERS = [
  [0, 0],
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
] as const;
/** Distances from a corner to land beside the city. */
const OUTWARD = [
  [500, 500],
  [500, -500],
  [-500, 500],
  [-500, -500],
] as const;

/**
 * Adds the land of cities and towns to that of ZIPs. Each city is sampled on its own, because
 * samples around the points of ZIPs miss small ones.
 */
export class CitySampler {
  readonly #claims: Claims;
  readonly #tupleAt: TupleAt;
  readonly #landOf: (zip: PlacedZip) => ZipLand;

  constructor(claims: Claims, tupleAt: TupleAt, landOf: (zip: PlacedZip) => ZipLand) {
    this.#claims = claims;
    this.#tupleAt = tupleAt;
    this.#landOf = landOf;
  }

  add(polygon: Polygon): void {
    this.#inside(polygon);
    this.#corners(polygon);
  }

  #tupleOf(geoid: string, lat: number, lng: number): AreaTuple | null {
    const tuple = this.#tupleAt(lat, lng);
    return tuple !== null && (tuple.town || tuple.place) === geoid ? tuple : null;
  }

  #inside(polygon: Polygon): void {
    const { key, minX, minY, maxX, maxY } = polygon;
    const shrink = Math.cos((((minY + maxY) / 2) * 1e-6 * Math.PI) / 180);
    const north = Math.min(SPACING_MAX, (maxY - minY) / SPOTS_ACROSS);
    const east = Math.min(SPACING_MAX / shrink, (maxX - minX) / SPOTS_ACROSS);
    const area = north * east * shrink * KM * KM;
    const lngs: number[] = [];
    for (let x = minX + east / 2; x < maxX; x += east) lngs.push(Math.round(x));
    const inside = new Uint8Array(lngs.length);
    for (let y = minY + north / 2; y < maxY; y += north) {
      const lat = Math.round(y);
      rowInside(polygon, lngs, lat, inside);
      for (let column = 0; column < lngs.length; column += 1) {
        if (inside[column] === 0) continue;
        const lng = lngs[column]!;
        const tuple = this.#tupleOf(key, lat, lng);
        if (tuple === null) continue;
        this.#claims.readCity(lat, lng, tuple.county, key);
        const { zips, kms, likely, count } = this.#claims;
        for (let at = 0; at < count; at += 1) {
          this.#landOf(zips[at]!).add(tuple, lat, lng, kms[at]!, area * likely[at]!);
        }
      }
    }
  }

  /**
   * Samples along the line of a city. Its ends may belong to ZIPs that none of its inner spots
   * does, and beside the line there may be pockets of open land that rays from ZIPs' points miss.
   */
  #corners({ key, coords, rings, minX, minY, maxX, maxY }: Polygon): void {
    const along = Math.max(maxX - minX, maxY - minY) / CORNERS_ALONG;
    const apart = Math.min(CORNERS_APART_MAX, along);
    let [ring, lastX, lastY] = [0, Infinity, Infinity];
    for (let at = 0; at < coords.length; at += 2) {
      const [lng, lat] = [coords[at]!, coords[at + 1]!];
      // A ring may be a pocket that is smaller than the steps along the line.
      if (at === rings[ring]! * 2) ring += 1;
      else if (Math.abs(lng - lastX) < apart && Math.abs(lat - lastY) < apart) continue;
      [lastX, lastY] = [lng, lat];
      this.#corner(key, lat, lng);
    }
  }

  #corner(key: string, lat: number, lng: number): void {
    let inside: Inside | null | undefined;
    const near = this.#claims.readReach(lat, lng, key);
    const { zips, kms, count } = this.#claims;
    for (const [north, east] of OUTWARD) {
      const tuple = this.#tupleAt(lat + north, lng + east);
      if (tuple === null || isCity(tuple)) continue;
      for (let at = 0; at < count; at += 1) {
        // That a ZIP bears the city's name says nothing of land beyond the city's line, but where a
        // post office of boxes lies nobody knows.
        if (at >= near && zips[at]!.landed) continue;
        this.#landOf(zips[at]!).add(tuple, lat + north, lng + east, kms[at]!, 0);
      }
    }
    for (let at = 0; at < count; at += 1) {
      const land = this.#landOf(zips[at]!);
      if (land.has(key)) continue;
      if (inside === undefined) inside = this.#insideOf(key, lat, lng);
      if (inside !== null) land.add(inside.tuple, inside.lat, inside.lng, kms[at]!, 0);
    }
  }

  #insideOf(key: string, lat: number, lng: number): Inside | null {
    for (const nudge of NUDGES) {
      for (const [north, east] of CORNERS) {
        const spot = { lat: lat + north * nudge, lng: lng + east * nudge };
        const tuple = this.#tupleOf(key, spot.lat, spot.lng);
        if (tuple !== null) return { tuple, ...spot };
      }
    }
    return null;
  }
}

/** A spot in a city, with its tuple. */
interface Inside {
  readonly tuple: AreaTuple;
  readonly lat: number;
  readonly lng: number;
}
