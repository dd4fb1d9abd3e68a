/** Point → tax area over the tables written by ingest/boundary/cells.ts. */
import {
  type Direction,
  directions,
  LAT_MAX,
  LNG_MAX,
  METRES_PER_MICRO,
  type Microdegrees,
} from '../geo/microdegrees.js';
import { NumberCache } from '../base/tables.js';
import { areasWithin, areaWithin, hasEdge, type Around } from './border-cell.js';
import { KeptLeaves } from './kept-leaves.js';
import type { ByteTable } from './layout.js';

/**
 * The point index on disk. The world is cut into square tiles; a tile is a quadtree of cells.
 *
 * Tile: 32-bit integers, the root first.   v ≥ 0      whole cell in tax area v
 *                                           v = −1     whole cell in none
 *                                           −2 … −2^30 border cell: leaf number −2 − v
 *                                           below      four children from index −2^30 − v − 1
 *                                                      (south-west, south-east, then the north)
 */
export const TILE_BITS = 19;
export const TILE_SIZE = 1 << TILE_BITS;
/** Cells of this size are not cut further: 2^6 millionths of a degree are about 7 metres. */
export const CELL_BITS_MIN = 6;
export const NOWHERE = -1;
export const INTERNAL = -(2 ** 30);

/** A line between tax areas that is farther away is not told of: little is drawn much finer. */
export const BORDER_METRES_MAX = 50;
/** Those metres in microdegrees of latitude; streets with no line as near have `FLAG_APART`. */
export const BORDER_REACH = BORDER_METRES_MAX / METRES_PER_MICRO;

/** Key of the tile that holds a point. */
function tileKey(x: number, y: number): number {
  return (((y + 90_000_000) >> TILE_BITS) << 10) | ((x + 180_000_000) >> TILE_BITS);
}

/** The key by which a tile is kept: those of 128 by 128 differ in what a NumberCache looks at. */
function keptKey(key: number): number {
  return ((key >> 10) << 7) + (key & 127) + ((key & 896) << 9);
}

/** Column or row of the tile that a coordinate lies in; of one beyond the map, the outermost. */
function tileAt(coordinate: number, max: number): number {
  return Math.floor((Math.max(-max, Math.min(max, coordinate)) + max) / TILE_SIZE);
}

/** Decoded tile directories kept per thread, in cells (four bytes each) per generation. */
const TILE_CELLS_MAX = 2_000_000;

const EMPTY_TILE = Int32Array.of(NOWHERE);

/** Judges the cells around a spot; true ends the look at them. */
export interface CellJudge {
  /** A whole cell in one tax area, or in none (−1). */
  whole(area: number): boolean;
  /** A border cell, by the number of its leaf. */
  border(leaf: number): boolean;
}

/** Whether a line comes within reach of a spot: cells of two areas have one between them. */
class LineJudge implements CellJudge, Around {
  x = 0;
  y = 0;
  reach = 0.5;
  shrink = 0.5;
  #area: number | null = null;
  readonly #load: (number: number) => KeptLeaves;

  constructor(load: (number: number) => KeptLeaves) {
    this.#load = load;
  }

  at(x: number, y: number, reach: number, shrink: number): this {
    this.x = x;
    this.y = y;
    this.reach = reach;
    this.shrink = shrink;
    this.#area = null;
    return this;
  }

