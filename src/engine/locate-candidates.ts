/** Doors that may be the one asked for, judged where their bytes lie. */
import type { Dataset } from '../dataset/dataset.js';
import type { StreetCursor } from '../dataset/street-cursor.js';
import { RANGE_DESCENDING, RANGE_RIGHT, RANGE_WIDE_SETBACK } from '../dataset/street-format.js';
import { DOOR_SETBACK_METRES, interpolate } from '../geo/interpolate.js';

/** The street and number asked for. */
export interface Wanted {
  readonly pre: number;
  readonly post: number;
  readonly suffix: string;
  /** Integer of the number, 0 for numbers without order. */
  readonly value: number;
  /** The number as written where it is more than its integer; else "". */
  readonly text: string;
}

/** How a door was found, best first. */
const POINT = 3;
const RANGE = 2;
/** A door of the same integer: "12" for "12A". */
const NEAR = 1;
const KIND_STEP = 4;

/** Tiers below this have another street type than the one asked for. */
const RIGHT_TYPE_TIER = 4;
const NO_TIER = -1;

/** No tax area yet; several of them. */
export const AREA_NONE = -2;
export const AREA_MIXED = -1;

/** Ordinary numbers, which may differ from another by a letter or fraction only. */
const ORDINARY = /^\d+(?:[A-Z]{1,2}| \d\/\d)?$/;

/** Points for the type of a street: right, not said, another. */
function typeScore(cursor: StreetCursor, suffix: string): number {
  if (cursor.hasSuffix(suffix)) return 2;
  return suffix === '' || cursor.hasSuffix('') ? 1 : 0;
}

/** Points for its directions: equal, swapped ends, one not said; 0 for a contradiction. */
function directionScore(cursor: StreetCursor, { pre, post }: Wanted): number {
  if (cursor.pre === pre && cursor.post === post) return 3;
  if (cursor.pre === post && cursor.post === pre) return 2;
  const clash = (pre !== 0 && cursor.pre !== 0 && pre !== cursor.pre)
    || (post !== 0 && cursor.post !== 0 && post !== cursor.post);
  return clash ? 0 : 1;
}

/** What a scan of streets found. `area` of the door and of the street are apart on purpose. */
export class Candidates {
  found = false;
  /** Doors of several tax areas are equally good. */
  ambiguous = false;
  isPoint = false;
  area = AREA_NONE;
  lat = 0;
  lng = 0;
  zip = 0;
  plus4 = -1;
  numberText = '';
  label = '';
  city = 0;
  municipality = 0;

  /** Best streets of the name that lack the number: their common area and a label. */
  streetArea = AREA_NONE;
  streetLabel = '';
  streetZip = 0;
  streetCity = 0;
  streetMunicipality = 0;

  #rank = 0;
  #tier = NO_TIER;
  #streetTier = NO_TIER;
  #type = '';
  #types = 0;

  clear(): void {
    this.found = false;
    this.ambiguous = false;
    this.area = AREA_NONE;
    this.streetArea = AREA_NONE;
    this.#rank = 0;
    this.#tier = NO_TIER;
    this.#streetTier = NO_TIER;
    this.#types = 0;
  }

  /** Whether a street of the wanted type (or of none) was met, with the number or without. */
  get hasRightStreet(): boolean {
    return this.#tier >= RIGHT_TYPE_TIER || this.#streetTier >= RIGHT_TYPE_TIER;
  }

  /** Considers the street under the cursor. */
  consider(dataset: Dataset, cursor: StreetCursor, zip: number, wanted: Wanted): void {
    const directions = directionScore(cursor, wanted);
    this.#noteType(cursor);
    if (directions === 0) return;
    const tier = typeScore(cursor, wanted.suffix) * RIGHT_TYPE_TIER + directions;
    const doors = this.#considerPoints(cursor, zip, wanted, tier);
    const ranges = cursor.ranges > 0
      && this.#considerRanges(dataset, cursor, zip, wanted, tier);
    if (!doors && !ranges) this.#considerStreet(cursor, zip, tier);
  }

