/**
 * The member `satTaxDetail` of v50: the tax on one expensive article where the state taxes it
 * specially (local tax up to a limit, an additional state tax on the bracket above). The dataset's
 * document "single-article" says where and how; without it there is no such member.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { SitusOutcome } from '../../engine/lookup.js';
import type { LookupQuery } from '../../engine/query.js';
import { parseDate, DATE_MIN, DATE_OPEN, type DateInt } from '../../tax/date.js';
import { formatRate, parseRate, RATE_ONE, type Rate } from '../../tax/rate.js';
import { formatCents, parseDollars } from '../../wire/amount.js';
import type { WireObject } from '../../wire/tree.js';

/** Name of the document. */
export const SINGLE_ARTICLE = 'single-article';

/** The rule on a day, amounts in 10⁻⁹ dollars. */
interface SingleArticleRule {
  readonly localLimit: bigint;
  readonly bracketEnd: bigint;
  readonly additionalRate: Rate;
}

type Cells = Readonly<Record<string, unknown>>;

function isCells(value: unknown): value is Cells {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function cell(row: Cells, name: string): string {
  const value = row[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/**
 * Reads the rule for a state and day from rows of state, item, value, effective_from and
 * effective_to; null when an item is not held for that state and day.
 */
function ruleOn(document: unknown, state: string, date: DateInt): SingleArticleRule | null {
  const rows = (Array.isArray(document) ? document : []).filter(isCells)
    .filter((row) => row['state'] === state);
  const worth = (item: string): string => {
    const row = rows.find((each) => cell(each, 'item') === item
      && (parseDate(cell(each, 'effective_from')) ?? DATE_MIN) <= date
      && date <= (parseDate(cell(each, 'effective_to')) ?? DATE_OPEN));
    return row === undefined ? '' : cell(row, 'value');
  };
  const localLimit = parseDollars(worth('local_tax_applies_to_first_usd'));
  const bracketEnd = parseDollars(worth('single_article_to_usd'));
  const additionalRate = parseRate(worth('state_single_article_rate'));
  if (localLimit === null || bracketEnd === null || additionalRate === null) return null;
  return { localLimit, bracketEnd, additionalRate };
}

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function taxOn(amount: bigint, rate: Rate): bigint {
  return (amount * BigInt(rate)) / BigInt(RATE_ONE);
}

/** All members are text. `appliedTotal` is the local and the additional state tax together. */
export function satTaxDetail(
  dataset: Dataset, query: LookupQuery, { area, date, rates }: SitusOutcome,
): WireObject | null {
  const total = query.options.satItemTotal;
  if (query.kind !== 'address' || total === null || total <= 0n) return null;
  const rule = ruleOn(dataset.document(SINGLE_ARTICLE), area.state, date);
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
