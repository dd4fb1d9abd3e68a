/**
 * Which range of a street holds a number, and what the state's boundary file says of the number
 * over all streets of the same name.
 */
import type { CellIndex } from '../../dataset/cell-index.js';
import type { StreetCursor } from '../../dataset/street-cursor.js';
import {
  RANGE_DESCENDING,
  RANGE_RIGHT,
  RANGE_WIDE_SETBACK,
  RANGE_UNITS,
} from '../../dataset/street-format.js';
import { DOOR_SETBACK_METRES, interpolate } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';

/** The street and number asked for. */
export interface Wanted {
  readonly pre: number;
  readonly post: number;
  readonly suffix: string;
  /** Integer of the number; 0 for numbers without an order. */
  readonly value: number;
  /** The number as written where it is more than its integer; otherwise "". */
  readonly text: string;
  /** Whether a ZIP was given. Without one, a street outside the named place is no evidence. */
  readonly hasZip: boolean;
  /** Whether the named place is a municipality and the ZIP has other names. */
  readonly exclusive: boolean;
  /** The day on which the boundary file has to hold. */
  readonly day: DateInt;
}

/** Ordinary numbers, which may differ from others only by a letter or a fraction. */
const ORDINARY = /^\d+(?:(?!O)[A-Z]{1,2}| \d\/\d)?$/;

/**
 * Whether a number has the same integer with another letter, so that it is a door of the same plot.
 */
export function isNear(own: string, wanted: string, value: number): boolean {
  return value > 0 && isOrdinary(own) && isOrdinary(wanted);
}

/** Whether ranges can hold the number. In "7O" the letter may be a zero. */
function isOrdinary(text: string): boolean {
  return text === '' || ORDINARY.test(text);
}

/** Values used instead of a tax area: none was seen yet, or several were. */
export const AREA_NONE = -2;
export const AREA_MIXED = -1;

/** The only tax area of all doors and ranges of a street on a day; AREA_MIXED for several. */
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

/** One tax area for two; AREA_MIXED where they differ. */
function joined(one: number, other: number): number {
  return one === AREA_NONE || one === other ? other : AREA_MIXED;
}

