/** Ranges of the street under a cursor: which one holds a number, and where along it. */
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { RANGE_DESCENDING, RANGE_RIGHT, RANGE_WIDE_SETBACK } from '../../dataset/street-format.js';
import { DOOR_SETBACK_METRES, interpolate } from '../../geo/interpolate.js';
import type { DateInt } from '../../tax/date.js';

/** In place of a tax area: none was met yet, or several were. */
export const AREA_NONE = -2;
export const AREA_MIXED = -1;

/** The one tax area that all doors and ranges of a street lie in on a day. */
export function wholeArea(cursor: StreetCursor, day: DateInt): number {
  if (!cursor.hasStated && cursor.areaCount !== 1) return AREA_MIXED;
  let whole = AREA_NONE;
  let range = cursor.firstRange;
  for (let index = 0; index < cursor.ranges; index += 1) {
    if (!cursor.isStated(range) || cursor.isStatedOn(range, day)) {
      whole = joined(whole, cursor.rangeArea(range));
    }
    range = cursor.nextRange(range);
  }
  const doors = cursor.areaCount > 1 ? cursor.points : Math.min(1, cursor.points);
  for (let door = 0; door < doors && whole !== AREA_MIXED; door += 1) {
    whole = joined(whole, cursor.area(door));
  }
  return whole;
}

/** Two tax areas as one; AREA_MIXED where they differ. */
export function joined(one: number, other: number): number {
  return one === AREA_NONE || one === other ? other : AREA_MIXED;
}

/** The range with a line that holds a number; of several the shortest. */
export function shortestRange(cursor: StreetCursor, value: number): number {
  let best = -1;
  let least = Infinity;
  let range = cursor.firstRange;
  for (let index = 0; index < cursor.ranges; index += 1) {
    if (!cursor.isStated(range) && cursor.rangeHolds(range, value)) {
      const span = cursor.rangeHigh(range) - cursor.rangeLow(range);
      if (span < least) [best, least] = [range, span];
    }
    range = cursor.nextRange(range);
  }
  return best;
}

/** The point of a number along its range's line. */
export function spotOf(
  cursor: StreetCursor,
  range: number,
  line: readonly number[],
  value: number,
) {
  const low = cursor.rangeLow(range);
  const span = cursor.rangeHigh(range) - low;
  const flags = cursor.rangeFlags(range);
  const share = span === 0 ? 0.5 : (value - low) / span;
  const setback = DOOR_SETBACK_METRES[(flags & RANGE_WIDE_SETBACK) === 0 ? 'usual' : 'wide'];
  return interpolate(
    line,
    (flags & RANGE_DESCENDING) === 0 ? share : 1 - share,
    (flags & RANGE_RIGHT) === 0 ? -setback : setback,
  );
}
