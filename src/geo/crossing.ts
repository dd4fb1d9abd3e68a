/**
 * The one predicate all geometry rests on: does the ray from a point towards larger x cross an
 * edge? Half-open in y and strict in x, which settles every border: a point on an edge belongs to
 * the side east of it, on a horizontal edge to the side north of it, and to exactly one polygon of
 * a tessellation. Exact in doubles: coordinates are integers and an edge spans at most
 * `EDGE_SPAN_MAX`, so every product stays below 2^53.
 */

/** Largest extent of an edge in either direction, in microdegrees. */
export const EDGE_SPAN_MAX = 90_000_000;

/** True when the edge meets the horizontal line through (px, py) strictly right of px. */
export function crossesRight(
  px: number,
  py: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  if (ay <= py === by <= py) return false;
  return isRightOf(px, py, ax, ay, bx, by);
}

/** As `crossesRight` for an edge that is known to span the row py. */
export function isRightOf(
  px: number,
  py: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  if (px < ax && px < bx) return true;
  if (px >= ax && px >= bx) return false;
  return ay < by
    ? (bx - ax) * (py - ay) > (px - ax) * (by - ay)
    : (ax - bx) * (py - by) > (px - bx) * (ay - by);
}