/** The range with a line that holds a number; if several do, the shortest. */
function shortestRange(cursor: StreetCursor, value: number): number {
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

/** The spot of a number on the line of its range. */
function spotOf(cursor: StreetCursor, range: number, line: readonly number[], value: number) {
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

/**
 * The tax area of a number by the range that holds it, the shortest of several, and the spot on the
 * range's line; null where no range tells the area.
 */
export function onRange(cursor: StreetCursor, { value, text }: Wanted, cells: CellIndex) {
  const range = isOrdinary(text) ? shortestRange(cursor, value) : -1;
  if (range < 0) return null;
  const line = cursor.rangeLine(range);
  const spot = line.length === 0 ? null : spotOf(cursor, range, line, value);
  let area = cursor.rangeArea(range);
  if (area < 0 && spot !== null) {
    cursor.keep();
    area = cells.locate(spot.lat, spot.lng);
  }
  return area < 0 ? null : { range, area, spot };
}

/** Used as the tier where no street was seen. */
export const NO_TIER = -1;

/** Used as the city's number where the file names no city, so that any may be meant. */
const ANY_CITY = 0;

/** What is stated of the number for streets of one city. */
class InCity {
  #area = AREA_NONE;
  #begin = 0;
  #span = 0;
  /** The area by ranges that are stated for some units only. */
  #units = AREA_NONE;

  constructor(readonly city: number) {}

  /** The tax area; AREA_MIXED where it is ambiguous. */
  get area(): number {
    if (this.#area === AREA_NONE) return this.#units;
    return this.#units === AREA_NONE ? this.#area : joined(this.#units, this.#area);
  }

  /** Of two ranges, the one that was stated later counts, and then the shorter one. */
  add(cursor: StreetCursor, range: number): void {
    const area = cursor.rangeArea(range);
    if ((cursor.rangeFlags(range) & RANGE_UNITS) !== 0) {
      this.#units = joined(this.#units, area);
      return;
    }
    const begin = cursor.rangeBegin(range);
    const span = cursor.rangeHigh(range) - cursor.rangeLow(range);
    const better = begin - this.#begin || this.#span - span;
    if (this.#area === AREA_NONE || better > 0) {
      this.#area = area;
      this.#begin = begin;
      this.#span = span;
    } else if (better === 0 && area !== this.#area) this.#area = AREA_MIXED;
  }
}

/** The localities of a street that was found, by their numbers. */
interface Located {
  readonly city: number;
  readonly municipality: number;
}

/**
 * What the boundary file states of a number on a day. Of the best streets, those in the named place
 * count, and of their ranges the one that was stated last, then the shortest. Two towns of a ZIP
 * may each have such a street: where their areas differ, and for single units, the result is mixed.
 */
export class StatedNumber {
  /** How well the street fits, as for doors; negative where nothing is stated. */
  tier = NO_TIER;
  /** Whether the street lies in the named place. */
  #named = false;
  #cities: InCity[] = [];

  clear(): void {
    this.tier = NO_TIER;
    this.#cities = [];
  }

  /** The tax area; AREA_MIXED where it is ambiguous. */
  get area(): number {
    return this.#cities.reduce((area, own) => joined(area, own.area), AREA_NONE);
  }

  /**
   * Whether it is stated for a door's own place or, where the door's is another, for the named one.
   */
  speaksOf({ city, municipality }: Located, named: boolean): boolean {
    return (
      (this.#named && !named) ||
      city === ANY_CITY ||
      this.#cities.some(
        (own) => own.city === ANY_CITY || own.city === city || own.city === municipality,
      )
    );
  }

  /**
   * Considers the ranges of the street under the cursor. Returns the first that holds the number on
   * the day, or −1; `named` if the street lies in the named place.
   */
  consider(
    cursor: StreetCursor,
    tier: number,
    { value, text, day }: Wanted,
    named: boolean,
  ): number {
    if (!isOrdinary(text)) return -1;
    let first = -1;
    let range = cursor.firstRange;
    for (let index = 0; index < cursor.ranges; index += 1) {
      // The number is tested first, since few ranges of a long street hold it, and most hold on the
      // day.
      if (cursor.rangeHolds(range, value) && cursor.isStatedOn(range, day)) {
        if (first < 0) first = range;
        this.#take(cursor, range, tier, named);
      }
      range = cursor.nextRange(range);
    }
    return first;
  }

  #take(cursor: StreetCursor, range: number, tier: number, named: boolean): void {
    const better = tier - this.tier || Number(named) - Number(this.#named);
    if (better < 0) return;
    if (better > 0) {
      this.#cities = [];
      this.tier = tier;
      this.#named = named;
    }
    let own = this.#cities.find(({ city }) => city === cursor.city);
    if (own === undefined) this.#cities.push((own = new InCity(cursor.city)));
    own.add(cursor, range);
  }
}

/** The area that streets of the opposite direction (N for S) have for the number. */
export class OppositeDoor {
  area = AREA_NONE;

  note(cursor: StreetCursor, wanted: Wanted): void {
    const { value, text } = wanted;
    for (let door = cursor.firstDoor(value); door < cursor.points; door += 1) {
      if (cursor.value(door) !== value) break;
      if (cursor.text(door) === text) this.area = joined(this.area, cursor.area(door));
    }
    if (cursor.ranges === 0 || !isOrdinary(text)) return;
    const range = shortestRange(cursor, value);
    if (range >= 0) this.area = joined(this.area, cursor.rangeArea(range));
    const stated = new StatedNumber();
    if (cursor.hasStated && stated.consider(cursor, 0, wanted, true) >= 0) {
      this.area = stated.area;
    }
  }
}
