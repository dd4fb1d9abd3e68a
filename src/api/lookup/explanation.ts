/** The member `explain` of version 60, an extension of this service. */
import type { Engine } from '../../engine/engine.js';
import type { LookupQuery, PostalOutcome, SitusOutcome } from '../../engine/query.js';
import { printMembers } from './fragment.js';
import type { WireObject } from '../../wire/tree.js';
import type { Format } from '../../wire/version.js';

/** The member as it stands in a body, or nothing where it was not asked for. */
export function explanation(
  engine: Engine, query: LookupQuery, outcome: SitusOutcome | PostalOutcome, format: Format,
): string {
  if (query.options.explain !== true) return '';
  // Plain values: what JSON makes of them is a tree.
  const explain: WireObject = JSON.parse(JSON.stringify(engine.explain(outcome)));
  return printMembers({ explain }, format);
}
