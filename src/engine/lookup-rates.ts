/** Rates by area and day, remembered: most lookups of a day ask for areas already resolved. */
import type { Dataset } from '../dataset/dataset.js';
import { SlotCache } from '../dataset/slot-cache.js';
import type { DateInt } from '../tax/date.js';
import { areaRates, type AreaRates } from './area-rates.js';

/** Areas kept a dataset, each with the last day asked for; a power of two. */
const AREAS_MAX = 32_768;

interface Rated {
  readonly date: DateInt;
  readonly rates: AreaRates;
}

class RatesOf {
  readonly #dataset: Dataset;
  readonly #areas = new SlotCache<Rated>(AREAS_MAX);

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
