/** Judges the doors that may be the one asked for, in place, without decoding their streets. */
import type { CellIndex } from '../../dataset/cell-index.js';
import type { StreetCursor } from '../../dataset/street-cursor.js';
import {
  AREA_MIXED,
  AREA_NONE,
  isNear,
  NO_TIER,
  onRange,
  OppositeDoor,
  StatedNumber,
  type Wanted,
  wholeArea,
} from './street-fit.js';

/** How a door was found, best first. */
const POINT = 4;
const RANGE = 3;
/** A door with the same integer: "12" for "12A". */
const NEAR = 2;
/** Only the state's boundary file has the number; it gives no spot. */
const STATED = 1;
const KIND_STEP = 8;

/** Tiers below this one have a street type other than the one asked for. */
const RIGHT_TYPE_TIER = 4;
/** Points for directions that match those asked for. */
const SAME_DIRECTIONS = 3;

/** Points for the type of a street: as asked for, not given, different. */
function typeScore(cursor: StreetCursor, suffix: string): number {
  if (cursor.hasSuffix(suffix)) return 2;
  return suffix === '' || cursor.hasSuffix('') ? 1 : 0;
}

/** Points for its directions: equal, at the other end, one not given; 0 for a contradiction. */
function directionScore(cursor: StreetCursor, { pre, post }: Wanted): number {
  if (cursor.pre === pre && cursor.post === post) return SAME_DIRECTIONS;
  if (cursor.pre === post && cursor.post === pre) return 2;
  const clash =
    (pre !== 0 && cursor.pre !== 0 && pre !== cursor.pre) ||
    (post !== 0 && cursor.post !== 0 && post !== cursor.post);
  return clash ? 0 : 1;
}

/** The result of scanning streets: the best door, and the best streets that lack the number. */
export class Candidates {
  found = false;
  /** Whether doors of several tax areas are equally good. */
  ambiguous = false;
  isPoint = false;
  /** Whether no line between tax areas is near the door. */
  isApart = false;
  /** Whether the state's boundary file decided the area. */
  isStated = false;
  area = AREA_NONE;
  lat = 0;
  lng = 0;
  zip = 0;
  plus4 = -1;
  numberText = '';
  label = '';
  city = 0;
  municipality = 0;
  /** The common area of the best streets that have the name but not the number, and one's label. */
  streetArea = AREA_NONE;
  streetLabel = '';
  streetZip = 0;
  streetCity = 0;
  streetMunicipality = 0;
  /** Area of the door that was dropped, because its street has another type or direction. */
  #droppedArea = AREA_NONE;

  readonly #cells: CellIndex;
  readonly #stated = new StatedNumber();
  readonly #opposite = new OppositeDoor();
  #rank = 0;
  #tier = NO_TIER;
  /** Whether the current street lies in the place that the address names. */
  #named = false;
  /** Whether the named place alone is meant, and not all of the ZIP. */
  #exclusive = false;
  #hasZip = false;
  #foundNamed = false;
  /** Rank and area of the best door on a right street in the named place. */
  #namedRank = 0;
  #namedArea = AREA_NONE;
  #streetTier = NO_TIER;
  #type = '';
  #types = 0;

  constructor(cells: CellIndex) {
    this.#cells = cells;
  }

