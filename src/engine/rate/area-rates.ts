/** The single place where a tax area's components meet a date. */
import { NumberCache, RecentCache } from '../../base/recent-cache.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { ComponentRecord, RatePeriod } from '../../dataset/records.js';
import { fail, type Failure } from '../../failure.js';
import { DATE_OPEN, type DateInt } from '../../tax/date.js';
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
   * district that levies nothing on the day does not apply.
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
}
