/** Seeded invented geography: wiggly tessellations, overlapping stars, holes, parts, the poles. */
import type { PlainPolygon } from './brute-force.js';

type Random = () => number;
type Vertex = readonly [number, number];

/** A whole number from low to high. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** A line between two corners, straight or with some bends. */
function borderOf(
  random: Random,
  box: Box,
  wiggle: number,
  from: Vertex,
  to: Vertex,
): readonly Vertex[] {
  const steps = random() < 0.2 ? 1 : between(random, 2, 9);
  return Array.from(
    { length: steps },
    (_, step): Vertex =>
      step === 0
        ? from
        : [
            clamp(
              Math.round(from[0] + ((to[0] - from[0]) * step) / steps) +
                between(random, -wiggle, wiggle),
              box.west,
              box.east,
            ),
            clamp(
              Math.round(from[1] + ((to[1] - from[1]) * step) / steps) +
                between(random, -wiggle, wiggle),
              box.south,
              box.north,
            ),
          ],
  );
}

/** Neighbours that share wiggly borders vertex by vertex; some borders are straight. */
export function tessellation(
  random: Random,
  prefix: string,
  box: Box,
  columns: number,
  rows: number,
): readonly PlainPolygon[] {
  const width = Math.floor((box.east - box.west) / columns);
  const height = Math.floor((box.north - box.south) / rows);
  const jitter = Math.floor(Math.min(width, height) / 5);
  const node = (column: number, row: number): Vertex => [
    column === columns
      ? box.east
      : box.west + column * width + (column > 0 ? between(random, -jitter, jitter) : 0),
    row === rows
      ? box.north
      : box.south + row * height + (row > 0 ? between(random, -jitter, jitter) : 0),
  ];
  const nodes = Array.from({ length: rows + 1 }, (_, row) =>
    Array.from({ length: columns + 1 }, (__, column) => node(column, row)),
  );
  const border = (from: Vertex, to: Vertex): readonly Vertex[] =>
    borderOf(random, box, Math.floor(jitter / 6), from, to);
  const flat = nodes.map((line, row) =>
    line
      .slice(0, -1)
      .map((from, column) =>
        row === 0 || row === rows ? [from] : border(from, line[column + 1]!),
      ),
  );
  const upright = nodes
    .slice(0, -1)
    .map((line, row) =>
      line.map((from, column) =>
        column === 0 || column === columns ? [from] : border(from, nodes[row + 1]![column]!),
      ),
    );
  return Array.from({ length: rows * columns }, (_, index): PlainPolygon => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const back = (line: readonly Vertex[], end: Vertex): readonly Vertex[] => [
      end,
      ...line.slice(1).reverse(),
    ];
    return {
      key: `${prefix}${String(index).padStart(3, '0')}`,
      rings: [
        [
          ...flat[row]![column]!,
          ...upright[row]![column + 1]!,
          ...back(flat[row + 1]![column]!, nodes[row + 1]![column + 1]!),
          ...back(upright[row]![column]!, nodes[row + 1]![column]!),
        ],
      ],
    };
  });
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

function star(random: Random, x: number, y: number, radius: number): readonly Vertex[] {
  const corners = between(random, 3, 14);
  return Array.from({ length: corners }, (_, corner): Vertex => {
    const reach = radius * (0.3 + 0.7 * random());
    const angle = (2 * Math.PI * corner) / corners;
    return [
      clamp(Math.round(x + reach * Math.cos(angle)), -180_000_000, 180_000_000),
      clamp(Math.round(y + reach * Math.sin(angle)), -90_000_000, 90_000_000),
    ];
  });
}

/** Stars with up to three parts and sometimes a hole; they may overlap one another. */
export function stars(
  random: Random,
  prefix: string,
  box: Box,
  count: number,
  radius: number,
): readonly PlainPolygon[] {
  return Array.from(
    { length: count },
    (_, index): PlainPolygon => ({
      key: `${prefix}${String(index).padStart(3, '0')}`,
      rings: Array.from({ length: between(random, 1, 3) }).flatMap(() => {
        const x = between(random, box.west, box.east);
        const y = between(random, box.south, box.north);
        const outer = star(random, x, y, radius);
        return random() < 0.4 ? [outer, star(random, x, y, radius / 4)] : [outer];
      }),
    }),
  );
}

/** Points everywhere in the box, on vertices and edges, and within a few units of them. */
export function* points(
  random: Random,
  polygons: readonly PlainPolygon[],
  box: Box,
  count: number,
): Generator<Vertex> {
  for (let index = 0; index < count; index += 1) {
    if (index % 3 === 0) {
      yield [between(random, box.west, box.east), between(random, box.south, box.north)];
      continue;
    }
    const polygon = polygons[between(random, 0, polygons.length - 1)]!;
    const ring = polygon.rings[between(random, 0, polygon.rings.length - 1)]!;
    const at = between(random, 0, ring.length - 1);
    const [ax, ay] = ring[at]!;
    const [bx, by] = ring[(at + 1) % ring.length]!;
    const share = index % 3 === 1 ? 0 : random();
    const near = between(random, 0, 3);
    yield [
      clamp(Math.round(ax + (bx - ax) * share) + between(random, -near, near), -180e6, 180e6),
      clamp(Math.round(ay + (by - ay) * share) + between(random, -near, near), -90e6, 90e6),
    ];
  }
}
