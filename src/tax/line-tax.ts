/**
 * The exact tax of one line. Units: prices in 10⁻⁹ dollars, quantities in 10⁻⁴, rates in parts per
 * billion; so price × quantity is in 10⁻¹³ dollars, a taxed base in 10⁻²² and a tax in 10⁻³¹.
 */
import type { ProductRule } from './product-rule.js';
import { RATE_ONE } from './rate.js';

/** Decimal places of a dollar in each unit. */
export const GROSS_DIGITS = 13;
export const BASE_DIGITS = 22;
export const TAX_DIGITS = 31;

const ONE = BigInt(RATE_ONE);
/** 10⁻⁹ dollars in 10⁻²⁷, the unit of a tax on one item. */
const UNIT_TAX = 1_000_000_000_000_000_000n;

/** Rates by what they are levied on; parts per billion. */
export interface LineRates {
  /** On the whole price: the state's part and all others. */
  readonly plainState: bigint;
  readonly plainLocal: bigint;
  /** On what the product rule leaves of it. */
  readonly ruledState: bigint;
  readonly ruledLocal: bigint;
}

/** A tax on one expensive article: local taxes end at a limit, an additional one begins there. */
export interface ArticleBracket {
  readonly localLimit: bigint;
  readonly bracketEnd: bigint;
  readonly additionalRate: number;
}

/** Exact tax in 10⁻³¹ dollars. */
export interface ExactTax {
  readonly state: bigint;
  readonly local: bigint;
}

const NOTHING: ExactTax = { state: 0n, local: 0n };

/** The taxed part of an item's price by a product rule, in 10⁻¹⁸ dollars. */
export function ruledUnit(rule: ProductRule | null, price: bigint): bigint {
  if (rule === null) return price * ONE;
  const taxed = pastThreshold(rule, price);
  return taxed * (rule.percentTaxable === null ? ONE : BigInt(rule.percentTaxable));
}

function pastThreshold({ threshold }: ProductRule, price: bigint): bigint {
  if (threshold === null) return price;
  const { kind, amount } = threshold;
  switch (kind) {
    case 'below_exempt': return price < amount ? 0n : price;
    case 'above_exempt': return price > amount ? 0n : price;
    case 'above_excess': return price > amount ? price - amount : 0n;
  }
}

/** The taxed parts of an article's price, in 10⁻⁹ dollars. */
export function articleParts(
  { localLimit, bracketEnd }: ArticleBracket, price: bigint,
): { readonly local: bigint; readonly bracket: bigint } {
  const local = price < localLimit ? price : localLimit;
  const end = price < bracketEnd ? price : bracketEnd;
  return { local, bracket: end > localLimit ? end - localLimit : 0n };
}

/** What a cap leaves of the ruled parts of a tax on one item, the state's first; 10⁻²⁷ dollars. */
export function capped(rule: ProductRule | null, state: bigint, local: bigint): ExactTax {
  const cap = rule?.capPerUnit ?? null;
  if (cap === null) return { state, local };
  const most = cap * UNIT_TAX;
  if (state + local <= most) return { state, local };
  const first = state < most ? state : most;
  return { state: first, local: most - first };
}

/** A rule's tax on a unit of volume, 10⁻²⁷ dollars; an item counts as a unit of it. */
export function volumeTax(rule: ProductRule | null): bigint {
  return rule?.perVolume == null ? 0n : rule.perVolume.amount * UNIT_TAX;
}

/** The exact tax of `quantity` items at `price`. */
export function lineTax(
  rates: LineRates, rule: ProductRule | null, article: ArticleBracket | null, price: bigint,
  quantity: bigint,
): ExactTax {
  if (rule === null && article === null) {
    const { plainState, plainLocal } = rates;
    if (plainState === 0n && plainLocal === 0n) return NOTHING;
    const base = price * quantity * ONE;
    return { state: base * plainState, local: base * plainLocal };
  }
  const full = price * ONE;
  const unit = ruledUnit(rule, price);
  const ofRule = capped(rule, unit * rates.ruledState, unit * rates.ruledLocal);
  let state = full * rates.plainState + ofRule.state + volumeTax(rule);
  let local = full * rates.plainLocal + ofRule.local;
  if (article !== null) {
    const parts = articleParts(article, price);
    const limited = parts.local * ONE;
    local = limited * (rates.plainLocal + rates.ruledLocal);
    state += parts.bracket * ONE * BigInt(article.additionalRate);
  }
  return { state: state * quantity, local: local * quantity };
}
