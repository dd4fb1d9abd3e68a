/**
 * Land of cities by the ZIPs it may belong to. Every city is sampled by itself: around the points
 * of ZIPs small ones lie between the samples.
 */
import { type Polygon, rowInside } from '../../geo/polygon.js';
import type { AreaTuple } from '../model.js';
import { isCity } from './cities.js';
import type { Claims } from './claims.js';
import type { ZipLand } from './land.js';
import { KM, type PlacedZip, type TupleAt } from './placed.js';

/** Spots across a city, and the most between two, in microdegrees. */
const SPOTS_ACROSS = 6;
const SPACING_MAX = 12_000;
/** Corners of a city's line are looked at so many times along its length. */
const CORNERS_ALONG = 14;
/** From a corner to a spot inside, in microdegrees. */
const NUDGES = [30, 300, 2_000] as const;
const AROUND = [
  [0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1], [0, 1], [0, -1], [1, 0], [-1, 0],
] as const;
/** From a corner to what lies beside the city. */
const OUTWARD = [[500, 500], [500, -500], [-500, 500], [-500, -500]] as const;

/** Adds the land of a city or town to that of the ZIPs. */
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
        const { zips, kms, likely } = this.#claims;
        for (let at = 0; at < zips.length; at += 1) {
          this.#landOf(zips[at]!).add(tuple, lat, lng, kms[at]!, area * likely[at]!);
        }
      }
    }
  }

  /**
   * Ends of a city reach ZIPs that no spot inside does, and pockets of open land lie along its line
   * that rays from the points of ZIPs pass by.
   */
  #corners({ key, coords, minX, minY, maxX, maxY }: Polygon): void {
    const apart = Math.max(maxX - minX, maxY - minY) / CORNERS_ALONG;
    let [lastX, lastY] = [Infinity, Infinity];
    for (let at = 0; at < coords.length; at += 2) {
      const [lng, lat] = [coords[at]!, coords[at + 1]!];
      if (Math.abs(lng - lastX) < apart && Math.abs(lat - lastY) < apart) continue;
      [lastX, lastY] = [lng, lat];
      this.#corner(key, lat, lng);
    }
  }

  #corner(key: string, lat: number, lng: number): void {
    let inside: Inside | null | undefined;
    this.#claims.readCity(lat, lng, '', key);
    const { zips, kms } = this.#claims;
    for (const [north, east] of OUTWARD) {
      const tuple = this.#tupleAt(lat + north, lng + east);
      if (tuple === null || isCity(tuple)) continue;
      for (let at = 0; at < zips.length; at += 1) {
        this.#landOf(zips[at]!).add(tuple, lat + north, lng + east, kms[at]!, 0);
      }
    }
    for (let at = 0; at < zips.length; at += 1) {
      const land = this.#landOf(zips[at]!);
      if (land.has(key)) continue;
      if (inside === undefined) inside = this.#insideOf(key, lat, lng);
      if (inside !== null) land.add(inside.tuple, inside.lat, inside.lng, kms[at]!, 0);
    }
  }

  #insideOf(key: string, lat: number, lng: number): Inside | null {
    for (const nudge of NUDGES) {
      for (const [north, east] of AROUND) {
        const spot = { lat: lat + north * nudge, lng: lng + east * nudge };
        const tuple = this.#tupleOf(key, spot.lat, spot.lng);
        if (tuple !== null) return { tuple, ...spot };
      }
    }
    return null;
  }
}

interface Inside {
  readonly tuple: AreaTuple;
  readonly lat: number;
  readonly lng: number;
}
