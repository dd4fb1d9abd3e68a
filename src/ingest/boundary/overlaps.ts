/** Land that belongs to two polygons of one level, measured on the cells of the overlay. */
import type { BandedPolygon } from '../../geo/polygon.js';
import type { Cell } from './leaf.js';

/** Points along each side of the part of a border cell that two polygons may share. */
const GRID = 8;
const KM_PER_MICRODEGREE = 111.195 / 1e6;

/** Two polygons of a level that overlap. */
export interface Overlap {
  readonly layer: string;
  readonly keys: readonly [one: string, other: string];
  /** Approximate square kilometres of the shared land. */
  readonly km2: number;
  /** The shared land as a share of the smaller polygon. */
  readonly share: number;
}

/** Square kilometres of a polygon, by the plane of its middle latitude. */
function areaOf({ polygon: { coords, rings, minY, maxY } }: BandedPolygon): number {
  let sum = 0;
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    let own = 0;
    for (let at = rings[ring]!; at < rings[ring + 1]! - 1; at += 1) {
      own += coords[at * 2]! * coords[at * 2 + 3]! - coords[at * 2 + 2]! * coords[at * 2 + 1]!;
    }
    // Only most files give holes the opposite direction of parts, so the larger sum is used.
    sum += Math.abs(own) / 2;
  }
  return sum * squareAt((minY + maxY) / 2);
}

/** Square kilometres of a square microdegree at a latitude. */
function squareAt(lat: number): number {
  return KM_PER_MICRODEGREE ** 2 * Math.cos((lat / 1e6) * (Math.PI / 180));
}

interface Layered {
  readonly banded: BandedPolygon;
  readonly layer: string;
}

/** Adds up the land that pairs of polygons share. */
export class OverlapMeter {
  readonly #shapes: readonly Layered[];
  readonly #exclusive: ReadonlySet<string>;
  readonly #pairs = new Map<string, number>();

  /** Polygons of the `exclusive` layers should not overlap. */
  constructor(shapes: readonly Layered[], exclusive: readonly string[]) {
    this.#shapes = shapes;
    this.#exclusive = new Set(exclusive);
  }

  /** Measures a cell, with the polygons that cover it and those whose border crosses it. */
  measure(cell: Cell, covers: readonly number[], crossing: readonly Crossing[]): void {
    if (covers.length + crossing.length < 2) return;
    const all = [...covers.map((shape): Crossing => ({ shape, edges: NONE })), ...crossing].filter(
      ({ shape }) => this.#exclusive.has(this.#shapes[shape]!.layer),
    );
    for (let at = 0; at < all.length; at += 1) {
      const one = all[at]!;
      const a = this.#shapes[one.shape]!;
      for (let beside = at + 1; beside < all.length; beside += 1) {
        const other = all[beside]!;
        const b = this.#shapes[other.shape]!;
        if (a.layer !== b.layer || isDivided(cell, a.banded, one.edges, b.banded, other.edges)) {
          continue;
        }
        const isWhole = one.edges === NONE && other.edges === NONE;
        const square = isWhole ? cell.size ** 2 : sharedIn(cell, a.banded, b.banded);
        if (square > 0) {
          this.#add([one.shape, other.shape], square * squareAt(cell.y + cell.size / 2));
        }
      }
    }
  }

  #add(pair: readonly [number, number], km2: number): void {
    const key = [...pair].sort((a, b) => a - b).join();
    this.#pairs.set(key, (this.#pairs.get(key) ?? 0) + km2);
  }

  /** The overlaps found, by layer and keys. */
  overlaps(): readonly Overlap[] {
    return [...this.#pairs]
      .map(([key, km2]): Overlap => {
        const [one, other] = key.split(',').map((shape) => this.#shapes[Number(shape)]!) as [
          Layered,
          Layered,
        ];
        return {
          layer: one.layer,
          keys: [one.banded.polygon.key, other.banded.polygon.key],
          km2,
          share: km2 / Math.min(areaOf(one.banded), areaOf(other.banded)),
        };
      })
      .sort((a, b) => (a.layer + a.keys.join() < b.layer + b.keys.join() ? -1 : 1));
  }
}

/** The edges of a polygon that covers a cell. */
const NONE: readonly number[] = [];

/** A polygon whose border crosses a cell, by the first vertices of its edges there. */
interface Crossing {
  readonly shape: number;
  readonly edges: readonly number[];
}

/** Whether edges of two polygons are the same lines, in any direction and order. */
function areSame(
  a: Int32Array,
  edges: readonly number[],
  b: Int32Array,
  others: readonly number[],
): boolean {
  return edges.every((vertex) => {
    const at = vertex * 2;
    return others.some((other) => {
      const [x, y, toX, toY] = [
        b[other * 2]!,
        b[other * 2 + 1]!,
        b[other * 2 + 2]!,
        b[other * 2 + 3]!,
      ];
      return (
        (a[at] === toX && a[at + 1] === toY && a[at + 2] === x && a[at + 3] === y) ||
        (a[at] === x && a[at + 1] === y && a[at + 2] === toX && a[at + 3] === toY)
      );
    });
  });
}

/**
 * Whether two polygons in a cell have the same line with one on each side, as most neighbours do,
 * so that no spot of the cell lies in both.
 */
function isDivided(
  cell: Cell,
  one: BandedPolygon,
  edges: readonly number[],
  other: BandedPolygon,
  others: readonly number[],
): boolean {
  return (
    edges.length > 0 &&
    edges.length === others.length &&
    areSame(one.polygon.coords, edges, other.polygon.coords, others) &&
    one.contains(cell.x, cell.y) !== other.contains(cell.x, cell.y)
  );
}

const XS: number[] = Array.from({ length: GRID }, () => 0);
const IN_ONE = new Uint8Array(GRID);
const IN_OTHER = new Uint8Array(GRID);

/**
 * Square microdegrees of a cell that both polygons hold, estimated by points where both may lie.
 */
function sharedIn(cell: Cell, one: BandedPolygon, other: BandedPolygon): number {
  const [a, b] = [one.polygon, other.polygon];
  const west = Math.max(cell.x, a.minX, b.minX);
  const south = Math.max(cell.y, a.minY, b.minY);
  const width = Math.min(cell.x + cell.size, a.maxX, b.maxX) - west;
  const height = Math.min(cell.y + cell.size, a.maxY, b.maxY) - south;
  if (width <= 0 || height <= 0) return 0;
  for (let column = 0; column < GRID; column += 1) {
    XS[column] = Math.floor(west + (width * (column + 0.5)) / GRID);
  }
  let both = 0;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(south + (height * (row + 0.5)) / GRID);
    one.containsRow(XS, y, IN_ONE);
    if (!IN_ONE.includes(1)) continue;
    other.containsRow(XS, y, IN_OTHER);
    for (let column = 0; column < GRID; column += 1) both += IN_ONE[column]! & IN_OTHER[column]!;
  }
  return (both / GRID ** 2) * width * height;
}
