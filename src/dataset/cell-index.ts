/** Point → tax area over the tables written by ingest/boundary/cells.ts. */
import { crossesRight, isRightOf } from '../geo/crossing.js';
import { LAT_MAX, LNG_MAX, type Microdegrees } from '../geo/microdegrees.js';
import { RecentCache } from '../base/recent-cache.js';
import type { ByteTable } from './layout.js';

/**
 * The point index on disk. The world is cut into square tiles; a tile is a quadtree of cells.
 *
 * Tile: 32-bit integers, the root first.   v ≥ 0      whole cell in tax area v
 *                                           v = −1     whole cell in none
 *                                           −2 … −2^30 border cell: leaf number −2 − v
 *                                           below      four children from index −2^30 − v − 1
 *                                                      (south-west, south-east, then the north)
 * Leaf: 32-bit integers, what decides inside a border cell:
 *   x0 · y0 · X · groups · {stride} per group · areas · {area} · polygons · per polygon:
 *   group · choice · parity · flips · {row} · chains · per chain: vertices · {x · y}
 * `parity` tells whether the point (X, y0) at the cell's east side is inside; every flip row turns
 * it for rows from there on. A point is inside when the parity of its row, turned by every edge
 * between the point and X, is odd. Choices of a group are tested in order, the first one wins;
 * the area is entry Σ choice × stride of the table, −1 for none.
 */
export const TILE_BITS = 19;
export const TILE_SIZE = 1 << TILE_BITS;
/** Cells of this size are not cut further: 2^6 millionths of a degree are about 7 metres. */
export const CELL_BITS_MIN = 6;
export const NOWHERE = -1;
export const INTERNAL = -(2 ** 30);

/** Key of the tile that holds a point. */
function tileKey(x: number, y: number): number {
  return (((y + 90_000_000) >> TILE_BITS) << 10) | ((x + 180_000_000) >> TILE_BITS);
}

/** Column or row of the tile that a coordinate lies in; of one beyond the map, the outermost. */
function tileAt(coordinate: number, max: number): number {
  return Math.floor((Math.max(-max, Math.min(max, coordinate)) + max) / TILE_SIZE);
}

/** Decoded tile directories kept per thread, in cells (four bytes each) per generation. */
const TILE_CELLS_MAX = 2_000_000;

const EMPTY_TILE = Int32Array.of(NOWHERE);

/** A spot and how far around it is looked; `area` of the whole cells met so far. */
interface Near {
  readonly x: number;
  readonly y: number;
  readonly reach: number;
  /** The reach in degrees of longitude. */
  readonly spread: number;
  readonly shrink: number;
  area: number | null;
}

