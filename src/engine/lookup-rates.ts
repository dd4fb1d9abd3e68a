/** Rates by area and day, remembered: most lookups of a day ask for areas already resolved. */
import type { Dataset } from '../dataset/dataset.js';
import { RecentCache } from '../dataset/recent-cache.js';
import type { DateInt } from '../tax/date.js';
import { areaRates, type AreaRates } from './area-rates.js';

/** Area and day pairs kept a dataset. */
const RATES_MAX = 16_384;
/** Beyond every YYYYMMDD. */
const DATE_SPAN = 100_000_000;

const CACHES = new WeakMap<Dataset, RecentCache<number, AreaRates>>();

/** What `areaRates` says, computed once per area and day. */
export function ratesAt(dataset: Dataset, area: number, date: DateInt): AreaRates {
  let cache = CACHES.get(dataset);
  if (cache === undefined) {
    cache = new RecentCache(RATES_MAX);
    CACHES.set(dataset, cache);
  }
  const key = area * DATE_SPAN + date;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const rates = areaRates(dataset, dataset.area(area), date);
  cache.set(key, rates);
  return rates;
}
