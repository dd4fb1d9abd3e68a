/**
 * An oracle for points: every polygon, every edge, whole numbers of any size. It shares nothing
 * with the index but the statement of the rule: an odd number of edges strictly east of the point.
 */
export interface PlainPolygon {
  readonly key: string;
  readonly rings: readonly (readonly (readonly [number, number])[])[];
}

function edgeIsEast(
  x: number,
  y: number,
  a: readonly [number, number],
  b: readonly [number, number],
): boolean {
  const [ay, by] = [a[1], b[1]];
  // Each has the point's latitude or lies north of it, or each lies south: asked millions of times.
  if (y < ay === y < by) return false;
  const [ax, bx] = [a[0], b[0]];
  if (x < Math.min(ax, bx)) return true;
  if (x >= Math.max(ax, bx)) return false;
  // ax + (bx − ax)(y − ay)/(by − ay) > x, multiplied out.
  const left = BigInt(bx - ax) * BigInt(y - ay);
  const right = BigInt(x - ax) * BigInt(by - ay);
  return by > ay ? left > right : left < right;
}

const bounds = new WeakMap<PlainPolygon, readonly number[]>();

function isFarOff(polygon: PlainPolygon, x: number, y: number): boolean {
  let box = bounds.get(polygon);
  if (box === undefined) {
    const all = polygon.rings.flat();
    const [xs, ys] = [all.map(([one]) => one), all.map(([, one]) => one)];
    box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    bounds.set(polygon, box);
  }
  return x < box[0]! || x > box[1]! || y < box[2]! || y > box[3]!;
}

/** Whether the polygon holds the point. Rings need not repeat their first vertex. */
export function holds(polygon: PlainPolygon, x: number, y: number): boolean {
  if (isFarOff(polygon, x, y)) return false;
  let count = 0;
  for (const ring of polygon.rings) {
    for (let at = 0; at < ring.length; at += 1) {
      if (edgeIsEast(x, y, ring[at]!, ring[(at + 1) % ring.length]!)) count += 1;
    }
  }
  return count % 2 === 1;
}

/** Keys of all polygons that hold the point, ascending. */
export function holders(
  polygons: readonly PlainPolygon[],
  x: number,
  y: number,
): readonly string[] {
  return polygons
    .filter((polygon) => holds(polygon, x, y))
    .map(({ key }) => key)
    .sort();
}