export class CellIndex {
  readonly #tiles: ByteTable<number>;
  readonly #leaves: ByteTable<number>;
  readonly #recent = new RecentCache<number, Int32Array>(TILE_CELLS_MAX);
  #leafBytes = new Uint8Array(4096);
  #leaf = new Int32Array(this.#leafBytes.buffer);
  /** Which leaf is loaded, and which tile was read last: a point's borders lie where it does. */
  #loaded = -1;
  #lastKey = -1;
  #lastTile: Int32Array = EMPTY_TILE;

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
    return value >= NOWHERE ? value : this.#decide(-2 - value, x, lat);
  }

  /**
   * Whether a line between tax areas may lie within `reach` microdegrees of latitude of a point; no
   * more cells are looked at than the square around it meets, and of a border cell its edges alone.
   */
  isNear(lat: Microdegrees, lng: Microdegrees, reach: number): boolean {
    const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
    const spread = reach / shrink;
    const near: Near = { x: lng, y: lat, reach, spread, shrink, area: null };
    const [westmost, southmost] = [tileAt(lng - spread, LNG_MAX), tileAt(lat - reach, LAT_MAX)];
    const [eastmost, northmost] = [tileAt(lng + spread, LNG_MAX), tileAt(lat + reach, LAT_MAX)];
    for (let tileX = westmost; tileX <= eastmost; tileX += 1) {
      const west = tileX * TILE_SIZE - LNG_MAX;
      for (let tileY = southmost; tileY <= northmost; tileY += 1) {
        const south = tileY * TILE_SIZE - LAT_MAX;
        const cells = this.#tile(tileKey(west, south));
        if (this.#hasLine(near, cells, 0, west, south, TILE_SIZE)) return true;
      }
    }
    return false;
  }

  /** The same within one cell of a tile's directory; cells of different areas have a line. */
  #hasLine(
    near: Near, cells: Int32Array, at: number, west: number, south: number, size: number,
  ): boolean {
    const { x, y, spread, reach } = near;
    if (x + spread < west || x - spread > west + size) return false;
    if (y + reach < south || y - reach > south + size) return false;
    const value = cells[at]!;
    if (value < INTERNAL) {
      const half = size >> 1;
      for (let child = 0; child < 4; child += 1) {
        const east = (child & 1) === 0 ? 0 : half;
        const north = (child & 2) === 0 ? 0 : half;
        const from = INTERNAL - value - 1 + child;
        if (this.#hasLine(near, cells, from, west + east, south + north, half)) return true;
      }
      return false;
    }
    if (value < NOWHERE) return hasEdge(this.#load(-2 - value), near);
    if (near.area !== null && near.area !== value) return true;
    near.area = value;
    return false;
  }

  #tile(key: number): Int32Array {
    if (key === this.#lastKey) return this.#lastTile;
    const cells = this.#recent.get(key) ?? this.#readTile(key);
    this.#lastKey = key;
    this.#lastTile = cells;
    return cells;
  }

  #readTile(key: number): Int32Array {
    const bytes = this.#tiles.get(key);
    // A copy: the table's bytes are a view that the next read overwrites.
    const cells = bytes === null ? EMPTY_TILE : new Int32Array(new Uint8Array(bytes).buffer);
    this.#recent.set(key, cells, cells.length);
    return cells;
  }

  #load(number: number): Int32Array {
    if (number === this.#loaded) return this.#leaf;
    const bytes = this.#leaves.get(number);
    if (bytes === null) throw new Error(`dataset has no border cell ${number}`);
    if (bytes.length > this.#leafBytes.length) {
      this.#leafBytes = new Uint8Array(bytes.length * 2 + 4 - ((bytes.length * 2) & 3));
      this.#leaf = new Int32Array(this.#leafBytes.buffer);
    }
    this.#leafBytes.set(bytes);
    this.#loaded = number;
    return this.#leaf;
  }

  #decide(number: number, x: number, y: number): number {
    const leaf = this.#load(number);
    const east = leaf[2]!;
    const groups = leaf[3]!;
    const areasAt = 4 + groups + 1;
    let at = areasAt + leaf[4 + groups]!;
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
        entry += choice * leaf[4 + group]!;
        decided = group;
      }
    }
    return leaf[areasAt + entry]!;
  }
}

/** Whether an odd number of a chain's edges lies between the point and the cell's east side. */
function crossings(
  leaf: Int32Array, from: number, end: number, x: number, y: number, east: number,
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

/** Whether any edge of a leaf comes within the reach. */
function hasEdge(leaf: Int32Array, { x, y, reach, shrink }: Near): boolean {
  const groups = leaf[3]!;
  let at = 4 + groups + 1 + leaf[4 + groups]!;
  const polygons = leaf[at]!;
  at += 1;
  for (let polygon = 0; polygon < polygons; polygon += 1) {
    at += 4 + leaf[at + 3]!;
    const chains = leaf[at]!;
    at += 1;
    for (let chain = 0; chain < chains; chain += 1) {
      const end = at + leaf[at]! * 2;
      for (let vertex = at + 1; vertex + 3 <= end; vertex += 2) {
        const ax = (leaf[vertex]! - x) * shrink;
        const ay = leaf[vertex + 1]! - y;
        const bx = (leaf[vertex + 2]! - x) * shrink;
        const by = leaf[vertex + 3]! - y;
        if (squareToSegment(ax, ay, bx, by) <= reach * reach) return true;
      }
      at = end + 1;
    }
  }
  return false;
}

/** Square of the distance of a segment from the origin. */
function squareToSegment(ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
  return (ax + share * dx) ** 2 + (ay + share * dy) ** 2;
}