  /**
   * Judges what was found once every street is considered: a street of another type counts only
   * where the name has no other, and a weaker street's door only where the better street that
   * lacks the number would be taxed alike.
   */
  settle(): void {
    if (!this.found) return;
    if (this.#tier < RIGHT_TYPE_TIER) {
      if (this.#types > 1 || this.#streetTier >= RIGHT_TYPE_TIER) this.found = false;
    } else if (this.#tier < this.#streetTier && this.streetArea !== this.area) {
      this.ambiguous = true;
    }
  }

  #noteType(cursor: StreetCursor): void {
    if (this.#types > 0 && cursor.hasSuffix(this.#type)) return;
    this.#type = cursor.suffix;
    this.#types += 1;
  }

  #considerPoints(
    cursor: StreetCursor,
    zip: number,
    wanted: Wanted,
    tier: number,
  ): boolean {
    const { value, text } = wanted;
    let met = false;
    for (let door = cursor.firstDoor(value); door < cursor.points; door += 1) {
      if (cursor.value(door) !== value) break;
      const own = cursor.text(door);
      const exact = own === text;
      if (!exact && !isNear(own, text, value)) continue;
      met = true;
      const area = cursor.area(door);
      const rank = tier * KIND_STEP + (exact ? POINT : NEAR);
      if (!this.#accept(cursor, zip, tier, rank, area)) continue;
      this.isPoint = exact;
      this.lat = cursor.lat(door);
      this.lng = cursor.lng(door);
      this.plus4 = cursor.plus4(door);
      this.numberText = exact && own !== '' ? own : '';
    }
    return met;
  }

  #considerRanges(
    dataset: Dataset,
    cursor: StreetCursor,
    zip: number,
    wanted: Wanted,
    tier: number,
  ): boolean {
    const range = isOrdinary(wanted.text)
      ? latestRange(cursor, wanted.value)
      : -1;
    if (range < 0) return false;
    const line = cursor.rangeLine(range);
    const spot = line.length === 0 ? null : spotOf(cursor, range, line, wanted.value);
    let area = cursor.rangeArea(range);
    if (area < 0 && spot !== null) {
      cursor.keep();
      area = dataset.cells.locate(spot.lat, spot.lng);
    }
    if (area < 0) return false;
    if (this.#accept(cursor, zip, tier, tier * KIND_STEP + RANGE, area)) {
      this.isPoint = false;
      this.lat = spot?.lat ?? 0;
      this.lng = spot?.lng ?? 0;
      this.plus4 = cursor.rangePlus4(range);
      this.numberText = '';
    }
    return true;
  }

  /** Takes a door of higher rank; notes the contradiction of an equal one elsewhere. */
  #accept(cursor: StreetCursor, zip: number, tier: number, rank: number, area: number): boolean {
    if (this.found && rank <= this.#rank) {
      if (rank === this.#rank && area !== this.area) this.ambiguous = true;
      return false;
    }
    this.found = true;
    this.ambiguous = false;
    this.#rank = rank;
    this.#tier = tier;
    this.area = area;
    this.zip = zip;
    this.label = cursor.label;
    this.city = cursor.city;
    this.municipality = cursor.municipality;
    return true;
  }

  #considerStreet(cursor: StreetCursor, zip: number, tier: number): void {
    if (tier < this.#streetTier) return;
    const area = wholeArea(cursor);
    if (tier === this.#streetTier) {
      if (area !== this.streetArea) this.streetArea = AREA_MIXED;
      return;
    }
    this.#streetTier = tier;
    this.streetArea = area;
    this.streetLabel = cursor.label;
    this.streetZip = zip;
    this.streetCity = cursor.city;
    this.streetMunicipality = cursor.municipality;
  }
}

/** The same integer with another letter: another door of the same plot. */
function isNear(own: string, wanted: string, value: number): boolean {
  return value > 0 && isOrdinary(own) && isOrdinary(wanted);
}

function isOrdinary(text: string): boolean {
  return text === '' || ORDINARY.test(text);
}

/** The one tax area that all doors and ranges of a street lie in. */
function wholeArea(cursor: StreetCursor): number {
  if (cursor.areaCount !== 1) return AREA_MIXED;
  let range = cursor.firstRange;
  for (let index = 0; index < cursor.ranges; index += 1) {
    if (cursor.rangeArea(range) < 0) return AREA_MIXED;
    range = cursor.nextRange(range);
  }
  return cursor.areaOf(0);
}

/** The range that holds a number; of several the one stated last, then the shortest. */
function latestRange(cursor: StreetCursor, value: number): number {
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
