/**
 * How far a ZIP may extend. The land of ZIPs is not freely published, so it is estimated from their
 * points: the nearer a spot is to a ZIP's point than to others, the likelier it belongs to the ZIP,
 * and the ZIP may reach it if its point is at most twice as far as the nearest other. Measured on
 * the doors of four sources, this reaches 98 of 100 cities and towns with a fiftieth of a ZIP's
 * doors; the others are ZIPs whose point is far off.
 */
import type { Polygon } from '../../geo/polygon.js';
import type { AreaTuple } from '../model.js';
import type { Pieces } from '../progress.js';
import { isCity } from './cities.js';
import { Claims } from './claims.js';
import { CitySampler, openShare, type Reached, ZipLand } from './land.js';
import {
  BESIDE_MAX,
  type Choice,
  KM,
  kilometres,
  type MappedZip,
  type PlacedZip,
  REACH_KM_MAX,
  SLACK,
  type Spot,
  type TupleAt,
  ZipMap,
} from './placed.js';
import type { ZipPoint } from './zip-facts.js';

const MICRO = 1_000_000;
const SPACING_KM_MAX = 30;
const DIRECTIONS = 12;
/** Steps along a ray, as shares of the spacing; each is a little longer than the last. */
const STEP = 0.2;
const STEP_GROWTH = 0.02;
/** Steps that are taken in any case, since a ZIP has some land. */
const STEPS_MIN = 3;
/** Nearest ZIPs whose points show how the land outside cities is used. */
const AROUND = 8;
/** With fewer samples of its own, a ZIP says nothing about all of its land. */
const LAND_MIN = 9;
/** A city that is not reached and farther away than this shows rather that the point is wrong. */
const TRUSTED_KM = 15;
/** `TRUSTED_KM` in microdegrees of latitude, plus one. */
const TRUSTED_MICRO = TRUSTED_KM / KM + 1;

/** Where a ZIP may lie. */
export interface Extent {
  /** The point of the ZIP that is trusted. */
  readonly point: ZipPoint;
  /** The tuple at the point. */
  readonly here: AreaTuple;
  /** Tuples that it reaches in its counties, most land first. */
  readonly reached: readonly Reached[];
  /** Whether all of its own land lies in cities. */
  readonly allCities: boolean;
}

/** Estimates the extents of ZIPs from all their points. */
export class ZipExtents {
  readonly #map: ZipMap;
  readonly #claims: Claims;
  readonly #tupleAt: TupleAt;
  readonly #lands = new Map<PlacedZip, ZipLand>();

  private constructor(zips: readonly PlacedZip[], tupleAt: TupleAt) {
    this.#map = new ZipMap(zips);
    this.#tupleAt = tupleAt;
    this.#claims = new Claims(this.#map, zips);
  }

  /** `cities` are the boundaries of cities and towns. */
  static *sampled(
    zips: readonly PlacedZip[],
    tupleAt: TupleAt,
    cities: Iterable<Polygon>,
  ): Pieces<ZipExtents> {
    const extents = new ZipExtents(zips, tupleAt);
    const sampler = new CitySampler(extents.#claims, tupleAt, (zip) => extents.#landOf(zip));
    for (const polygon of cities) {
      sampler.add(polygon);
      yield;
    }
    return extents;
  }

  #landOf(zip: PlacedZip): ZipLand {
    let land = this.#lands.get(zip);
    if (land === undefined) {
      land = new ZipLand();
      this.#lands.set(zip, land);
    }
    return land;
  }

  /** The extent of a ZIP; to be called once for each. */
  of(zip: PlacedZip): Extent {
    const { point, here, counties } = zip;
    const land = this.#landOf(zip);
    const beside = this.#map.beside(zip);
    const allCities = this.#sample(zip, beside, land);
    const around = [...beside.slice(0, AROUND).map((one) => one.zip), zip];
    const open = openShare(around.filter((one) => !isCity(one.here)).length, around.length);
    return { point, here, reached: land.reached(counties, open), allCities };
  }

