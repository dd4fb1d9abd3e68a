/** How near the lines are at which the rate changes. */
import { RecentCache } from '../../base/tables.js';
import {
  BORDER_METRES_MAX,
  BORDER_REACH,
  type CellIndex,
  type CellJudge,
} from '../../dataset/cell-index.js';
import type { Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { Border, KnownRates } from '../lookup-query.js';
import type { Situs } from '../situs.js';
import type { RatesByArea } from './on-day.js';

/**
 * As `isFailure`, but only ever called for rates, which makes it faster: V8 reads members slowly in
 * functions that have met objects of many shapes.
 */
function isUnrated(rates: KnownRates | Failure): rates is Failure {
  return (rates as Partial<Failure>).failure !== undefined;
}

/** Border cells whose results are stored in one array: 2 to this power. */
const CHUNK_BITS = 10;
/** Days for which results are kept, in each of two generations. */
const DAYS_MAX = 2;
/** Values used instead of a tax area: not determined yet, areas with different rates, no area. */
const UNSEEN = 0;
const MIXED = -1;
const EMPTY = -2;

/**
 * For one day, by border cell: 1 + a tax area with the rates of all its areas, or a special value.
 */
type CellTaxes = Map<number, Int32Array>;

/**
 * Finds the nearest line around a spot at which the rate changes. At most lines between areas it
 * does not, so for each day the result for a border cell is remembered, in four bytes a cell.
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
   * The nearest line around a spot in the area at which its sales or use rate changes, or null. For
   * a spot that was looked up by its coordinates, the border cell was just loaded. Cells around
   * doors are met again and again, and their remembered results make reading them unnecessary.
   */
  near(
    area: number,
    date: DateInt,
    { precision, lat, lng }: Pick<Situs, 'precision' | 'lat' | 'lng'>,
  ): Border | null {
    const reach = BORDER_REACH;
    this.#area = area;
    if (date !== this.#date) this.#turnTo(date);
    // Points that are tried are rounded, so they may be a microdegree farther away.
    const mayDiffer = precision === 'polygon' || this.#cells.anyNear(lat, lng, reach + 1, this);
    if (!mayDiffer) return null;
    if (!this.#cells.isNear(lat, lng, reach)) return null;
    const line = this.#cells.nearest(lat, lng, reach, (other) => this.whole(other));
    if (line === null) return null;
    const there = this.#rates.at(line.area, date);
    const metres = Math.round(line.share * BORDER_METRES_MAX);
    return { metres, rate: isUnrated(there) ? null : there.sales };
  }

  border(leaf: number): boolean {
    const key = leaf >> CHUNK_BITS;
    let chunk = this.#taxes.get(key);
    if (chunk === undefined) this.#taxes.set(key, (chunk = new Int32Array(1 << CHUNK_BITS)));
    const at = leaf & ((1 << CHUNK_BITS) - 1);
    let known = chunk[at]!;
    if (known === UNSEEN) known = chunk[at] = this.#taxOf(leaf);
    return known === MIXED || (known !== EMPTY && this.whole(known - 1));
  }

  #turnTo(date: DateInt): void {
    const known = this.#days.get(date);
    this.#date = date;
    this.#taxes = known ?? new Map();
    if (known === undefined) this.#days.set(date, this.#taxes);
  }

  /** One more than a tax area with the rates of all areas in the cell; MIXED or EMPTY. */
  #taxOf(leaf: number): number {
    let first = -1;
    for (const area of this.#cells.areasOfBorder(leaf)) {
      if (area < 0 || area === first) continue;
      if (first < 0) first = area;
      else if (this.#differ(first, area)) return MIXED;
    }
    return first < 0 ? EMPTY : first + 1;
  }

  /** Whether an area has other rates than the spot's area. */
  whole(area: number): boolean {
    return area >= 0 && area !== this.#area && this.#differ(this.#area, area);
  }

  /** Whether two areas have different rates on the day; unknown rates differ from all others. */
  #differ(one: number, other: number): boolean {
    const here = this.#rates.at(one, this.#date);
    const there = this.#rates.at(other, this.#date);
    return (
      isUnrated(here) || isUnrated(there) || here.sales !== there.sales || here.use !== there.use
    );
  }
}
