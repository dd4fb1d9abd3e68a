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
export function tileKey(x: number, y: number): number {
  return (((y + 90_000_000) >> TILE_BITS) << 10) | ((x + 180_000_000) >> TILE_BITS);
}
