/** The single place where a tax area's components meet a date. */
import { RecentCache } from '../../base/recent-cache.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, ComponentRecord, RatePeriod } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import type { Level } from '../../tax/jurisdiction.js';
import { sumRates, type Rate } from '../../tax/rate.js';

/** What one jurisdiction levies on the day. */
export interface AreaRateRow {
  readonly component: ComponentRecord;
  readonly sales: Rate;
  readonly use: Rate;
  /** Index of the SourceRecord; null where the jurisdiction levies nothing on the day. */
  readonly source: number | null;
  readonly estimated: boolean;
}

/** The rates of an area on a day, in wire order: state, county, city, districts. */
export interface KnownRates {
  readonly sales: Rate;
  readonly use: Rate;
  readonly rows: readonly AreaRateRow[];
}

/** The combined rate cannot be told; the sentence names state, level and what would fill it. */
export interface UnknownRates {
  readonly unknown: string;
  readonly level: Level;
}

export type AreaRates = KnownRates | UnknownRates;

const ZERO = 0 as Rate;

/** Tells rates that can be printed from those that must be refused. */
export function isKnown(rates: AreaRates): rates is KnownRates {
  return 'rows' in rates;
}

/** The period a day lies in, or null. */
export function periodOn(periods: readonly RatePeriod[], date: DateInt): RatePeriod | null {
  for (const period of periods) {
    if (period.from <= date && date <= period.to) return period;
  }
  return null;
}

/**
 * Reads an area's rates on a day. State, county and city rows are there even at zero, since they
 * say where the place lies; a district that levies nothing on the day does not apply.
 */
export function areaRates(dataset: Dataset, area: AreaRecord, date: DateInt): AreaRates {
  for (const gap of area.unknown) {
    if (gap.from <= date && date <= gap.to) return { unknown: gap.reason, level: gap.level };
  }
  const rows: AreaRateRow[] = [];
  for (const id of area.components) {
    const component = dataset.component(id);
    const period = periodOn(component.periods, date);
    if (period !== null) {
      const { sales, use, source } = period;
      const { estimated } = dataset.source(source);
      rows.push({ component, sales, use, source, estimated });
    } else if (component.level !== 'district') {
      rows.push({ component, sales: ZERO, use: ZERO, source: null, estimated: false });
    }
  }
  return {
    sales: sumRates(rows.map((row) => row.sales)),
    use: sumRates(rows.map((row) => row.use)),
    rows,
  };
}

/** Areas kept, in each of two generations, with the last day asked for. */
const AREAS_MAX = 16_384;

interface Rated {
  readonly date: DateInt;
  readonly rates: AreaRates;
}

class RatesOf {
  readonly #dataset: Dataset;
  readonly #areas = new RecentCache<number, Rated>(AREAS_MAX);

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  is(dataset: Dataset): boolean {
    return this.#dataset === dataset;
  }

  at(area: number, date: DateInt): AreaRates {
    const known = this.#areas.get(area);
    if (known !== undefined && known.date === date) return known.rates;
    const rates = areaRates(this.#dataset, this.#dataset.area(area), date);
    this.#areas.set(area, { date, rates });
    return rates;
  }
}

const BY_DATASET = new WeakMap<Dataset, RatesOf>();
/** The one asked last, which is nearly always the one asked next. */
let last: RatesOf | null = null;

/** What `areaRates` says, computed once per area and day. */
export function ratesAt(dataset: Dataset, area: number, date: DateInt): AreaRates {
  if (last === null || !last.is(dataset)) {
    last = BY_DATASET.get(dataset) ?? new RatesOf(dataset);
    BY_DATASET.set(dataset, last);
  }
  return last.at(area, date);
}
