/**
 * What decides inside a border cell of the point index.
 *
 * Leaf: 32-bit integers, what decides inside a border cell:
 *   x0 · y0 · X · groups · {stride} per group · areas · {area} · polygons · per polygon:
 *   group · choice · parity · flips · {row} · chains · per chain: vertices · {x · y}
 * `parity` tells whether the point (X, y0) at the cell's east side is inside; every flip row turns
 * it for rows from there on. A point is inside when the parity of its row, turned by every edge
 * between the point and X, is odd. Choices of a group are tested in order, the first one wins;
 * the area is entry Σ choice × stride of the table, −1 for none.
 */
import { crossesRight, isRightOf } from '../geo/polygon.js';

/** The tax area that holds a point of the border cell that begins at `from`, −1 for none. */
export function areaWithin(leaf: Int32Array, from: number, x: number, y: number): number {
  const east = leaf[from + 2]!;
  const stridesAt = from + 4;
  const areasAt = stridesAt + leaf[from + 3]! + 1;
  let at = areasAt + leaf[areasAt - 1]!;
  const polygons = leaf[at]!;
  at += 1;
  let entry = 0;
  let decided = -1;
  for (let polygon = 0; polygon < polygons; polygon += 1) {
    const group = leaf[at]!;
    const choice = leaf[at + 1]!;
    const skip = group === decided;
    let inside = leaf[at + 2] === 1;
    const flips = leaf[at + 3]!;
    at += 4;
    for (let flip = 0; flip < flips; flip += 1) if (leaf[at + flip]! <= y) inside = !inside;
    at += flips;
    const chains = leaf[at]!;
    at += 1;
    for (let chain = 0; chain < chains; chain += 1) {
      const end = at + leaf[at]! * 2 - 1;
      if (!skip && crossings(leaf, at + 1, end, x, y, east)) inside = !inside;
      at = end + 2;
    }
    if (inside && !skip) {
      entry += choice * leaf[stridesAt + group]!;
      decided = group;
    }
  }
  return leaf[areasAt + entry]!;
}

/** Whether an odd number of a chain's edges lies between the point and the cell's east side. */
function crossings(
  leaf: Int32Array,
  from: number,
  end: number,
  x: number,
  y: number,
  east: number,
): boolean {
  let odd = false;
  let ax = leaf[from]!;
  let ay = leaf[from + 1]!;
  for (let at = from + 2; at < end + 1; at += 2) {
    const bx = leaf[at]!;
    const by = leaf[at + 1]!;
    if (crossesRight(x, y, ax, ay, bx, by) && !isRightOf(east, y, ax, ay, bx, by)) odd = !odd;
    ax = bx;
    ay = by;
  }
  return odd;
}

/** A point, and the distance around it to search, in microdegrees of latitude. */
export interface Around {
  readonly x: number;
  readonly y: number;
  readonly reach: number;
  /** The length of a degree of longitude, as a share of a degree of latitude. */
  readonly shrink: number;
}

/** Whether an edge of the leaf that begins at `from` comes within the reach. */
export function hasEdge(leaf: Int32Array, from: number, { x, y, reach, shrink }: Around): boolean {
  const square = reach * reach;
  const areasAt = from + 4 + leaf[from + 3]! + 1;
  let at = areasAt + leaf[areasAt - 1]!;
  const polygons = leaf[at]!;
  at += 1;
  for (let polygon = 0; polygon < polygons; polygon += 1) {
    at += 4 + leaf[at + 3]!;
    const chains = leaf[at]!;
    at += 1;
    for (let chain = 0; chain < chains; chain += 1) {
      const end = at + leaf[at]! * 2;
      let ax = (leaf[at + 1]! - x) * shrink;
      let ay = leaf[at + 2]! - y;
      for (let vertex = at + 3; vertex < end; vertex += 2) {
        const bx = (leaf[vertex]! - x) * shrink;
        const by = leaf[vertex + 1]! - y;
        if (squareToSegment(ax, ay, bx, by) <= square) return true;
        ax = bx;
        ay = by;
      }
      at = end + 1;
    }
  }
  return false;
}

/** Square of the distance from the origin to a segment. */
function squareToSegment(ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
  return (ax + share * dx) ** 2 + (ay + share * dy) ** 2;
}

/** The tax areas that points of the cell at `from` may have, possibly repeated; −1 for none. */
export function areasWithin(leaf: Int32Array, from: number): Int32Array {
  const at = from + 4 + leaf[from + 3]! + 1;
  return leaf.subarray(at, at + leaf[at - 1]!);
}
