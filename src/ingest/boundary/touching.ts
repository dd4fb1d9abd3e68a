/** Which edges of a polygon can touch a cell. */
import type { BandedPolygon } from '../../geo/polygon.js';
import type { Cell } from './leaf.js';

/** Whether an edge can touch a closed square; never false for one that does. */
function touches(coords: Int32Array, vertex: number, cell: Cell): boolean {
  const ax = coords[vertex * 2]!;
  const ay = coords[vertex * 2 + 1]!;
  const bx = coords[vertex * 2 + 2]!;
  const by = coords[vertex * 2 + 3]!;
  const east = cell.x + cell.size;
  const north = cell.y + cell.size;
  if ((ax < cell.x && bx < cell.x) || (ax > east && bx > east)) return false;
  if ((ay < cell.y && by < cell.y) || (ay > north && by > north)) return false;
  // All corners strictly on one side of the edge's line: no contact.
  const dx = bx - ax;
  const dy = by - ay;
  const south = dx * (cell.y - ay);
  const up = dx * (north - ay);
  const west = dy * (cell.x - ax);
  const right = dy * (east - ax);
  const southWest = south - west;
  const southEast = south - right;
  const northWest = up - west;
  const northEast = up - right;
  return !(southWest > 0 && southEast > 0 && northWest > 0 && northEast > 0) &&
    !(southWest < 0 && southEast < 0 && northWest < 0 && northEast < 0);
}

/** The edges of a polygon, by their first vertices, that can touch a cell. */
export function touching(
  { polygon: { coords } }: BandedPolygon, vertices: readonly number[], cell: Cell,
): readonly number[] {
  const out: number[] = [];
  for (const vertex of vertices) if (touches(coords, vertex, cell)) out.push(vertex);
  return out;
}
