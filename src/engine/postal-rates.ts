/** Comparing the tax areas that a ZIP or a city's name leads to. */
import type { AreaRecord } from '../dataset/records.js';
import type { Dataset } from '../dataset/dataset.js';
import type { DateInt } from '../tax/date.js';
import { areaRates, isKnown } from './area-rates.js';

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
