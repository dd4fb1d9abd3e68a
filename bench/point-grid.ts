/** Finds the nearest ZIPs around one. */
import { kilometres } from '../src/ingest/zip/placed.js';
import type { ZipPoint } from '../src/ingest/zip/zip-facts.js';

const OTHERS_MAX = 32;
/** Points that are closer together tell nothing about each other's land. */
const APART_KM = 0.5;
const CELL = 250_000;
const CELLS_AROUND = 2;

/** Points of ZIPs in a grid, so that near ones are found quickly. */
export class PointGrid {
  readonly #cells = new Map<string, ZipPoint[]>();

  constructor(points: readonly ZipPoint[]) {
    for (const point of points) {
      const key = this.#key(point.lat, point.lng);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [point]);
      else cell.push(point);
    }
  }

  #key(lat: number, lng: number): string {
    return `${Math.floor(lat / CELL)} ${Math.floor(lng / CELL)}`;
  }

  /** The nearest points of other ZIPs, nearest first. */
  others(point: ZipPoint): readonly ZipPoint[] {
    const found: { readonly other: ZipPoint; readonly km: number }[] = [];
    const wide = Math.ceil(CELLS_AROUND / Math.cos((point.lat / 1e6) * (Math.PI / 180)));
    for (let north = -CELLS_AROUND; north <= CELLS_AROUND; north += 1) {
      for (let east = -wide; east <= wide; east += 1) {
        const key = this.#key(point.lat + north * CELL, point.lng + east * CELL);
        for (const other of this.#cells.get(key) ?? []) {
          const km = kilometres(point, other);
          if (other.zip !== point.zip && km > APART_KM) found.push({ other, km });
        }
      }
    }
    const apart: ZipPoint[] = [];
    for (const { other } of found.sort((a, b) => a.km - b.km)) {
      if (apart.length === OTHERS_MAX) break;
      if (!apart.some((one) => kilometres(one, other) <= APART_KM)) apart.push(other);
    }
    return apart;
  }
}
