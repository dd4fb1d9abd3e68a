/**
 * Which range of the street under a cursor holds a number, and what the state's boundary file says
 * of it, over all streets of its name.
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
  /** Integer of the number, 0 for numbers without order. */
  readonly value: number;
  /** The number as written where it is more than its integer; else "". */
  readonly text: string;
  /** A ZIP was given: without one, a street in another place than the one named is no evidence. */
  readonly hasZip: boolean;
  /** The place named is a municipality, and the ZIP goes by other names. */
  readonly exclusive: boolean;
  /** Boundary files are asked what they state for it. */
  readonly day: DateInt;
}

/** Ordinary numbers, which may differ from another by a letter or fraction only. */
const ORDINARY = /^\d+(?:(?!O)[A-Z]{1,2}| \d\/\d)?$/;

/** The same integer with another letter: another door of the same plot. */
export function isNear(own: string, wanted: string, value: number): boolean {
  return value > 0 && isOrdinary(own) && isOrdinary(wanted);
}

/** Whether a number has an integer that ranges can hold: in "7O" the letter may be a zero. */
function isOrdinary(text: string): boolean {
  return text === '' || ORDINARY.test(text);
}

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
function joined(one: number, other: number): number {
  return one === AREA_NONE || one === other ? other : AREA_MIXED;
}

/** The range with a line that holds a number; of several the shortest. */
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

/** The point of a number along its range's line. */
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
 * What is known of a number by the range that holds it, the shortest of several: its tax area and
 * the spot on the range's line; null where no range tells its area.
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

/** In place of how well a street fits, where none was met. */
export const NO_TIER = -1;

/** In place of a city's number: the file names none, so it may speak of any. */
const ANY_CITY = 0;

/** What is stated of the number in the streets of one city. */
class InCity {
  #area = AREA_NONE;
  #begin = 0;
  #span = 0;
  /** Of ranges that speak of some units alone. */
  #units = AREA_NONE;

  constructor(readonly city: number) {}

  /** The tax area; AREA_MIXED where it cannot be told. */
  get area(): number {
    if (this.#area === AREA_NONE) return this.#units;
    return this.#units === AREA_NONE ? this.#area : joined(this.#units, this.#area);
  }

  /** Of two ranges that which was stated last holds, then the shorter. */
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

/** A street that was found, by the numbers of its localities. */
interface Located {
  readonly city: number;
  readonly municipality: number;
}

/**
 * The address range that holds the number on the day: of the best streets those in the place named,
 * and there that which was stated last, then the shortest. Two towns of a ZIP may each have such a
 * street: where what is stated of both differs, and of single units, it is mixed.
 */
export class StatedNumber {
  /** How well the street fits, as of doors; below zero where nothing is stated. */
  tier = NO_TIER;
  /** Whether it lies in the place that was named. */
  #named = false;
  #cities: InCity[] = [];

  clear(): void {
    this.tier = NO_TIER;
    this.#cities = [];
  }

  /** The tax area; AREA_MIXED where it cannot be told. */
  get area(): number {
    return this.#cities.reduce((area, own) => joined(area, own.area), AREA_NONE);
  }

  /** Whether it is said of a door's own place, or of the one named where the door's is another. */
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
   * The first range of the street under the cursor that holds the number on the day, or −1; `named`
   * where the street lies in the place that was named.
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
      // The number first: of a long street's ranges few hold it, and most are stated for the day.
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

/** The door that streets of the opposite direction (N for S) have for the number. */
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
