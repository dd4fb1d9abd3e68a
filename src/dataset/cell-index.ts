/** Point → tax area over the tables written by ingest/boundary/cells.ts. */
import { crossesRight, isRightOf } from '../geo/crossing.js';
import { LAT_MAX, LNG_MAX, type Microdegrees } from '../geo/microdegrees.js';
import { INTERNAL, NOWHERE, TILE_BITS, TILE_SIZE, tileKey } from './cell-format.js';
import { RecentCache } from '../base/recent-cache.js';
import type { ByteTable } from './tables.js';

/** Decoded tile directories kept per thread, in cells (four bytes each) per generation. */
const TILE_CELLS_MAX = 2_000_000;

const EMPTY_TILE = Int32Array.of(NOWHERE);

export class CellIndex {
  readonly #tiles: ByteTable<number>;
  readonly #leaves: ByteTable<number>;
  readonly #recent = new RecentCache<number, Int32Array>(TILE_CELLS_MAX);
  #leafBytes = new Uint8Array(4096);
  #leaf = new Int32Array(this.#leafBytes.buffer);

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
   * How far, in microdegrees of latitude and of longitude, everything around a point surely lies in
   * its tax area; 0 where a border is near.
   */
  room(lat: Microdegrees, lng: Microdegrees): number {
    if (!(Math.abs(lat) <= LAT_MAX && Math.abs(lng) < LNG_MAX)) return 0;
    const cells = this.#tile(tileKey(lng, lat));
    const inX = (lng + 180_000_000) & (TILE_SIZE - 1);
    const inY = (lat + 90_000_000) & (TILE_SIZE - 1);
    let value = cells[0]!;
    let size = TILE_SIZE;
    while (value < INTERNAL) {
      size >>= 1;
      const child = ((inY & size) === 0 ? 0 : 2) + ((inX & size) === 0 ? 0 : 1);
      value = cells[INTERNAL - value - 1 + child]!;
    }
    if (value < 0) return 0;
    const x = inX & (size - 1);
    const y = inY & (size - 1);
    return Math.min(x, y, size - 1 - x, size - 1 - y);
  }

  #tile(key: number): Int32Array {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const bytes = this.#tiles.get(key);
    // A copy: the table's bytes are a view that the next read overwrites.
    const cells = bytes === null ? EMPTY_TILE : new Int32Array(new Uint8Array(bytes).buffer);
    this.#recent.set(key, cells, cells.length);
    return cells;
  }

  #load(number: number): Int32Array {
    const bytes = this.#leaves.get(number);
    if (bytes === null) throw new Error(`dataset has no border cell ${number}`);
    if (bytes.length > this.#leafBytes.length) {
      this.#leafBytes = new Uint8Array(bytes.length * 2 + 4 - ((bytes.length * 2) & 3));
      this.#leaf = new Int32Array(this.#leafBytes.buffer);
    }
    this.#leafBytes.set(bytes);
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
