/** Land of a ZIP by combinations of jurisdictions, and how much of it is lived on. */
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { AreaTuple } from '../model.js';
import { isCity, tupleKey } from './cities.js';

const PPM = 1_000_000;
/**
 * A square kilometre of a city has so many times the doors of one outside, by square kilometre of
 * the ZIP: those outside are about as many in a large ZIP as in a small one. Measured on the doors
 * of Vermont and of Baltimore County, where most points of ZIPs lie outside cities.
 */
const DENSITY_BY_KM2 = 0.12;
const DENSITY_MIN = 3;
const DENSITY_MAX = 1_000;

/**
 * How many times as densely as other land a city is lived in, in a ZIP of so many km². `open` is
 * the share of the points of ZIPs around that lie outside cities: where few do, little is lived
 * there, but it is water, parks and works.
 */
export function cityDensity(km2: number, open: number): number {
  const times = Math.max(DENSITY_MIN, DENSITY_BY_KM2 * km2);
  return Math.min(DENSITY_MAX, times / open);
}

/** The share of ZIPs whose points lie outside cities, of so many; never 0 for certain. */
export function openShare(open: number, all: number): number {
  return (open + 0.5) / (all + 1);
}

/** A combination of jurisdictions that a ZIP may reach. */
export interface Reached {
  readonly tuple: AreaTuple;
  /** Parts per million of the ZIP's own land, as it is lived on; 0 where it reaches at most. */
  readonly land: number;
  /** The sampled spot nearest to the ZIP's point. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

interface Hit {
  readonly tuple: AreaTuple;
  /** Square kilometres that are likely the ZIP's. */
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

/** What was sampled of one ZIP. */
export class ZipLand {
  /** By the tuple itself, since its key costs more than all else of a sample. */
  readonly #hits = new Map<AreaTuple, Hit>();

  /** A spot that the ZIP may reach, `km` from its point; `own` square kilometres of it its own. */
  add(tuple: AreaTuple, lat: number, lng: number, km: number, own: number): void {
    let hit = this.#hits.get(tuple);
    if (hit === undefined) {
      hit = { tuple, own: 0, nearest: km, lat, lng };
      this.#hits.set(tuple, hit);
    }
    takeNearer(hit, km, lat, lng);
    hit.own += own;
  }

  /** Whether any spot of the city or town was. */
  has(geoid: string): boolean {
    for (const { town, place } of this.#hits.keys()) if ((town || place) === geoid) return true;
    return false;
  }

  /** Whether any spot outside cities was, in one of the counties. */
  hasOpen(counties: readonly string[]): boolean {
    for (const tuple of this.#hits.keys()) {
      if (!isCity(tuple) && counties.includes(tuple.county)) return true;
    }
    return false;
  }

  /** All of it in the counties, the most lived on first; `open` as `cityDensity` has it. */
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
    const density = cityDensity(all.reduce((sum, { own }) => sum + own, 0), open);
    const lived = ({ tuple, own }: Hit): number => (isCity(tuple) ? own * density : own);
    const total = all.reduce((sum, hit) => sum + lived(hit), 0);
    return all.map((hit) => ({ hit, own: total === 0 ? 0 : lived(hit) / total }))
      .sort((a, b) => b.own - a.own || (tupleKey(a.hit.tuple) < tupleKey(b.hit.tuple) ? -1 : 1))
      .map(({ hit: { tuple, lat, lng }, own }) =>
        ({ tuple, land: Math.round(own * PPM), lat, lng }));
  }
}
