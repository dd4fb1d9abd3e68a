/**
 * What day it is in a state, and what holds on a day: its rules, the rates of its tax areas, where
 * alone components meet a date, and how near a line is beyond which other rates hold.
 */
import { NumberCache, RecentCache } from '../../base/tables.js';
import {
  BORDER_METRES_MAX,
  BORDER_REACH,
  type CellIndex,
  type CellJudge,
} from '../../dataset/cell-index.js';
import type { Dataset } from '../../dataset/dataset.js';
import type {
  RatePeriod,
  AreaRecord,
  StateRecord,
  StateRuleRecord,
} from '../../dataset/records.js';
import { fail, type Failure } from '../../failure.js';
import { DATE_OPEN, type DateInt, DATE_MIN, dateSlot, SLOT_MS, todayIn } from '../../tax/date.js';
import { sumRates, type Rate } from '../../tax/rate.js';
import type { AreaRateRow, Border, KnownRates } from '../lookup-query.js';
import type { Precision, Situs } from '../situs.js';

/** Goods, freight and services are taxed alike in Canada, at the destination. */
const CANADIAN: StateRuleRecord = {
  from: DATE_MIN,
  to: DATE_OPEN,
  serviceTaxable: 'Y',
  freightTaxable: 'Y',
  freightRule: 'TAXABLE',
  freightExemptWhenSeparatelyStated: false,
  freightDescription: 'Delivery charges are taxable.',
  sourcing: 'D',
  sourcingDescription: 'destination',
  source: -1,
};

/** The rules of a state, province or territory on a day; null where none are held. */
export function rulesAt(state: StateRecord, date: DateInt): StateRuleRecord | null {
  for (const rule of state.rules) {
    if (rule.from <= date && date <= rule.to) return rule;
  }
  return state.country === 'CAN' ? CANADIAN : null;
}

/** The area that a lookup led to; what a boundary file decided is published until it ends. */
export function areaOf(dataset: Dataset, { area: id, stated }: Situs): AreaRecord {
  const area = dataset.area(id);
  if (stated !== true) return area;
  const { statedUntil = DATE_OPEN } = dataset.state(area.state) ?? {};
  return statedUntil < area.staleAfter ? { ...area, staleAfter: statedUntil } : area;
}

const LETTERS = 26;
const CAPITAL_A = 65;

/** The states, provinces and territories of one dataset. */
export class States {
  readonly #dataset: Dataset;
  /** Days of a slot of time by the letters of a state's code; 0 for those not asked for yet. */
  readonly #days = new Uint32Array(LETTERS * LETTERS);
  /** When that slot begins and ends, in milliseconds since 1970. */
  #from = 0;
  #until = 0;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** @throws Error where the dataset has no such state, though it has areas in it. */
  require(code: string): StateRecord {
    const state = this.#dataset.state(code);
    if (state === null) throw new Error(`the dataset has areas in ${code} but no such state`);
    return state;
  }

  /** The date at `nowMs` in the state's main time zone. */
  today(code: string, nowMs: number): DateInt {
    if (nowMs < this.#from || nowMs >= this.#until) {
      this.#days.fill(0);
      this.#from = dateSlot(nowMs) * SLOT_MS;
      this.#until = this.#from + SLOT_MS;
    }
    const first = code.charCodeAt(0) - CAPITAL_A;
    const second = code.charCodeAt(1) - CAPITAL_A;
    // A code of other letters is no number here, and is looked for anew each time.
    const isNumber = code.length === 2 && second >= 0 && second < LETTERS;
    const at = isNumber ? first * LETTERS + second : -1;
    const known = this.#days[at] ?? 0;
    if (known !== 0) return known as DateInt;
    const today = todayIn(this.require(code).timeZone, nowMs);
    if (at >= 0) this.#days[at] = today;
    return today;
  }

  /** The rules on a day; null where none are held. */
  rules(code: string, date: DateInt): StateRuleRecord | null {
    const state = this.#dataset.state(code);
    return state === null ? null : rulesAt(state, date);
  }
}

/** `isFailure` for rates alone, which is faster: see there. */
function isUnrated(rates: KnownRates | Failure): rates is Failure {
  return (rates as Partial<Failure>).failure !== undefined;
}

const ZERO = 0 as Rate;

/** The period a day lies in, or null. */
export function periodOn(periods: readonly RatePeriod[], date: DateInt): RatePeriod | null {
  for (const period of periods) {
    if (period.from <= date && date <= period.to) return period;
  }
  return null;
}

/** Areas kept, in each of two generations, with the last day asked for. */
const AREAS_MAX = 16_384;

/** Rates that were asked for and are not held. */
export interface Unheld {
  readonly state: string;
  /** They are not for days that have an end, such as those before the state's list begins. */
  readonly past: boolean;
  /** Whose rates, and what would fill the gap. */
  readonly why: string;
}

interface Rated {
  readonly date: DateInt;
  readonly rates: KnownRates | Failure;
}

/** The rates of a dataset's tax areas; those of the last day asked for are remembered. */
export class RatesByArea {
  readonly #dataset: Dataset;
  readonly #areas = new NumberCache<Rated>(AREAS_MAX);
  /** By what the refusal says: carts name the member at fault on a copy of it. */
  readonly #unheld = new RecentCache<string, Unheld>(AREAS_MAX);

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /**
   * An area's rates on a day; a refusal (110) where the combined rate cannot be told, which names
   * state, level and what would fill it.
   */
  at(area: number, date: DateInt): KnownRates | Failure {
    const known = this.#areas.get(area);
    if (known !== undefined && known.date === date) return known.rates;
    const rates = this.#read(area, date);
    this.#areas.set(area, { date, rates });
    return rates;
  }

  /** What a refusal of `at` is about; null for any other. */
  unheld({ detail = '' }: Failure): Unheld | null {
    return this.#unheld.get(detail) ?? null;
  }

  /**
   * State, county and city rows are there even at zero, since they say where the place lies; a
   * district that levies nothing on the day does not apply, nor does a tax of a province that
   * another has replaced or will.
   */
  #read(id: number, date: DateInt): KnownRates | Failure {
    const { state, unknown, components } = this.#dataset.area(id);
    const gap = unknown.find(({ from, to }) => from <= date && date <= to);
    if (gap !== undefined) {
      const { reason: why, to } = gap;
      this.#unheld.set(why, { state, past: to !== DATE_OPEN, why });
      return fail('no-result', why);
    }
    const rows: AreaRateRow[] = [];
    for (const component of components.map((each) => this.#dataset.component(each))) {
      const period = periodOn(component.periods, date);
      if (period !== null) {
        const { sales, use, source } = period;
        const { estimated } = this.#dataset.source(source);
        rows.push({ component, sales, use, source, estimated });
      } else if (component.level !== 'district' && component.kind === null) {
        rows.push({ component, sales: ZERO, use: ZERO, source: null, estimated: false });
      }
    }
    return {
      sales: sumRates(rows.map((row) => row.sales)),
      use: sumRates(rows.map((row) => row.use)),
      rows,
    };
  }
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

/** Whether a place was told by its ZIP or its city's name, and not by a door or a spot. */
export function isByArea(precision: Precision): boolean {
  return precision === 'postal' || precision === 'city';
}