  whole(area: number): boolean {
    if (this.#area !== null && this.#area !== area) return true;
    this.#area = area;
    return false;
  }

  border(leaf: number): boolean {
    const { cells, from } = this.#load(leaf);
    return hasEdge(cells, from, this);
  }
}

/** A square around a spot, in whole microdegrees. */
interface Square {
  west: number;
  south: number;
  east: number;
  north: number;
}

const RAYS = directions(16);
/** Spots on a ray that are looked at before it is halved. */
const RINGS = [0.5, 1];
/** Halvings of 25 metres until what is left is under half of one. */
const HALVINGS = 6;

function shrinkAt(lat: Microdegrees): number {
  return Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
}

function cellsOf({ length }: Int32Array): number {
  return length;
}

export class CellIndex {
  readonly #tiles: ByteTable<number>;
  readonly #leaves: ByteTable<number>;
  readonly #recent = new NumberCache(TILE_CELLS_MAX, cellsOf);
  readonly #kept = new KeptLeaves();
  /** Which leaf is loaded, and which tile was read last: a point's borders lie where it does. */
  #loaded = -1;
  #lastKey = -1;
  #lastTile: Int32Array = EMPTY_TILE;
  readonly #square: Square = { west: 0, south: 0, east: 0, north: 0 };
  readonly #lines = new LineJudge((number) => this.#load(number));

  /** Leaves are read by index up to their `length`: the memory behind them may be larger. */
  constructor(tiles: ByteTable<number>, leaves: ByteTable<number>) {
    this.#tiles = tiles;
    this.#leaves = leaves;
  }

  /** Tax area that holds the point, −1 when none does. */
  locate(lat: Microdegrees, lng: Microdegrees): number {
    if (!(Math.abs(lat) <= LAT_MAX && Math.abs(lng) <= LNG_MAX)) return NOWHERE;
    // The antimeridian is one line: its east side is where longitudes begin.
    const x = lng === LNG_MAX ? -LNG_MAX : lng;
    const cells = this.#tile(tileKey(x, lat));
    let value = cells[0]!;
    const inX = (x + 180_000_000) & (TILE_SIZE - 1);
    const inY = (lat + 90_000_000) & (TILE_SIZE - 1);
    for (let bit = TILE_BITS - 1; value < INTERNAL; bit -= 1) {
      const child = (((inY >> bit) & 1) << 1) | ((inX >> bit) & 1);
      value = cells[INTERNAL - value - 1 + child]!;
    }
    if (value >= NOWHERE) return value;
    const { cells: leaf, from } = this.#load(-2 - value);
    return areaWithin(leaf, from, x, lat);
  }

  /** The area at a point that is so many microdegrees of latitude away from a spot. */
  locateAway(lat: Microdegrees, lng: Microdegrees, away: number, { sin, cos }: Direction): number {
    const east = (away * cos) / shrinkAt(lat);
    return this.locate(Math.round(lat + away * sin), Math.round(lng + east));
  }

  /**
   * The nearest area within `reach` microdegrees of latitude of a point that `isOther` tells, and
   * the share of it that its line is away; null for none. Good to a fiftieth by direction.
   */
  nearest(
    lat: Microdegrees,
    lng: Microdegrees,
    reach: number,
    isOther: (area: number) => boolean,
  ): { readonly area: number; readonly share: number } | null {
    let nearest = Infinity;
    let beyond = NOWHERE;
    for (const ray of RAYS) {
      const at = (share: number): number => this.locateAway(lat, lng, reach * share, ray);
      let inside = 0;
      for (const ring of RINGS) {
        let other = at(ring);
        if (!isOther(other)) {
          inside = ring;
          continue;
        }
        let outside = ring;
        for (let halving = 0; halving < HALVINGS; halving += 1) {
          const middle = (inside + outside) / 2;
          const found = at(middle);
          if (isOther(found)) [outside, other] = [middle, found];
          else inside = middle;
        }
        const line = (inside + outside) / 2;
        if (line < nearest) [nearest, beyond] = [line, other];
        break;
      }
    }
    return beyond < 0 ? null : { area: beyond, share: nearest };
  }

