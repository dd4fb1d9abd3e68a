/** Encodes border cells; dataset/border-cell.ts describes the layout. */
import { TILE_SIZE } from '../../dataset/cell-index.js';
import { type BandedPolygon, forEachEdge, isRightOf } from '../../geo/polygon.js';

/** A square cell: south-west corner and side, in microdegrees. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** A polygon whose border crosses a cell, with the first vertices of its edges there. */
export interface CellPolygon {
  readonly shape: BandedPolygon;
  readonly edges: readonly number[];
}

/** Polygons of which at most one holds a spot; they are tested in order. */
export interface CellGroup {
  readonly candidates: readonly CellPolygon[];
}

/**
 * The row from which on an edge that crosses the line x = east lies on its other side: the smallest
 * row whose crossing differs from that of the row where the edge begins.
 */
function flipRow(east: number, ax: number, ay: number, bx: number, by: number): number {
  if (ay === by) return ay;
  const [lowX, lowY, highX, highY] = ay < by ? [ax, ay, bx, by] : [bx, by, ax, ay];
  const begins = lowX > east;
  let [low, high] = [lowY, highY];
  while (high - low > 1) {
    const row = low + Math.floor((high - low) / 2);
    if (isRightOf(east, row, lowX, lowY, highX, highY) === begins) low = row;
    else high = row;
  }
  return high;
}

/** The integers of the cell being encoded; the memory is reused for each cell. */
let room = new Int32Array(1 << 12);
let length = 0;

function put(value: number): void {
  if (length === room.length) {
    const more = new Int32Array(length * 2);
    more.set(room);
    room = more;
  }
  room[length] = value;
  length += 1;
}

function flipsOf(cell: Cell, polygon: CellPolygon): readonly number[] {
  const { coords } = polygon.shape.polygon;
  const east = cell.x + cell.size;
  const rows: number[] = [];
  for (const vertex of polygon.edges) {
    const ax = coords[vertex * 2]!;
    const bx = coords[vertex * 2 + 2]!;
    if (ax > east === bx > east) continue;
    const row = flipRow(east, ax, coords[vertex * 2 + 1]!, bx, coords[vertex * 2 + 3]!);
    if (row > cell.y && row < cell.y + cell.size) rows.push(row);
  }
  rows.sort((one, other) => one - other);
  // Two flips on the same row cancel each other.
  const kept: number[] = [];
  for (const row of rows) {
    if (kept.at(-1) === row) kept.pop();
    else kept.push(row);
  }
  return kept;
}

function putChains(polygon: CellPolygon): void {
  const { coords } = polygon.shape.polygon;
  const countAt = length;
  put(0);
  let lengthAt = -1;
  let last = -2;
  for (const vertex of polygon.edges) {
    if (vertex !== last + 1) {
      room[countAt]! += 1;
      lengthAt = length;
      put(1);
      put(coords[vertex * 2]!);
      put(coords[vertex * 2 + 1]!);
    }
    room[lengthAt]! += 1;
    put(coords[vertex * 2 + 2]!);
    put(coords[vertex * 2 + 3]!);
    last = vertex;
  }
}

/** Integers in a block of memory that the bytes of several cells share. */
const PIECE_INTS = 1 << 18;

let piece = new Int32Array(0);
let taken = 0;

/**
 * The bytes of the encoded cell, in a shared block, because allocating memory for each cell costs
 * more than filling it.
 */
function takeBytes(): Uint8Array {
  if (taken + length > piece.length) {
    piece = new Int32Array(Math.max(PIECE_INTS, length));
    taken = 0;
  }
  const from = taken;
  piece.set(room.subarray(0, length), from);
  taken += length;
  return new Uint8Array(piece.buffer, from * 4, length * 4);
}

/** Encodes a border cell; `areaOf` returns the area for one choice (0 for none) in each group. */
export function encodeLeaf(
  cell: Cell,
  groups: readonly CellGroup[],
  areaOf: (choices: readonly number[]) => number,
): Uint8Array {
  const east = cell.x + cell.size;
  length = 0;
  put(cell.x);
  put(cell.y);
  put(east);
  put(groups.length);
  let entries = 1;
  for (const group of groups) {
    put(entries);
    entries *= group.candidates.length + 1;
  }
  put(entries);
  const choices = groups.map(() => 0);
  for (let entry = 0; entry < entries; entry += 1) {
    let rest = entry;
    for (let index = 0; index < groups.length; index += 1) {
      const choice = rest % (groups[index]!.candidates.length + 1);
      rest = (rest - choice) / (groups[index]!.candidates.length + 1);
      choices[index] = choice;
    }
    put(areaOf(choices));
  }
  put(groups.reduce((sum, group) => sum + group.candidates.length, 0));
  groups.forEach((group, index) =>
    group.candidates.forEach((polygon, choice) => {
      const flips = flipsOf(cell, polygon);
      const parity = polygon.shape.contains(east, cell.y) ? 1 : 0;
      put(index);
      put(choice + 1);
      put(parity);
      put(flips.length);
      for (const row of flips) put(row);
      putChains(polygon);
    }),
  );
  return takeBytes();
}

