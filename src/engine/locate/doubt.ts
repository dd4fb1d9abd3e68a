/**
 * Doubts about a door that only part of the evidence supports: where the rest of it leads to a
 * place whose streets are not held, a street of the same name may be there.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import { areaRates, isKnown } from '../rate/area-rates.js';
import { findCity } from './gazetteer.js';
import type { Query } from './search.js';

/** Parts below this share of a ZIP's doors are slivers (0.5 %). */
const SLIVER_PPM = 5_000;

/** Which evidence the door has: all that was given, the city without the ZIP, or the reverse. */
export type Support = 'agreed' | 'elsewhere' | 'foreign';

/**
 * Whether a door's tax area is to be doubted: the places that it might lie in instead cannot be
 * ruled out and are not taxed alike on the day.
 */
export function isDoubtful(
  dataset: Dataset,
  query: Query,
  support: Support,
  area: number,
  dateOf: (state: string) => DateInt,
): boolean {
  const { reading, state, zip, zipRecord } = query;
  if (support === 'agreed' && (zip > 0 || reading.city === '')) return false;
  const city = reading.city === '' ? null : findCity(dataset, state, reading.city);
  let others: readonly number[];
  if (support === 'elsewhere') {
    // A covered ZIP that the city does not have is a slip; any other may have the street.
    if (city?.zips.includes(zip) !== true && dataset.streets.hasZip(state, zip)) return false;
    others = (zipRecord?.parts ?? [])
      .filter((part) => part.weight === null || part.weight >= SLIVER_PPM)
      .map((part) => part.area);
    if (others.length === 0) return true;
  } else {
    // Without a ZIP, the municipality's own list of doors rules out what is not on it.
    const covered = query.localities.some((locality) => locality.isMunicipality);
    if ((covered && support === 'agreed') || city === null || city.areas.length === 0) return false;
    others = city.areas;
  }
  if (others.includes(area)) return false;
  if (others.some((other) => isSamePlace(dataset, area, other))) return false;
  return !areTaxedAlike(dataset, [area, ...others], dateOf);
}

/** Two areas of one city: a district or a county line within it makes no doubt about the city. */
function isSamePlace(dataset: Dataset, one: number, other: number): boolean {
  const { placeGeoid } = dataset.area(one);
  return placeGeoid !== '' && placeGeoid === dataset.area(other).placeGeoid;
}

function areTaxedAlike(
  dataset: Dataset,
  areas: readonly number[],
  dateOf: (state: string) => DateInt,
): boolean {
  const candidates = areas.map((id): Candidate => {
    const area = dataset.area(id);
    return { area, city: '', incorporated: area.incorporated };
  });
  return compareRates(dataset, candidates, dateOf).outcome === 'equal';
}

/** A tax area that an address may lie in. */
export interface Candidate {
  readonly area: AreaRecord;
  /** Upper-case name of the row. */
  readonly city: string;
  readonly incorporated: boolean;
}

/** `equal`: every area's sales and use totals are known and the same. */
export type Comparison =
  | { readonly outcome: 'equal' }
  | { readonly outcome: 'different' }
  | { readonly outcome: 'unknown'; readonly reason: string; readonly all: boolean };

/**
 * Compares totals on the day at each area's state. Rows may differ where totals are equal. An area
 * that is unknown on the day equals no other, unless it is the only one.
 */
export function compareRates(
  dataset: Dataset,
  candidates: readonly Candidate[],
  dateOf: (state: string) => DateInt,
): Comparison {
  if (new Set(candidates.map((candidate) => candidate.area.id)).size <= 1) {
    return { outcome: 'equal' };
  }
  const gaps: string[] = [];
  const totals = new Set<string>();
  for (const { area } of candidates) {
    const rates = areaRates(dataset, area, dateOf(area.state));
    if (isKnown(rates)) totals.add(`${rates.sales}|${rates.use}`);
    else gaps.push(rates.unknown);
  }
  const [reason] = gaps;
  if (reason !== undefined) return { outcome: 'unknown', reason, all: totals.size === 0 };
  return { outcome: totals.size <= 1 ? 'equal' : 'different' };
}