  clear(): void {
    this.found = false;
    this.ambiguous = false;
    this.isStated = false;
    if (this.#stated.tier !== NO_TIER) this.#stated.clear();
    this.area = AREA_NONE;
    this.streetArea = AREA_NONE;
    this.#droppedArea = AREA_NONE;
    this.#rank = 0;
    this.#tier = NO_TIER;
    this.#namedRank = 0;
    this.#namedArea = AREA_NONE;
    this.#opposite.area = AREA_NONE;
    this.#streetTier = NO_TIER;
    this.#types = 0;
  }

  /** Whether a street of the wanted type, or of none, was seen, with the number or without. */
  get hasRightStreet(): boolean {
    return this.#tier >= RIGHT_TYPE_TIER || this.#streetTier >= RIGHT_TYPE_TIER;
  }

  /** Whether the number was seen on such a street; nothing seen later can change that. */
  get hasRightDoor(): boolean {
    return this.found && this.#tier >= RIGHT_TYPE_TIER;
  }

  /** Areas where the number may be meant to be, besides the best street that lacks it. */
  get alternatives(): readonly number[] {
    return [this.#droppedArea, this.streetArea].filter((area) => area !== AREA_NONE);
  }

  /** Considers the street under the cursor; `named` if it lies in the place that was asked for. */
  consider(cursor: StreetCursor, zip: number, wanted: Wanted, named: boolean): void {
    const directions = directionScore(cursor, wanted);
    const type = typeScore(cursor, wanted.suffix);
    this.#noteType(cursor);
    if (directions === 0) {
      if (type > 0) this.#opposite.note(cursor, wanted);
      return;
    }
    const tier = type * RIGHT_TYPE_TIER + directions;
    this.#named = named;
    this.#exclusive = wanted.exclusive;
    this.#hasZip = wanted.hasZip;
    const doors = this.#considerPoints(cursor, zip, wanted, tier);
    const stated = cursor.hasStated && this.#considerStated(cursor, zip, wanted, tier);
    const ranges = cursor.ranges > 0 && this.#considerRanges(cursor, zip, wanted, tier);
    if (doors || ranges || stated) return;
    if (named || wanted.hasZip) this.#considerStreet(cursor, zip, tier, wanted);
  }

  /**
   * Judges the result after all streets were considered. What the state's boundary file says of the
   * number on an equally good street decides the area. A street of another type counts only if the
   * name has no other type and it lies in the named place; one of other directions only there. The
   * area is ambiguous if it differs from that of a better street that lacks the number (without a
   * ZIP, of any such street in the named place), of the door in that place, or of the opposite.
   */
  settle(): void {
    if (!this.found) {
      if (this.#isOpposed(this.streetArea)) this.streetArea = AREA_MIXED;
      return;
    }
    if (this.#stated.tier === this.#tier) this.#follow(this.#stated);
    if (this.#tier < RIGHT_TYPE_TIER) {
      const other = this.#types > 1 || this.#streetTier >= RIGHT_TYPE_TIER;
      if (other || !this.#foundNamed) this.#drop();
      return;
    }
    const isOblique = this.#tier % RIGHT_TYPE_TIER < SAME_DIRECTIONS;
    if (isOblique && !this.#foundNamed && (this.city > 0 || this.municipality > 0)) {
      return this.#drop();
    }
    const isBeside = !this.#hasZip && !this.#foundNamed && this.#streetTier >= RIGHT_TYPE_TIER;
    const better = (isBeside || this.#tier < this.#streetTier) && this.streetArea !== this.area;
    const elsewhere = !this.#foundNamed && this.#namedRank > 0 && this.#namedArea !== this.area;
    const opposite = isOblique && this.#isOpposed(this.area);
    if (better || elsewhere || opposite) this.ambiguous = true;
  }

  /** Whether streets of the opposite direction have the number in another area. */
  #isOpposed(area: number): boolean {
    const { area: opposite } = this.#opposite;
    return opposite !== AREA_NONE && opposite !== area;
  }

  #drop(): void {
    this.found = false;
    this.#droppedArea = this.ambiguous ? AREA_MIXED : this.area;
  }

  /** Takes the stated area; one that is stated for another town only makes it ambiguous. */
  #follow(stated: StatedNumber): void {
    if (stated.speaksOf(this, this.#foundNamed)) {
      this.isStated = true;
      this.area = stated.area;
      this.ambiguous = this.area < 0;
    } else if (stated.area !== this.area) this.ambiguous = true;
  }

  #noteType(cursor: StreetCursor): void {
    if (this.#types > 0 && cursor.hasSuffix(this.#type)) return;
    this.#type = cursor.suffix;
    this.#types += 1;
  }

  #considerPoints(cursor: StreetCursor, zip: number, wanted: Wanted, tier: number): boolean {
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
      this.isApart = cursor.isApart;
      this.lat = cursor.lat(door);
      this.lng = cursor.lng(door);
      this.plus4 = cursor.plus4(door);
      this.numberText = exact && own !== '' ? own : '';
    }
    return met;
  }

  /** Considers what is stated of the number, which alone makes it the weakest kind of door. */
  #considerStated(cursor: StreetCursor, zip: number, wanted: Wanted, tier: number): boolean {
    const range = this.#stated.consider(cursor, tier, wanted, this.#named);
    if (range < 0) return false;
    const area = cursor.rangeArea(range);
    if (this.#accept(cursor, zip, tier, tier * KIND_STEP + STATED, area)) {
      this.#setOnRange(cursor.rangePlus4(range), null);
    }
    return true;
  }

  #considerRanges(cursor: StreetCursor, zip: number, wanted: Wanted, tier: number): boolean {
    const found = onRange(cursor, wanted, this.#cells);
    if (found === null) return false;
    if (this.#accept(cursor, zip, tier, tier * KIND_STEP + RANGE, found.area)) {
      this.#setOnRange(cursor.rangePlus4(found.range), found.spot);
    }
    return true;
  }

  #setOnRange(plus4: number, spot: { readonly lat: number; readonly lng: number } | null): void {
    this.isPoint = false;
    this.isApart = false;
    this.lat = spot?.lat ?? 0;
    this.lng = spot?.lng ?? 0;
    this.plus4 = plus4;
    this.numberText = '';
  }

  /**
   * Keeps the door if it ranks higher than the present one. An equal one in another tax area is a
   * contradiction, unless only one of them lies where the address says.
   */
  #accept(cursor: StreetCursor, zip: number, tier: number, rank: number, area: number): boolean {
    if (this.#named && tier >= RIGHT_TYPE_TIER) this.#noteNamed(rank, area);
    if (this.found && rank <= this.#rank) {
      const isEqual = rank === this.#rank;
      const isSettled = this.#exclusive && this.#named !== this.#foundNamed;
      if (isEqual && area !== this.area && !isSettled) this.ambiguous = true;
      if (!isEqual || !isSettled || this.#foundNamed) return false;
    }
    this.found = true;
    this.ambiguous = false;
    this.#foundNamed = this.#named;
    this.#rank = rank;
    this.#tier = tier;
    this.area = area;
    this.zip = zip;
    this.label = cursor.label;
    this.city = cursor.city;
    this.municipality = cursor.municipality;
    return true;
  }

  #noteNamed(rank: number, area: number): void {
    if (rank < this.#namedRank) return;
    this.#namedArea = rank === this.#namedRank && area !== this.#namedArea ? AREA_MIXED : area;
    this.#namedRank = rank;
  }

  #considerStreet(cursor: StreetCursor, zip: number, tier: number, wanted: Wanted): void {
    if (tier < this.#streetTier) return;
    const area = wholeArea(cursor, wanted.day);
    if (area === AREA_NONE) return; // All its ranges hold on other days.
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
