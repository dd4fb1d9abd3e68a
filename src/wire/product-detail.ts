/** The member `productDetail` of v60. */
import type { Dataset } from '../dataset/dataset.js';
import type { SitusOutcome } from '../engine/lookup.js';
import type { LookupQuery } from '../engine/query.js';
import type { WireObject } from './tree.js';

/** What the rules say of the taxability code asked for; null leaves the member out. */
export function productDetail(
  _dataset: Dataset, _query: LookupQuery, _outcome: SitusOutcome,
): WireObject | null {
  return null;
}
