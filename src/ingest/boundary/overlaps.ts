/** Land that two polygons of one level both hold, measured on the cells of the overlay. */
import type { BandedPolygon } from '../../geo/polygon.js';
import type { Cell } from './leaf.js';

/** Spots along each side of the land of a border cell that two polygons may share. */
const GRID = 8;
const KM_PER_MICRODEGREE = 111.195 / 1e6;

/** Two polygons of a level that overlap. */
export interface Overlap {
  readonly layer: string;
  readonly keys: readonly [one: string, other: string];
  /** Square kilometres that both hold, about. */
  readonly km2: number;
  /** The same as a share of the smaller one. */
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
    // Holes are told from parts by their direction in most files only: the larger sum is kept.
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

/** Adds up what pairs of polygons share. */
export class OverlapMeter {
  readonly #shapes: readonly Layered[];
  readonly #exclusive: ReadonlySet<string>;
  readonly #pairs = new Map<string, number>();

  /** Polygons of the `exclusive` layers hold no land together. */
  constructor(shapes: readonly Layered[], exclusive: readonly string[]) {
    this.#shapes = shapes;
    this.#exclusive = new Set(exclusive);
  }

  /** Measures a cell by the polygons that cover it and those whose border crosses it. */
  measure(
    cell: Cell, covers: readonly number[], crossing: readonly { readonly shape: number }[],
  ): void {
    if (covers.length + crossing.length < 2) return;
    const all = [...covers, ...crossing.map(({ shape }) => shape)].filter((shape) =>
      this.#exclusive.has(this.#shapes[shape]!.layer));
    for (let one = 0; one < all.length; one += 1) {
      for (let other = one + 1; other < all.length; other += 1) {
        const pair = [all[one]!, all[other]!] as const;
        const [a, b] = pair.map((shape) => this.#shapes[shape]!) as [Layered, Layered];
        if (a.layer !== b.layer) continue;
        const isWhole = covers.includes(pair[0]) && covers.includes(pair[1]);
        const square = isWhole ? cell.size ** 2 : sharedIn(cell, a.banded, b.banded);
        if (square > 0) this.#add(pair, square * squareAt(cell.y + cell.size / 2));
      }
    }
  }

  #add(pair: readonly [number, number], km2: number): void {
    const key = [...pair].sort((a, b) => a - b).join();
    this.#pairs.set(key, (this.#pairs.get(key) ?? 0) + km2);
  }

  /** What was found, by layer and keys. */
  overlaps(): readonly Overlap[] {
    return [...this.#pairs].map(([key, km2]): Overlap => {
      const [one, other] = key.split(',').map((shape) => this.#shapes[Number(shape)]!) as
        [Layered, Layered];
      return {
        layer: one.layer, keys: [one.banded.polygon.key, other.banded.polygon.key], km2,
        share: km2 / Math.min(areaOf(one.banded), areaOf(other.banded)),
      };
    }).sort((a, b) => (a.layer + a.keys.join() < b.layer + b.keys.join() ? -1 : 1));
  }
}

/** Square microdegrees of a cell that both hold, by spots where both may lie. */
function sharedIn(cell: Cell, one: BandedPolygon, other: BandedPolygon): number {
  const [a, b] = [one.polygon, other.polygon];
  const west = Math.max(cell.x, a.minX, b.minX);
  const south = Math.max(cell.y, a.minY, b.minY);
  const width = Math.min(cell.x + cell.size, a.maxX, b.maxX) - west;
  const height = Math.min(cell.y + cell.size, a.maxY, b.maxY) - south;
  if (width <= 0 || height <= 0) return 0;
  const xs = Array.from({ length: GRID }, (_, column) =>
    Math.floor(west + (width * (column + 0.5)) / GRID));
  const [inOne, inOther] = [new Uint8Array(GRID), new Uint8Array(GRID)];
  let both = 0;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(south + (height * (row + 0.5)) / GRID);
    one.containsRow(xs, y, inOne);
    if (!inOne.includes(1)) continue;
    other.containsRow(xs, y, inOther);
    for (let column = 0; column < GRID; column += 1) both += inOne[column]! & inOther[column]!;
  }
  return (both / GRID ** 2) * width * height;
}
