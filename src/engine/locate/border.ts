/** How near a spot is to a line beyond which another rate holds, or to a shore drawn too far in. */
import { RecentCache } from '../../base/tables.js';
import {
  BORDER_METRES_MAX,
  BORDER_REACH,
  type CellIndex,
  type CellJudge,
  METRES_PER_MICRO,
} from '../../dataset/cell-index.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';
import type { Rate } from '../../tax/rate.js';
import { isUnrated, type RatesByArea } from '../rate/on-day.js';
import type { Situs, Precision } from '../situs.js';
import type { AreaRecord } from '../../dataset/records.js';

const DIRECTIONS = circle(16);
/** Spots on a ray that are looked at before it is halved. */
const RINGS = [0.5, 1];
/** Halvings of 25 metres until what is left is under half of one. */
const HALVINGS = 6;

/** Directions around a spot, from the east on. */
function circle(count: number): readonly { readonly sin: number; readonly cos: number }[] {
  return Array.from({ length: count }, (_, at) => {
    const angle = (at / count) * 2 * Math.PI;
    return { sin: Math.sin(angle), cos: Math.cos(angle) };
  });
}

/** The nearest such line. */
export interface Border {
  /** Whole metres from the spot, good to about one, and to a fiftieth by direction. */
  readonly metres: number;
  /** Combined sales rate beyond; null where it is not known. */
  readonly rate: Rate | null;
}

/** Border cells whose taxes are remembered together. */
const CHUNK_BITS = 10;
/** Days that they are remembered for, in each of two generations. */
const DAYS_MAX = 2;
/** In place of a tax area: not looked at yet, areas that differ, none. */
const UNSEEN = 0;
const MIXED = -1;
const EMPTY = -2;

/** What border cells have for one day: a tax area that all of theirs are taxed like, and one. */
type CellTaxes = Map<number, Int32Array>;

/**
 * Looks for the lines around spots that change the rate. Most lines between areas change none, so
 * it is remembered by day which border cells have one: four bytes a cell.
 */
export class Borders implements CellJudge {
  readonly #cells: CellIndex;
  readonly #rates: RatesByArea;
  readonly #days = new RecentCache<DateInt, CellTaxes>(DAYS_MAX);
  #taxes: CellTaxes = new Map();
  #date = 0 as DateInt;
  #area = -1;

  constructor(cells: CellIndex, rates: RatesByArea) {
    this.#cells = cells;
    this.#rates = rates;
  }

  /**
   * The nearest line around a spot of the area that changes its sales or use rate, or null. A spot
   * that was just looked up by its coordinates has its border cell at hand; where doors lie the
   * same cells are met again and again, and what is remembered of them spares reading them.
   */
  near(
    area: number,
    date: DateInt,
    { precision, lat, lng }: Pick<Situs, 'precision' | 'lat' | 'lng'>,
  ): Border | null {
    const reach = BORDER_REACH;
    this.#area = area;
    if (date !== this.#date) this.#turnTo(date);
    // Spots that are looked at are rounded, so that they may lie a microdegree farther off.
    const mayDiffer = precision === 'polygon' || this.#cells.anyNear(lat, lng, reach + 1, this);
    if (!mayDiffer) return null;
    return this.#cells.isNear(lat, lng, reach) ? this.#search(lat, lng, reach) : null;
  }

  whole(area: number): boolean {
    return this.#isOther(area);
  }

  border(leaf: number): boolean {
    const key = leaf >> CHUNK_BITS;
    let chunk = this.#taxes.get(key);
    if (chunk === undefined) this.#taxes.set(key, (chunk = new Int32Array(1 << CHUNK_BITS)));
    const at = leaf & ((1 << CHUNK_BITS) - 1);
    let known = chunk[at]!;
    if (known === UNSEEN) known = chunk[at] = this.#taxOf(leaf);
    return known === MIXED || (known !== EMPTY && this.#isOther(known - 1));
  }

  #turnTo(date: DateInt): void {
    let taxes = this.#days.get(date);
    if (taxes === undefined) {
      this.#days.set(date, (taxes = new Map()));
    }
    this.#date = date;
    this.#taxes = taxes;
  }

  /** One more than a tax area that all of the cell's are taxed like; MIXED or EMPTY. */
  #taxOf(leaf: number): number {
    let first = -1;
    for (const area of this.#cells.areasOfBorder(leaf)) {
      if (area < 0 || area === first) continue;
      if (first < 0) first = area;
      else if (this.#differ(first, area)) return MIXED;
    }
    return first < 0 ? EMPTY : first + 1;
  }

  #isOther(area: number): boolean {
    return area >= 0 && area !== this.#area && this.#differ(this.#area, area);
  }

