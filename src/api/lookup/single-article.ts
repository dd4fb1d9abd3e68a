/**
 * The member `satTaxDetail` of v50: the tax on one expensive article where the state taxes it
 * specially (local tax up to a limit, an additional state tax on the bracket above). The dataset's
 * document "single-article" says where and how; without it there is no such member.
 */
import type { Engine } from '../../engine/engine.js';
import type { LookupQuery, SitusOutcome } from '../../engine/query.js';
import { formatRate, RATE_ONE, type Rate } from '../../tax/rate.js';
import { formatCents } from '../../tax/amount.js';
import type { WireObject } from '../../wire/tree.js';

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function taxOn(amount: bigint, rate: Rate): bigint {
  return (amount * BigInt(rate)) / BigInt(RATE_ONE);
}

/** All members are text. `appliedTotal` is the local and the additional state tax together. */
export function satTaxDetail(
  engine: Engine, query: LookupQuery, { area, date, rates }: SitusOutcome,
): WireObject | null {
  const total = query.options.satItemTotal;
  if (query.kind !== 'address' || total === null || total <= 0n) return null;
  const rule = engine.singleArticle(area.state, date);
  if (rule === null) return null;
  const stateRate = rates.rows.reduce((sum, { component, sales }) =>
    (component.level === 'state' ? sum + sales : sum), 0);
  const localRate = (rates.sales - stateRate) as Rate;
  const local = taxOn(least(total, rule.localLimit), localRate);
  const bracket = least(total, rule.bracketEnd) - rule.localLimit;
  const additional = bracket > 0n ? taxOn(bracket, rule.additionalRate) : 0n;
  return {
    appliedTotal: formatCents(local + additional),
    countyTaxRate: formatRate(localRate),
    localTaxLimit: formatCents(rule.localLimit),
    localTaxTotal: formatCents(local),
    stateAdditionalTaxTotal: formatCents(additional),
  };
}
