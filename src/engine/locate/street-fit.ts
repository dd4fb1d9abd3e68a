/** How well a street and a number fit the ones asked for. */
import type { StreetCursor } from '../../dataset/street-cursor.js';
import type { DateInt } from '../../tax/date.js';

/** The street and number asked for. */
export interface Wanted {
  readonly pre: number;
  readonly post: number;
  readonly suffix: string;
  /** Integer of the number, 0 for numbers without order. */
  readonly value: number;
  /** The number as written where it is more than its integer; else "". */
  readonly text: string;
  /** A ZIP was given: without one, a street in another place than the one named is no evidence. */
  readonly hasZip: boolean;
  /** Boundary files are asked what they state for it. */
  readonly day: DateInt;
}

/** Points for directions that are as they were asked for. */
export const SAME_DIRECTIONS = 3;

/** Ordinary numbers, which may differ from another by a letter or fraction only. */
const ORDINARY = /^\d+(?:[A-Z]{1,2}| \d\/\d)?$/;

/** Points for the type of a street: right, not said, another. */
export function typeScore(cursor: StreetCursor, suffix: string): number {
  if (cursor.hasSuffix(suffix)) return 2;
  return suffix === '' || cursor.hasSuffix('') ? 1 : 0;
}

/** Points for its directions: equal, swapped ends, one not said; 0 for a contradiction. */
export function directionScore(cursor: StreetCursor, { pre, post }: Wanted): number {
  if (cursor.pre === pre && cursor.post === post) return SAME_DIRECTIONS;
  if (cursor.pre === post && cursor.post === pre) return 2;
  const clash =
    (pre !== 0 && cursor.pre !== 0 && pre !== cursor.pre) ||
    (post !== 0 && cursor.post !== 0 && post !== cursor.post);
  return clash ? 0 : 1;
}

/** The same integer with another letter: another door of the same plot. */
export function isNear(own: string, wanted: string, value: number): boolean {
  return value > 0 && isOrdinary(own) && isOrdinary(wanted);
}

/** Whether a number has an integer that ranges can hold. */
export function isOrdinary(text: string): boolean {
  return text === '' || ORDINARY.test(text);
}
