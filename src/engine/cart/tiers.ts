/** Taxes that end or change above a price of one item: caps, second levels, luxury rates. */
import { formatUsd } from '../../tax/amount.js';
import type { PriceTier } from '../../tax/line-tax.js';
import { inForce } from '../../tax/product-rule.js';
import type { CartFacts, TierFact } from './cart-facts.js';
import type { Site, SiteRow } from './site.js';
import type { Levy } from './treatment.js';

/** The tier has a price above which another rule holds, and the dataset does not hold that rule. */
export interface UnknownTier {
  readonly threshold: bigint;
  readonly why: string;
}

/** Levies with their tiers. */
export interface Tiered {
  readonly levies: readonly Levy[];
  /** Rows that a tier was taken from. */
  readonly used: readonly TierFact[];
  readonly unknown: UnknownTier | null;
}

function isFor({ tics, except }: TierFact, tic: string): boolean {
  return tics.length > 0 ? tics.includes(tic) : !except.some((code) => tic.startsWith(code));
}

function isOf({ level, code }: TierFact, { row, area }: SiteRow): boolean {
  if (row.component.level !== level) return false;
  return code === '' || code === area.placeGeoid || code === area.stateFips + area.countyFips;
}

function tierOf({ kind, threshold, rate }: TierFact): PriceTier | null {
  return kind === 'unknown' ? null : { kind, threshold, rate };
}

/** Adds the tiers of a state's rows to levies on the whole price. */
export function tiered(
  facts: CartFacts, { state, date }: Site, tic: string, levies: readonly Levy[],
): Tiered {
  const rows = (facts.tiers.get(state.code) ?? [])
    .filter((fact) => inForce(fact, date) && isFor(fact, tic));
  if (rows.length === 0) return { levies, used: [], unknown: null };
  const used: TierFact[] = [];
  let unknown: UnknownTier | null = null;
  const out = levies.map((levy) => {
    const { site, ruled } = levy;
    const fact = site === null || ruled ? undefined : rows.find((row) => isOf(row, site));
    if (fact === undefined) return levy;
    used.push(fact);
    if (fact.kind === 'unknown') {
      const why = `How ${state.name} taxes ${tic} above $${formatUsd(fact.threshold)} an item is `
        + 'not held: a code that says more of the goods would tell.';
      unknown = { threshold: fact.threshold, why };
    }
    return { ...levy, tier: tierOf(fact) };
  });
  return { levies: out, used, unknown };
}
