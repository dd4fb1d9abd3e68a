/**
 * How one kind of product is taxed in a state, and what rate follows from it.
 *
 * A row of the product table says whether the product is taxable and, in a column of its own, how
 * far that goes, since a rate or an exemption in a state's law often leaves local taxes alone:
 *
 * | scope  | the row holds for                        | local parts                           |
 * |--------|------------------------------------------|---------------------------------------|
 * | all    | the state and every local part alike     | as the row says, each at its own rate |
 * | total  | the whole: its rate is all that is taken | none besides                          |
 * | state  | the state part                           | at their ordinary rates               |
 * | varies | the state part                           | differ by place or are not recorded   |
 */
import type { DateInt } from './date.js';
import type { Rate } from './rate.js';

export const PRODUCT_SCOPES = ['all', 'total', 'state', 'varies'] as const;
type ProductScope = (typeof PRODUCT_SCOPES)[number];

/**
 * What a threshold in dollars does to an item: exempt below it (and taxed whole from it on), exempt
 * above it, or taxed on the part above it alone.
 */
export const THRESHOLD_KINDS = ['below_exempt', 'above_exempt', 'above_excess'] as const;
type ThresholdKind = (typeof THRESHOLD_KINDS)[number];

/** How sure a rule is: `medium` and up rest on a law that was read or is well known. */
export const CONFIDENCES = ['high', 'medium', 'low'] as const;
type Confidence = (typeof CONFIDENCES)[number];

/** What a rule rests on. */
export interface RuleBasis {
  /** Statute, rule or publication; "" where none is recorded. */
  readonly citation: string;
  readonly source: string;
  readonly asOf: DateInt | null;
  readonly confidence: Confidence;
  /** What the law requires beyond the kind of product, such as "for home use"; "" for nothing. */
  readonly condition: string;
}

/** How one kind of product is taxed. Amounts are in 10⁻⁹ dollars. */
export interface ProductRule {
  /** The code that the rule was made for: the first of its row. */
  readonly tic: string;
  readonly coversChildren: boolean;
  readonly taxable: boolean;
  /** A rate of the product's own; null where the ordinary rate holds. */
  readonly rate: Rate | null;
  readonly scope: ProductScope;
  readonly threshold: { readonly kind: ThresholdKind; readonly amount: bigint } | null;
  /** The part of the price that is taxed; null where the table says nothing. */
  readonly percentTaxable: Rate | null;
  readonly perVolume: { readonly amount: bigint; readonly unit: string } | null;
  readonly capPerUnit: bigint | null;
  /**
   * Whether the product is food or a drug in the sense of the food and drug columns of rate files.
   */
  readonly foodDrug: boolean;
  /** First and last day in force. Null where a day is not recorded, or the rule has no end. */
  readonly from: DateInt | null;
  readonly to: DateInt | null;
  /** First day that the row speaks for; null where it speaks for every day up to its last. */
  readonly heldFrom: DateInt | null;
  readonly basis: RuleBasis;
}

/** Goods without a code of their own. */
export const GENERAL = '00000';
/** Delivery charges: shipping alone, and handling. */
export const SHIPPING = '10001';
export const HANDLING = '11000';

/**
 * Whether a code's taxability follows from product rules alone; delivery charges have rules of
 * their own.
 */
export function isProduct(code: string): boolean {
  return code !== GENERAL && code !== SHIPPING && code !== HANDLING;
}

/** Ordinary sales-tax rates of a place. */
export interface OrdinaryRates {
  readonly state: Rate;
  readonly combined: Rate;
}

const EXEMPT = 0 as Rate;

/** Whether a rule speaks for the whole combined rate, or for the state part alone. */
export function isWhole({ scope }: ProductRule): boolean {
  return scope === 'all' || scope === 'total';
}

/**
 * The rate on the taxed part of an item, of what the rule speaks for: the whole combined rate or
 * the state's part. An exempt product has zero, a product with a rate of its own that rate, and any
 * other the ordinary rate, even where a threshold exempts part of the price or cheap items.
 */
export function effectiveRate(rule: ProductRule, { state, combined }: OrdinaryRates): Rate {
  if (!rule.taxable) return EXEMPT;
  if (rule.rate !== null) return rule.rate;
  return isWhole(rule) ? combined : state;
}

/** Whether a rule is in force; a start or end that is not recorded does not limit it. */
export function inForce(
  { from, to }: { readonly from: DateInt | null; readonly to: DateInt | null },
  date: DateInt,
): boolean {
  return (from === null || from <= date) && (to === null || date <= to);
}

/**
 * `standard`: five digits, the form of every Taxability Information Code. `override`: an operator's
 * own code, which contains a letter. `malformed`: digits alone, but not five.
 */
type CodeForm = 'standard' | 'override' | 'malformed';

const DIGITS = /^[0-9]+$/;
const STANDARD_CHARS = 5;

export function codeForm(code: string): CodeForm {
  if (!DIGITS.test(code)) return 'override';
  return code.length === STANDARD_CHARS ? 'standard' : 'malformed';
}

/** Whether a rule taxes a product exactly as general goods. */
export function isPlain(rule: ProductRule | null): boolean {
  return (
    rule === null ||
    (rule.taxable &&
      rule.rate === null &&
      rule.threshold === null &&
      rule.percentTaxable === null &&
      rule.capPerUnit === null &&
      rule.perVolume === null &&
      isWhole(rule))
  );
}

/** Whether a rule exempts the parts that it speaks for at any price. */
export function isExempt(rule: ProductRule | null): boolean {
  return rule !== null && !rule.taxable && rule.perVolume === null;
}
