/** Ranges of the street under a cursor: which one holds a number, and where along it. */
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { RANGE_DESCENDING, RANGE_RIGHT, RANGE_WIDE_SETBACK } from '../../dataset/street-format.js';
import { DOOR_SETBACK_METRES, interpolate } from '../../geo/interpolate.js';

/** In place of a tax area: none was met yet, or several were. */
export const AREA_NONE = -2;
export const AREA_MIXED = -1;

/** The one tax area that all doors and ranges of a street lie in. */
export function wholeArea(cursor: StreetCursor): number {
  if (cursor.areaCount !== 1) return AREA_MIXED;
  let range = cursor.firstRange;
  for (let index = 0; index < cursor.ranges; index += 1) {
    if (cursor.rangeArea(range) < 0) return AREA_MIXED;
    range = cursor.nextRange(range);
  }
  return cursor.areaOf(0);
}

/** The range that holds a number; of several the one stated last, then the shortest. */
export function latestRange(cursor: StreetCursor, value: number): number {
  let best = -1;
  let range = cursor.firstRange;
  for (let index = 0; index < cursor.ranges; index += 1) {
    if (cursor.rangeHolds(range, value) && (best < 0 || isBetterRange(cursor, range, best))) {
      best = range;
    }
    range = cursor.nextRange(range);
  }
  return best;
}

function isBetterRange(cursor: StreetCursor, range: number, best: number): boolean {
  const later = cursor.rangeBegin(range) - cursor.rangeBegin(best);
  if (later !== 0) return later > 0;
  const span = cursor.rangeHigh(range) - cursor.rangeLow(range);
  return span < cursor.rangeHigh(best) - cursor.rangeLow(best);
}

/** The point of a number along its range's line. */
export function spotOf(
  cursor: StreetCursor, range: number, line: readonly number[], value: number,
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