  /**
   * Whether a line between tax areas may lie within `reach` microdegrees of latitude of a point; no
   * more cells are looked at than the square around it meets, and of a border cell its edges alone.
   */
  isNear(lat: Microdegrees, lng: Microdegrees, reach: number): boolean {
    return this.anyNear(lat, lng, reach, this.#lines.at(lng, lat, reach, shrinkAt(lat)));
  }

  /** Shows a judge the cells that the square meets until it says yes; false if it never does. */
  anyNear(lat: Microdegrees, lng: Microdegrees, reach: number, judge: CellJudge): boolean {
    const spread = reach / shrinkAt(lat);
    const square = this.#square;
    square.west = Math.ceil(lng - spread);
    square.south = Math.ceil(lat - reach);
    square.east = Math.floor(lng + spread);
    square.north = Math.floor(lat + reach);
    const southmost = tileAt(lat - reach, LAT_MAX);
    const eastmost = tileAt(lng + spread, LNG_MAX);
    const northmost = tileAt(lat + reach, LAT_MAX);
    for (let tileX = tileAt(lng - spread, LNG_MAX); tileX <= eastmost; tileX += 1) {
      const west = tileX * TILE_SIZE - LNG_MAX;
      for (let tileY = southmost; tileY <= northmost; tileY += 1) {
        const south = tileY * TILE_SIZE - LAT_MAX;
        const cells = this.#tile(tileKey(west, south));
        if (this.#anyCell(judge, cells, 0, west, south, TILE_SIZE)) return true;
      }
    }
    return false;
  }

  /** Shows a judge one cell of a tile's directory, by its south-west corner, until it says yes. */
  #anyCell(
    judge: CellJudge,
    cells: Int32Array,
    at: number,
    cornerX: number,
    cornerY: number,
    size: number,
  ): boolean {
    const square = this.#square;
    let [west, south, half] = [cornerX, cornerY, size];
    let value = cells[at]!;
    while (value < INTERNAL) {
      half >>= 1;
      const x = west + half;
      const y = south + half;
      const first = INTERNAL - value - 1;
      const toWest = square.west <= x;
      const toEast = square.east >= x;
      const toSouth = square.south <= y;
      const toNorth = square.north >= y;
      if ((toWest && toEast) || (toSouth && toNorth)) {
        return (
          (toWest && toSouth && this.#anyCell(judge, cells, first, west, south, half)) ||
          (toEast && toSouth && this.#anyCell(judge, cells, first + 1, x, south, half)) ||
          (toWest && toNorth && this.#anyCell(judge, cells, first + 2, west, y, half)) ||
          (toEast && toNorth && this.#anyCell(judge, cells, first + 3, x, y, half))
        );
      }
      // Most squares lie in one quarter of one quarter, and so on: no other one is asked.
      if (toEast) west = x;
      if (toNorth) south = y;
      value = cells[first + (toEast ? 1 : 0) + (toNorth ? 2 : 0)]!;
    }
    return value < NOWHERE ? judge.border(-2 - value) : judge.whole(value);
  }

  /** The tax areas that a border cell may have, once or more often, −1 for none; for a moment. */
  areasOfBorder(leaf: number): Int32Array {
    const { cells, from } = this.#load(leaf);
    return areasWithin(cells, from);
  }

  #tile(key: number): Int32Array {
    if (key === this.#lastKey) return this.#lastTile;
    const cells = this.#recent.get(keptKey(key)) ?? this.#readTile(key);
    this.#lastKey = key;
    this.#lastTile = cells;
    return cells;
  }

  #readTile(key: number): Int32Array {
    const bytes = this.#tiles.get(key);
    // A copy: the table's bytes are a view that the next read overwrites.
    const cells = bytes === null ? EMPTY_TILE : new Int32Array(new Uint8Array(bytes).buffer);
    this.#recent.set(keptKey(key), cells);
    return cells;
  }

  /** The leaf of a number, until the next one is loaded. */
  #load(number: number): KeptLeaves {
    const kept = this.#kept;
    if (number === this.#loaded) return kept;
    if (!kept.find(number)) {
      const bytes = this.#leaves.get(number);
      if (bytes === null) throw new Error(`dataset has no border cell ${number}`);
      kept.add(number, bytes);
    }
    this.#loaded = number;
    return kept;
  }
}
