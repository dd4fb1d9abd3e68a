/** Polygons with holes and parts as one flat array of microdegrees. */
import { LAT_MAX, LNG_MAX } from './microdegrees.js';

/** Largest extent of an edge in either direction, in microdegrees. */
const EDGE_SPAN_MAX = 90_000_000;

/**
 * The one predicate all geometry rests on: does the ray from a point towards larger x cross an
 * edge, strictly right of px? Half-open in y and strict in x, which settles every border: a point
 * on an edge belongs to the side east of it, on a horizontal edge to the side north of it, and to
 * exactly one polygon of a tessellation. Exact in doubles: coordinates are integers and an edge
 * spans at most `EDGE_SPAN_MAX`, so every product stays below 2^53.
 */
export function crossesRight(
  px: number,
  py: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  if (ay <= py === by <= py) return false;
  return isRightOf(px, py, ax, ay, bx, by);
}

/**
 * Whether an edge that is known to span the row py crosses it strictly right of px. This is
 * `crossesRight` for callers that have tested the rows themselves.
 */
export function isRightOf(
  px: number,
  py: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  if (px < ax && px < bx) return true;
  if (px >= ax && px >= bx) return false;
  return ay < by
    ? (bx - ax) * (py - ay) > (px - ax) * (by - ay)
    : (ax - bx) * (py - by) > (px - bx) * (ay - by);
}

export interface Polygon {
  readonly key: string;
  /** x0, y0, x1, y1, …: longitude and latitude; every ring ends with its first vertex. */
  readonly coords: Int32Array;
  /** Index (in vertices) where each ring begins, and one past the last vertex. */
  readonly rings: Int32Array;
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

export type Position = readonly [x: number, y: number];

function addEdge(out: number[], fromX: number, fromY: number, x: number, y: number): void {
  const pieces = Math.ceil(Math.max(Math.abs(x - fromX), Math.abs(y - fromY)) / EDGE_SPAN_MAX);
  for (let piece = 1; piece < pieces; piece += 1) {
    out.push(
      Math.round(fromX + ((x - fromX) * piece) / pieces),
      Math.round(fromY + ((y - fromY) * piece) / pieces),
    );
  }
  out.push(x, y);
}

function addRing(out: number[], ring: readonly Position[]): boolean {
  const start = out.length;
  for (const [x, y] of ring) {
    if (Math.abs(x) > LNG_MAX || Math.abs(y) > LAT_MAX) {
      throw new RangeError(`position ${x}, ${y} is not on earth`);
    }
    if (out.length === start) {
      out.push(x, y);
      continue;
    }
    const [lastX, lastY] = [out[out.length - 2]!, out[out.length - 1]!];
    if (lastX !== x || lastY !== y) addEdge(out, lastX, lastY, x, y);
  }
  const [firstX, firstY] = [out[start]!, out[start + 1]!];
  if (out.length > start && (out.at(-2) !== firstX || out.at(-1) !== firstY)) {
    addEdge(out, out.at(-2)!, out.at(-1)!, firstX, firstY);
  }
  if (out.length - start >= 8) return true;
  out.length = start;
  return false;
}

/**
 * Makes a polygon of rings in microdegrees (outer rings and holes in any order or direction: a
 * spot is inside when an odd number of rings holds it). Rings of less than three corners are
 * dropped. Null when nothing is left.
 * @throws RangeError for positions outside ±180°, ±90°.
 */
export function createPolygon(
  key: string,
  rings: readonly (readonly Position[])[],
): Polygon | null {
  const out: number[] = [];
  const starts: number[] = [];
  for (const ring of rings) {
    const start = out.length / 2;
    if (addRing(out, ring)) starts.push(start);
  }
  if (starts.length === 0) return null;
  return polygonOf(key, Int32Array.from(out), Int32Array.from([...starts, out.length / 2]));
}

/** Makes a `Polygon` of vertices and ring starts that already have the form described there. */
export function polygonOf(key: string, coords: Int32Array, rings: Int32Array): Polygon {
  let [minX, minY, maxX, maxY] = [coords[0]!, coords[1]!, coords[0]!, coords[1]!];
  for (let at = 0; at < coords.length; at += 2) {
    const x = coords[at]!;
    const y = coords[at + 1]!;
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  return { key, coords, rings, minX, minY, maxX, maxY };
}

/** Calls `each` with the index of the first vertex of every edge. */
export function forEachEdge(polygon: Polygon, each: (vertex: number) => void): void {
  const { rings } = polygon;
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    for (let vertex = rings[ring]!; vertex < rings[ring + 1]! - 1; vertex += 1) each(vertex);
  }
}

/**
 * Sets 1 in `inside` for each spot of a row that lies within the polygon, 0 for any other. For a
 * few rows this is cheaper than sorting the edges into bands (`BandedPolygon`).
 */
export function rowInside(
  { coords, rings }: Polygon,
  xs: readonly number[],
  y: number,
  inside: Uint8Array,
): void {
  inside.fill(0);
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    const end = (rings[ring + 1]! - 1) * 2;
    for (let at = rings[ring]! * 2; at < end; at += 2) {
      const [ay, by] = [coords[at + 1]!, coords[at + 3]!];
      if (ay > y === by > y) continue;
      for (let spot = 0; spot < xs.length; spot += 1) {
        if (isRightOf(xs[spot]!, y, coords[at]!, ay, coords[at + 2]!, by)) inside[spot]! ^= 1;
      }
    }
  }
}