/** Which edges of a polygon may touch a cell or a tile. */

/** Whether an edge may touch a closed square; never false for one that does. */
function touches(coords: Int32Array, vertex: number, cell: Cell): boolean {
  const ax = coords[vertex * 2]!;
  const ay = coords[vertex * 2 + 1]!;
  const bx = coords[vertex * 2 + 2]!;
  const by = coords[vertex * 2 + 3]!;
  const east = cell.x + cell.size;
  const north = cell.y + cell.size;
  if ((ax < cell.x && bx < cell.x) || (ax > east && bx > east)) return false;
  if ((ay < cell.y && by < cell.y) || (ay > north && by > north)) return false;
  // If all corners are strictly on one side of the edge's line, the edge does not touch the square.
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
  return (
    !(southWest > 0 && southEast > 0 && northWest > 0 && northEast > 0) &&
    !(southWest < 0 && southEast < 0 && northWest < 0 && northEast < 0)
  );
}

/** The edges of a polygon that may touch a cell, by their first vertices. */
export function touching(
  { polygon: { coords } }: BandedPolygon,
  vertices: readonly number[],
  cell: Cell,
): readonly number[] {
  const out: number[] = [];
  for (const vertex of vertices) if (touches(coords, vertex, cell)) out.push(vertex);
  return out;
}

/**
 * The edges that touch a cell, by the quarter that they touch: south-west, south-east, north-west,
 * north-east. Most lie in one quarter, which follows from their ends.
 */
export function quartered(
  { polygon: { coords } }: BandedPolygon,
  vertices: readonly number[],
  cell: Cell,
): readonly [number[], number[], number[], number[]] {
  const size = cell.size / 2;
  const [middleX, middleY] = [cell.x + size, cell.y + size];
  const out: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const vertex of vertices) {
    const ax = coords[vertex * 2]!;
    const ay = coords[vertex * 2 + 1]!;
    const bx = coords[vertex * 2 + 2]!;
    const by = coords[vertex * 2 + 3]!;
    const isWest = ax < middleX && bx < middleX;
    const isEast = ax > middleX && bx > middleX;
    const isSouth = ay < middleY && by < middleY;
    const isNorth = ay > middleY && by > middleY;
    if ((isWest || isEast) && (isSouth || isNorth)) {
      out[(isEast ? 1 : 0) + (isNorth ? 2 : 0)]!.push(vertex);
      continue;
    }
    for (let quarter = 0; quarter < 4; quarter += 1) {
      if ((quarter & 1 ? isWest : isEast) || (quarter & 2 ? isSouth : isNorth)) continue;
      const square = { x: cell.x + (quarter & 1) * size, y: cell.y + (quarter >> 1) * size, size };
      if (touches(coords, vertex, square)) out[quarter]!.push(vertex);
    }
  }
  return out;
}

/** Edges of every polygon by tile, and the polygons that may cover a whole tile. */
export function bucket(
  shapes: readonly { readonly banded: BandedPolygon }[],
): Map<number, Map<number, number[]>> {
  const tiles = new Map<number, Map<number, number[]>>();
  const edgesOf = (tile: number, shape: number): number[] => {
    let inTile = tiles.get(tile);
    if (inTile === undefined) tiles.set(tile, (inTile = new Map()));
    let edges = inTile.get(shape);
    if (edges === undefined) inTile.set(shape, (edges = []));
    return edges;
  };
  const column = (x: number): number => Math.floor((x + 180_000_000) / TILE_SIZE);
  const row = (y: number): number => Math.floor((y + 90_000_000) / TILE_SIZE);
  shapes.forEach(({ banded: { polygon } }, shape) => {
    const { coords } = polygon;
    for (let ty = row(polygon.minY); ty <= row(polygon.maxY); ty += 1) {
      for (let tx = column(polygon.minX); tx <= column(polygon.maxX); tx += 1) {
        edgesOf((ty << 10) | tx, shape);
      }
    }
    forEachEdge(polygon, (vertex) => {
      const ax = coords[vertex * 2]!;
      const ay = coords[vertex * 2 + 1]!;
      const bx = coords[vertex * 2 + 2]!;
      const by = coords[vertex * 2 + 3]!;
      const lastRow = row(Math.max(ay, by));
      const lastColumn = column(Math.max(ax, bx));
      // An edge on the border between two tiles belongs to both.
      for (let ty = row(Math.min(ay, by) - 1); ty <= lastRow; ty += 1) {
        for (let tx = column(Math.min(ax, bx) - 1); tx <= lastColumn; tx += 1) {
          if (tx >= 0 && ty >= 0) edgesOf((ty << 10) | tx, shape).push(vertex);
        }
      }
    });
  });
  return tiles;
}
