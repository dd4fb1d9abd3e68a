/** The member `explain` of version 60, an extension of this service. */
import type { Dataset } from '../../dataset/dataset.js';
import { explainLookup } from '../../engine/rate/explain.js';
import type { PostalOutcome, SitusOutcome } from '../../engine/lookup.js';
import type { LookupQuery } from '../../engine/query.js';
import { printMembers } from './fragment.js';
import type { WireObject } from '../../wire/tree.js';
import type { Format } from '../../wire/version.js';

/** The member as it stands in a body, or nothing where it was not asked for. */
export function explanation(
  dataset: Dataset, query: LookupQuery, outcome: SitusOutcome | PostalOutcome, format: Format,
): string {
  if (query.options.explain !== true) return '';
  // Plain values: what JSON makes of them is a tree.
  const explain: WireObject = JSON.parse(JSON.stringify(explainLookup(dataset, outcome)));
  return printMembers({ explain }, format);
}