/**
 * A band for every four vertices: with fewer vertices a band, making the bands costs more than they
 * save.
 */
const VALUES_PER_BAND_BITS = 3;
const BANDS_MAX = 16_384;

/** A polygon with its edges sorted into horizontal bands, for many point tests. */
export class BandedPolygon {
  readonly polygon: Polygon;
  readonly #height: number;
  readonly #starts: Int32Array;
  readonly #edges: Int32Array;

  constructor(polygon: Polygon) {
    this.polygon = polygon;
    const { coords, minY, maxY } = polygon;
    const bands = Math.max(1, Math.min(BANDS_MAX, coords.length >> VALUES_PER_BAND_BITS));
    this.#height = Math.max(1, Math.ceil((maxY - minY + 1) / bands));
    const band = (vertex: number): number =>
      Math.floor((coords[vertex * 2 + 1]! - minY) / this.#height);
    const counts = new Int32Array(bands + 1);
    forEachEdge(polygon, (vertex) => {
      const one = band(vertex);
      const other = band(vertex + 1);
      const high = Math.max(one, other);
      for (let at = Math.min(one, other); at <= high; at += 1) counts[at + 1]! += 1;
    });
    for (let at = 0; at < bands; at += 1) counts[at + 1]! += counts[at]!;
    this.#starts = counts.slice();
    this.#edges = new Int32Array(counts[bands]!);
    forEachEdge(polygon, (vertex) => {
      const one = band(vertex);
      const other = band(vertex + 1);
      const high = Math.max(one, other);
      for (let at = Math.min(one, other); at <= high; at += 1) {
        this.#edges[counts[at]!] = vertex;
        counts[at]! += 1;
      }
    });
  }

  /** True when the point lies inside; points on a border are settled as `crossesRight` says. */
  contains(x: number, y: number): boolean {
    const { coords, minX, minY, maxX, maxY } = this.polygon;
    if (x < minX || x > maxX || y < minY || y > maxY) return false;
    const band = Math.floor((y - minY) / this.#height);
    let inside = false;
    for (let at = this.#starts[band]!; at < this.#starts[band + 1]!; at += 1) {
      const vertex = this.#edges[at]! * 2;
      if (
        crossesRight(
          x,
          y,
          coords[vertex]!,
          coords[vertex + 1]!,
          coords[vertex + 2]!,
          coords[vertex + 3]!,
        )
      )
        inside = !inside;
    }
    return inside;
  }

  /** Sets 1 in `inside` for each spot of a row that `contains` holds, 0 for any other. */
  containsRow(xs: readonly number[], y: number, inside: Uint8Array): void {
    inside.fill(0);
    const { coords, minY, maxY } = this.polygon;
    if (y < minY || y > maxY) return;
    const band = Math.floor((y - minY) / this.#height);
    for (let at = this.#starts[band]!; at < this.#starts[band + 1]!; at += 1) {
      const vertex = this.#edges[at]! * 2;
      const [ax, ay] = [coords[vertex]!, coords[vertex + 1]!];
      const [bx, by] = [coords[vertex + 2]!, coords[vertex + 3]!];
      // Most edges of a band do not reach the row: one test of y rules them out for all spots of
      // the row.
      if (ay > y === by > y) continue;
      for (let spot = 0; spot < xs.length; spot += 1) {
        if (isRightOf(xs[spot]!, y, ax, ay, bx, by)) inside[spot]! ^= 1;
      }
    }
  }
}
