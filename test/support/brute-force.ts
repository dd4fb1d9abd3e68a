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

type Box = readonly [west: number, east: number, south: number, north: number];

function boxOf({ rings }: PlainPolygon): Box {
  const all = rings.flat();
  const [xs, ys] = [all.map(([one]) => one), all.map(([, one]) => one)];
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

function isFarOff([west, east, south, north]: Box, x: number, y: number): boolean {
  return x < west || x > east || y < south || y > north;
}

/** Whether the polygon holds the point. Rings need not repeat their first vertex. */
function holds({ rings }: PlainPolygon, x: number, y: number): boolean {
  let count = 0;
  for (const ring of rings) {
    let from = ring.at(-1)!;
    for (const to of ring) {
      if (edgeIsEast(x, y, from, to)) count += 1;
      from = to;
    }
  }
  return count % 2 === 1;
}

/** Of the lists that were asked, since the same ones are asked of many points. */
const boxes = new WeakMap<readonly PlainPolygon[], readonly Box[]>();

/** Keys of all polygons that hold the point, ascending. */
export function holders(
  polygons: readonly PlainPolygon[],
  x: number,
  y: number,
): readonly string[] {
  let own = boxes.get(polygons);
  if (own === undefined) boxes.set(polygons, (own = polygons.map(boxOf)));
  const keys: string[] = [];
  for (let at = 0; at < polygons.length; at += 1) {
    if (!isFarOff(own[at]!, x, y) && holds(polygons[at]!, x, y)) keys.push(polygons[at]!.key);
  }
  return keys.sort();
}
