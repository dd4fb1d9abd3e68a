/** What the state's boundary file says of one house number, over all streets of its name. */
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { RANGE_UNITS } from '../../dataset/street-format.js';
import type { DateInt } from '../../tax/date.js';
import { AREA_MIXED, AREA_NONE } from './range.js';

const NO_TIER = -1;

/**
 * The address range that holds the number on the day: of the best streets that which was stated
 * last, then the shortest. Areas that contradict it, as those of single units, make it mixed.
 */
export class StatedNumber {
  /** How well the street fits, as of doors; below zero where nothing is stated. */
  tier = NO_TIER;
  #area = AREA_NONE;
  #begin = 0;
  #span = 0;
  /** Of ranges that speak of some units alone. */
  #units = AREA_NONE;

  clear(): void {
    this.tier = NO_TIER;
    this.#area = AREA_NONE;
    this.#units = AREA_NONE;
  }

  /** The tax area; AREA_MIXED where it cannot be told. */
  get area(): number {
    if (this.#area === AREA_NONE) return this.#units;
    return this.#units === AREA_NONE || this.#units === this.#area ? this.#area : AREA_MIXED;
  }

  /** The first range of the street under the cursor that holds the number on the day, or −1. */
  consider(cursor: StreetCursor, tier: number, value: number, day: DateInt): number {
    let first = -1;
    let range = cursor.firstRange;
    for (let index = 0; index < cursor.ranges; index += 1) {
      if (cursor.isStatedOn(range, day) && cursor.rangeHolds(range, value)) {
        if (first < 0) first = range;
        if (tier > this.tier) {
          this.clear();
          this.tier = tier;
        }
        if (tier === this.tier) this.#add(cursor, range);
      }
      range = cursor.nextRange(range);
    }
    return first;
  }

  #add(cursor: StreetCursor, range: number): void {
    const area = cursor.rangeArea(range);
    if ((cursor.rangeFlags(range) & RANGE_UNITS) !== 0) {
      this.#units = this.#units === AREA_NONE || this.#units === area ? area : AREA_MIXED;
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
