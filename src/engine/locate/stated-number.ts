/** What the state's boundary file says of one house number, over all streets of its name. */
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { RANGE_UNITS } from '../../dataset/street-format.js';
import type { DateInt } from '../../tax/date.js';
import { AREA_MIXED, AREA_NONE, joined } from './street-fit.js';

const NO_TIER = -1;

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
    if (this.tier === NO_TIER) return;
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
    value: number,
    day: DateInt,
    named: boolean,
  ): number {
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
