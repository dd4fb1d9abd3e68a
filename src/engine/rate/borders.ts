/** How near lines are that change the rate. */
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

/** `isFailure` for rates alone, which is faster: see there. */
function isUnrated(rates: KnownRates | Failure): rates is Failure {
  return (rates as Partial<Failure>).failure !== undefined;
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

  /** Whether an area has other rates than that of the spot. */
  whole(area: number): boolean {
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
}