  /** Whether two areas have other rates on the day; one whose rates are not known is like none. */
  #differ(one: number, other: number): boolean {
    const here = this.#rates.at(one, this.#date);
    const there = this.#rates.at(other, this.#date);
    return (
      isUnrated(here) || isUnrated(there) || here.sales !== there.sales || here.use !== there.use
    );
  }

  #search(lat: Microdegrees, lng: Microdegrees, reach: number): Border | null {
    const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
    let nearest = Infinity;
    let beyond = -1;
    for (const { sin, cos } of DIRECTIONS) {
      const at = (share: number): number =>
        this.#cells.locate(
          Math.round(lat + reach * share * sin),
          Math.round(lng + (reach * share * cos) / shrink),
        );
      let inside = 0;
      for (const ring of RINGS) {
        let other = at(ring);
        if (!this.#isOther(other)) {
          inside = ring;
          continue;
        }
        let outside = ring;
        for (let halving = 0; halving < HALVINGS; halving += 1) {
          const middle = (inside + outside) / 2;
          const found = at(middle);
          if (this.#isOther(found)) [outside, other] = [middle, found];
          else inside = middle;
        }
        const line = (inside + outside) / 2;
        if (line < nearest) [nearest, beyond] = [line, other];
        break;
      }
    }
    if (beyond < 0) return null;
    const there = this.#rates.at(beyond, this.#date);
    const metres = Math.round(nearest * BORDER_METRES_MAX);
    return { metres, rate: isUnrated(there) ? null : there.sales };
  }
}

// Provinces are drawn by a map whose lines are off by up to some kilometre: harbours and old towns
// at the water lie in no province, and towns at a line may lie in the next one. Counties are drawn
// finely and hold their waters; none of this concerns them.

/** How far off a shore or a line may be drawn: 1.2 km were seen at Quebec City, 1.7 at Hull. */
export const PROVINCE_LINE_METRES = 2_000;
/** Within this nothing but the one province may lie. */
export const ALONE_METRES = 4_000;
/** So near to a county a spot may be one of its own. */
const COUNTY_METRES = 50;
const STEP_METRES = 250;
const LINE_DIRECTIONS = circle(24);

/** What of an index is looked at. */
export interface AreaView {
  readonly cells: CellIndex;
  readonly areaOf: (id: number) => AreaRecord;
}

/** The areas on a circle around a spot, as often as they are met. */
function* around(
  { cells }: AreaView,
  lat: Microdegrees,
  lng: Microdegrees,
  metres: number,
): Generator<number> {
  const reach = metres / METRES_PER_MICRO;
  const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (const { sin, cos } of LINE_DIRECTIONS) {
    const found = cells.locate(
      Math.round(lat + reach * sin),
      Math.round(lng + (reach * cos) / shrink),
    );
    if (found >= 0) yield found;
  }
}

function isProvince({ areaOf }: AreaView, id: number): boolean {
  return areaOf(id).countyFips === '';
}

/** In microdegrees of latitude, with what rounding adds. */
const PROVINCE_REACH = PROVINCE_LINE_METRES / METRES_PER_MICRO + 1;
/** Says yes to every cell that is not empty. */
const ANY_AREA: CellJudge = { whole: (area) => area >= 0, border: () => true };

/**
 * The province whose shore is near a spot that lies in no area, and another that is anywhere near
 * it; one that is alone has the spot. None out at sea and abroad, and where a county is near.
 */
export function shoreAreas(
  view: AreaView,
  lat: Microdegrees,
  lng: Microdegrees,
): readonly [] | readonly [alone: number] | readonly [nearest: number, other: number] {
  // Far out at sea and abroad nothing needs to be walked around.
  if (!view.cells.anyNear(lat, lng, PROVINCE_REACH, ANY_AREA)) return [];
  for (const found of around(view, lat, lng, COUNTY_METRES)) {
    if (!isProvince(view, found)) return [];
  }
  let shore = -1;
  for (let metres = STEP_METRES; metres <= ALONE_METRES; metres += STEP_METRES) {
    if (metres > PROVINCE_LINE_METRES && shore < 0) return [];
    for (const found of around(view, lat, lng, metres)) {
      if (found === shore || !isProvince(view, found)) continue;
      if (shore >= 0) return [shore, found];
      shore = found;
    }
  }
  return shore < 0 ? [] : [shore];
}

/** The other provinces that a spot of one may lie in instead. */
export function provincesNear(
  view: AreaView,
  area: number,
  lat: Microdegrees,
  lng: Microdegrees,
): ReadonlySet<number> {
  const near = new Set<number>();
  if (!view.cells.isNear(lat, lng, PROVINCE_LINE_METRES / METRES_PER_MICRO)) return near;
  for (let metres = STEP_METRES; metres <= PROVINCE_LINE_METRES; metres += STEP_METRES) {
    for (const found of around(view, lat, lng, metres)) {
      if (found !== area && isProvince(view, found)) near.add(found);
    }
  }
  return near;
}

/** Whether a place was told by its ZIP or its city's name, and not by a door or a spot. */
export function isByArea(precision: Precision): boolean {
  return precision === 'postal' || precision === 'city';
}
