/** Lines with fewer vertices, never further from the ones they stand for than a tolerance. */

/** Metres in a microdegree of latitude. */
const METRES = 0.111_195;

/** Positions in microdegrees: x0, y0, x1, y1, … */
export type Line = Int32Array;

/** Metres in a microdegree of longitude where a line is nearest to the equator. */
function eastMetres(line: Line): number {
  let least = Infinity;
  for (let at = 1; at < line.length; at += 2) least = Math.min(least, Math.abs(line[at]!));
  return METRES * Math.cos((least / 1e6) * (Math.PI / 180));
}

/** Distance in metres of a position from the piece of line from a to b. */
function distance(
  x: number,
  y: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
  east: number,
): number {
  const [dx, dy] = [(bx - ax) * east, (by - ay) * METRES];
  const [px, py] = [(x - ax) * east, (y - ay) * METRES];
  const square = dx * dx + dy * dy;
  const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square));
  return Math.hypot(px - along * dx, py - along * dy);
}

/** The vertex between two others that is farthest from the line between those. */
function farthest(line: Line, from: number, to: number, east: number): readonly [number, number] {
  const [ax, ay] = [line[from * 2]!, line[from * 2 + 1]!];
  const [bx, by] = [line[to * 2]!, line[to * 2 + 1]!];
  let [vertex, most] = [-1, -1];
  for (let at = from + 1; at < to; at += 1) {
    const metres = distance(line[at * 2]!, line[at * 2 + 1]!, ax, ay, bx, by, east);
    if (metres > most) [vertex, most] = [at, metres];
  }
  return [vertex, most];
}

/**
 * Numbers of the vertices that Douglas and Peucker's rule keeps (1973): the ends, and of every
 * piece the farthest vertex if it is farther than the tolerance in metres.
 */
export function keptVertices(line: Line, tolerance: number): readonly number[] {
  const last = line.length / 2 - 1;
  const east = eastMetres(line);
  const kept = new Set([0, last]);
  const pieces: [number, number][] = [[0, last]];
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    const [from, to] = piece;
    const [vertex, metres] = farthest(line, from, to, east);
    if (metres <= tolerance) continue;
    kept.add(vertex);
    pieces.push([from, vertex], [vertex, to]);
  }
  return [...kept].sort((one, other) => one - other);
}

/** The kept vertices on a grid of `step` microdegrees, in steps. */
export function onGrid(line: Line, kept: readonly number[], step: number): Line {
  return Int32Array.from(
    kept.flatMap((vertex) => [
      Math.round(line[vertex * 2]! / step),
      Math.round(line[vertex * 2 + 1]! / step),
    ]),
  );
}

/** Greatest distance in metres of a vertex from the piece of the grid's line that replaced it. */
export function greatestDistance(
  line: Line,
  kept: readonly number[],
  grid: Line,
  step: number,
): number {
  const east = eastMetres(line);
  let most = 0;
  for (let piece = 0; piece + 1 < kept.length; piece += 1) {
    const [ax, ay, bx, by] = [
      grid[piece * 2]! * step,
      grid[piece * 2 + 1]! * step,
      grid[piece * 2 + 2]! * step,
      grid[piece * 2 + 3]! * step,
    ];
    for (let at = kept[piece]!; at <= kept[piece + 1]!; at += 1) {
      most = Math.max(most, distance(line[at * 2]!, line[at * 2 + 1]!, ax, ay, bx, by, east));
    }
  }
  return most;
}
