/** Finds the tax area of a point, in the tables that ingest/boundary/cells.ts writes. */
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
/** Cells of this size are not divided further: 2^6 microdegrees are about 7 metres. */
export const CELL_BITS_MIN = 6;
export const NOWHERE = -1;
export const INTERNAL = -(2 ** 30);

/** Distance up to which answers mention a line between tax areas. Few boundaries are more exact. */
export const BORDER_METRES_MAX = 50;
/** That distance in microdegrees of latitude; streets without a line so near have `FLAG_APART`. */
export const BORDER_REACH = BORDER_METRES_MAX / METRES_PER_MICRO;

/** Key of the tile that holds a point. */
function tileKey(x: number, y: number): number {
  return (((y + 90_000_000) >> TILE_BITS) << 10) | ((x + 180_000_000) >> TILE_BITS);
}

/** Key of a tile in the cache. It spreads tiles of a region of 128 by 128 over its slots. */
function keptKey(key: number): number {
  return ((key >> 10) << 7) + (key & 127) + ((key & 896) << 9);
}

/** Column or row of the tile of a coordinate; the outermost one for a coordinate off the map. */
function tileAt(coordinate: number, max: number): number {
  return Math.floor((Math.max(-max, Math.min(max, coordinate)) + max) / TILE_SIZE);
}

/** Decoded tiles that a thread keeps, in cells of four bytes, per generation of the cache. */
const TILE_CELLS_MAX = 2_000_000;

const EMPTY_TILE = Int32Array.of(NOWHERE);

/** Is shown the cells around a point; returning true ends that. */
export interface CellJudge {
  /** A cell that lies wholly in one tax area, or in none (−1). */
  whole(area: number): boolean;
  /** A cell that a border crosses, by the number of its leaf. */
  border(leaf: number): boolean;
}

/** Tells whether a line is near a point: there is one between cells of different areas. */
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
/** Points on a ray, as shares of the reach, that are tried before the bisection. */
const RINGS = [0.5, 1];
/** Bisections of 25 metres, after which less than half a metre is left. */
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
  /** The leaf loaded last, and the tile read last: most points near a border share both. */
  #loaded = -1;
  #lastKey = -1;
  #lastTile: Int32Array = EMPTY_TILE;
  readonly #square: Square = { west: 0, south: 0, east: 0, north: 0 };
  readonly #lines = new LineJudge((number) => this.#load(number));

  /** `leaves` may return views of larger memory: they are only read by index up to `length`. */
  constructor(tiles: ByteTable<number>, leaves: ByteTable<number>) {
    this.#tiles = tiles;
    this.#leaves = leaves;
  }

  /** Tax area that holds the point, −1 when none does. */
  locate(lat: Microdegrees, lng: Microdegrees): number {
    if (!(Math.abs(lat) <= LAT_MAX && Math.abs(lng) <= LNG_MAX)) return NOWHERE;
    // Both edges of the map are the antimeridian; its points belong to the lowest longitude.
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

  /** The area of a point at a distance from another, in microdegrees of latitude. */
  locateAway(lat: Microdegrees, lng: Microdegrees, away: number, { sin, cos }: Direction): number {
    const east = (away * cos) / shrinkAt(lat);
    return this.locate(Math.round(lat + away * sin), Math.round(lng + east));
  }

  /**
   * The nearest area that `isOther` accepts within `reach` microdegrees of latitude of a point, and
   * how far its border is as a share of that; null for none. Exact to a fiftieth by 16 directions.
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
   * Whether a line between tax areas may lie within `reach` microdegrees of latitude of a point.
   * Reads only the cells that meet the square around it, and of a border cell only its edges.
   */
  isNear(lat: Microdegrees, lng: Microdegrees, reach: number): boolean {
    return this.anyNear(lat, lng, reach, this.#lines.at(lng, lat, reach, shrinkAt(lat)));
  }

  /** Shows `judge` the cells that meet the square until it returns true; false if it never does. */
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

  /** Shows `judge` the cells below one cell of a tile, given by its south-west corner. */
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
      // The square lies in a single quarter, so only that is followed; most squares do.
      if (toEast) west = x;
      if (toNorth) south = y;
      value = cells[first + (toEast ? 1 : 0) + (toNorth ? 2 : 0)]!;
    }
    return value < NOWHERE ? judge.border(-2 - value) : judge.whole(value);
  }

  /** The tax areas of a border cell, possibly repeated, −1 for none; valid until the next call. */
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
    // The table returns a view that the next read overwrites, so it is copied.
    const cells = bytes === null ? EMPTY_TILE : new Int32Array(new Uint8Array(bytes).buffer);
    this.#recent.set(keptKey(key), cells);
    return cells;
  }

  /** Loads a leaf; the result is valid until the next one is loaded. */
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