  /** The ZIPs around one in a county (any where it is ""), and the index of its cluster there. */
  #choiceOf(
    zip: PlacedZip,
    beside: readonly MappedZip[],
    county: string,
  ): { readonly choice: Choice; readonly own: number } {
    const choice = this.#map.choose(beside, county);
    return { choice, own: this.#claims.placeIn(choice, zip) };
  }

  /** Samples the land outside cities; returns whether all of the ZIP's own lies in cities. */
  #sample(zip: PlacedZip, beside: readonly MappedZip[], land: ZipLand): boolean {
    const { point, here, counties } = zip;
    const spacing = Math.min(SPACING_KM_MAX, this.#map.spacing(point));
    const shrink = Math.cos((point.lat / MICRO) * (Math.PI / 180));
    const wedge = (2 * Math.PI) / DIRECTIONS;
    const none = this.#choiceOf(zip, beside, '');
    const choices = counties.map((county) => this.#choiceOf(zip, beside, county));
    // Farther away, other ZIPs than these may be nearer.
    const last = beside.length < BESIDE_MAX ? undefined : beside.at(-1);
    const most =
      last === undefined
        ? REACH_KM_MAX
        : Math.min(REACH_KM_MAX, kilometres(point, last.zip.point) * (SLACK / (SLACK + 1)));
    let [own, open] = [0, 0];
    land.add(
      here,
      point.lat,
      point.lng,
      0,
      isCity(here) ? 0 : Math.PI * ((spacing * STEP) / 2) ** 2,
    );
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const north = Math.sin(direction * wedge) / KM;
      const east = Math.cos(direction * wedge) / KM / shrink;
      for (let step = 1; ; step += 1) {
        const km = spacing * STEP * step * (1 + STEP_GROWTH * step);
        if (km > most) break;
        const lat = Math.round(point.lat + km * north);
        const lng = Math.round(point.lng + km * east);
        const tuple = this.#tupleAt(lat, lng);
        const county = tuple === null ? -1 : counties.indexOf(tuple.county);
        const { choice, own: place } = county < 0 ? none : choices[county]!;
        const ratio = this.#claims.ratioOf(choice, place, km, lat, lng);
        if (ratio > SLACK && step > STEPS_MIN) break;
        if (tuple === null || county < 0) continue;
        const isOpen = !isCity(tuple);
        if (ratio <= 1) own += 1;
        if (ratio <= 1 && isOpen) open += 1;
        // The land of a sample grows with its distance.
        const km2 = isOpen ? wedge * km * spacing * STEP * (1 + 2 * STEP_GROWTH * step) : 0;
        land.add(tuple, lat, lng, km, km2 === 0 ? 0 : km2 * this.#claims.likelyOf(place, km));
      }
    }
    return own >= LAND_MIN && open === 0 && !land.hasOpen(counties);
  }

  /**
   * Whether land within these boundaries may belong to the ZIP, although no sample of it does:
   * their line is within 15 km of the point, or less than four times as far as the nearest other
   * point.
   */
  mayReach(zip: PlacedZip, polygons: readonly Polygon[]): boolean {
    const { point } = zip;
    const isNear = (spot: Spot): boolean => {
      const km = kilometres(point, spot);
      const { lat, lng } = spot;
      if (km <= TRUSTED_KM) return true;
      const choice = this.#map.around(lat, lng, '');
      const own = this.#claims.placeIn(choice, zip);
      return this.#claims.ratioOf(choice, own, km, lat, lng) <= 2 * SLACK;
    };
    return polygons.some(({ coords, rings }) =>
      rings.some((start, ring) => {
        for (let corner = start; corner + 1 < (rings[ring + 1] ?? 0); corner += 1) {
          if (
            isNear({ lng: coords[corner * 2]!, lat: coords[corner * 2 + 1]! }) ||
            isNear(nearestOnEdge(point, coords, corner * 2))
          )
            return true;
        }
        return false;
      }),
    );
  }

  /** Whether a city may lie in the ZIP, although the extent does not reach it. */
  mayTouch({ point }: Extent, { coords }: Polygon): boolean {
    for (let at = 0; at < coords.length; at += 2) {
      const lat = coords[at + 1]!;
      if (Math.abs(point.lat - lat) > TRUSTED_MICRO) continue;
      if (kilometres(point, { lng: coords[at]!, lat }) <= TRUSTED_KM) return false;
    }
    return true;
  }
}

/** The point nearest to a spot on the edge that begins at an index of `coords`. */
function nearestOnEdge(spot: Spot, coords: Int32Array, at: number): Spot {
  const [lng, lat] = [coords[at]!, coords[at + 1]!];
  const [toLng, toLat] = [coords[at + 2]!, coords[at + 3]!];
  const shrink = Math.cos((spot.lat / MICRO) * (Math.PI / 180));
  const [east, north] = [(toLng - lng) * shrink, toLat - lat];
  const along =
    ((spot.lng - lng) * shrink * east + (spot.lat - lat) * north) / (east * east + north * north);
  const part = Math.min(1, Math.max(0, along));
  return { lng: lng + (toLng - lng) * part, lat: lat + (toLat - lat) * part };
}
