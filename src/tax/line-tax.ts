/** The exact tax of one line: of every levy its part, and their sum. */
import { type Exact, times } from './exact.js';
import type { ProductRule } from './product-rule.js';
import { RATE_ONE, type Rate } from './rate.js';
import { COARSE, FINE, type LineTax, wholeCents } from './scale.js';

const ONE = BigInt(RATE_ONE);
const PARTS_PER_MILLIONTH = 1_000;
/** A tax on one item in FINE, before the decimals of the quantity, from 10⁻⁹ dollars. */
const UNIT_TAX = 10n ** 18n;

/**
 * What a levy takes of an item whose price is above a threshold (10⁻⁹ dollars): its own rate on the
 * part up to it and another on the rest (`portion`), or another on the whole price (`whole`).
 */
export interface PriceTier {
  readonly kind: 'portion' | 'whole';
  readonly threshold: bigint;
  readonly rate: Rate;
}

/** A rate on a line. */
export interface LineLevy {
  /** Parts per billion. */
  readonly rate: Rate;
  /** Of the state, whose part a rule or a holiday may exempt alone. */
  readonly ofState: boolean;
  /** The product rule's threshold, share and cap shape its base; else the whole price is taxed. */
  readonly ruled: boolean;
  /** The additional tax on a single article, above the limit of local taxes. */
  readonly bracket: boolean;
  /** Null where the rate is the same at every price; a ruled levy has none. */
  readonly tier: PriceTier | null;
}

/** A tax on one expensive article: local taxes end at a limit, an additional one begins there. */
export interface ArticleBracket {
  readonly localLimit: bigint;
  readonly bracketEnd: bigint;
  readonly additionalRate: number;
}

/** Sums of the levies' rates in millionths: of the state, and of all others. */
interface CoarseRates {
  readonly state: number;
  readonly local: number;
}

/** How lines of a kind are taxed. */
export interface LineRule<Levy extends LineLevy = LineLevy> {
  /** Widest jurisdiction first. */
  readonly levies: readonly Levy[];
  /** The product rule where it shapes the base; null where the whole price is taxed. */
  readonly shape: ProductRule | null;
  /** Null where no single-article tax applies. */
  readonly single: ArticleBracket | null;
  /** Null where a levy is on less than the whole price, or a rate is finer than COARSE. */
  readonly coarse: CoarseRates | null;
  /** Highest price of an item that no levy has a tier for, 10⁻⁹ dollars. */
  readonly tierless: number;
}

/** What a holiday takes from a line. */
export type HolidayReach = 'none' | 'state' | 'all';

/** Is told the part of every levy in FINE: tax = base × rate + fixed. */
type PartVisitor<Levy extends LineLevy> = (levy: Levy, base: bigint, fixed: bigint) => void;

/** The rates of levies on the whole price in COARSE; null where one of them is finer. */
export function coarseRates(levies: readonly LineLevy[]): CoarseRates | null {
  let state = 0;
  let local = 0;
  for (const { rate, ofState } of levies) {
    if (rate % PARTS_PER_MILLIONTH !== 0) return null;
    if (ofState) state += rate / PARTS_PER_MILLIONTH;
    else local += rate / PARTS_PER_MILLIONTH;
  }
  return { state, local };
}

/** The taxed part of an item's price by a product rule, in 10⁻¹⁸ dollars. */
export function ruledUnit(rule: ProductRule, price: bigint): bigint {
  const { percentTaxable } = rule;
  return pastThreshold(rule, price) * (percentTaxable === null ? ONE : BigInt(percentTaxable));
}

function pastThreshold({ threshold }: ProductRule, price: bigint): bigint {
  if (threshold === null) return price;
  const { kind, amount } = threshold;
  switch (kind) {
    case 'below_exempt':
      return price < amount ? 0n : price;
    case 'above_exempt':
      return price > amount ? 0n : price;
    case 'above_excess':
      return price > amount ? price - amount : 0n;
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

interface Part {
  readonly base: bigint;
  readonly fixed: bigint;
}

/** The lowest threshold of levies; the largest safe integer where none has a tier. */
export function tierlessOf(levies: readonly LineLevy[]): number {
  return levies.reduce(
    (lowest, { tier }) => (tier === null ? lowest : Math.min(lowest, Number(tier.threshold))),
    Number.MAX_SAFE_INTEGER,
  );
}

/** The part of a levy on an item above its tier's threshold; `whole` is one item's price of 1. */
function tierPart({ kind, threshold, rate }: PriceTier, price: bigint, whole: bigint): Part {
  const own = kind === 'portion' ? threshold : 0n;
  return { base: own * whole, fixed: (price - own) * whole * BigInt(rate) };
}

/** The parts of a line, levy by levy; in FINE. */
class Parts {
  readonly #rule: LineRule;
  readonly #full: bigint;
  readonly #ruled: bigint;
  readonly #local: bigint;
  readonly #bracket: bigint;
  readonly #price: bigint;
  readonly #whole: bigint;
  /** What the cap leaves to the levies to come; null where it is not reached. */
  #left: bigint | null;
  /** The tax by volume, until a levy of the state has it. */
  #volume: bigint;

  constructor(rule: LineRule, price: bigint, quantity: bigint) {
    const { shape, single, levies } = rule;
    const whole = ONE * quantity;
    this.#rule = rule;
    this.#price = price;
    this.#whole = whole;
    this.#full = price * whole;
    this.#ruled = shape === null ? this.#full : ruledUnit(shape, price) * quantity;
    const localLimit = single?.localLimit ?? price;
    const end = least(price, single?.bracketEnd ?? price);
    this.#local = least(price, localLimit) * whole;
    this.#bracket = end > localLimit ? (end - localLimit) * whole : 0n;
    const rate = levies.reduce((sum, levy) => sum + (levy.ruled ? levy.rate : 0), 0);
    const cap = shape?.capPerUnit ?? null;
    const most = cap === null ? null : cap * UNIT_TAX * quantity;
    this.#left = most !== null && this.#ruled * BigInt(rate) > most ? most : null;
    // An item counts as a unit of volume.
    this.#volume = (shape?.perVolume?.amount ?? 0n) * UNIT_TAX * quantity;
  }

  /** The part of the next levy. */
  next({ rate, ofState, ruled, bracket, tier }: LineLevy): Part {
    if (tier !== null && this.#price > tier.threshold) {
      return tierPart(tier, this.#price, this.#whole);
    }
    if (this.#rule.single !== null && (bracket || !ofState)) {
      return { base: bracket ? this.#bracket : this.#local, fixed: 0n };
    }
    const volume = ofState ? this.#volume : 0n;
    if (ofState) this.#volume = 0n;
    if (!ruled) return { base: this.#full, fixed: volume };
    if (this.#left === null) return { base: this.#ruled, fixed: volume };
    // What a cap leaves goes to the widest jurisdictions first.
    const fixed = least(this.#ruled * BigInt(rate), this.#left);
    this.#left -= fixed;
    return { base: 0n, fixed: fixed + volume };
  }
}

/**
 * The exact tax of `quantity` (10⁻⁴) items at `price` (10⁻⁹ dollars): the sum of the levies' parts,
 * which `visit` is told one by one.
 */
function addedUp<Levy extends LineLevy>(
  rule: LineRule<Levy>,
  price: bigint,
  quantity: bigint,
  reach: HolidayReach,
  visit: PartVisitor<Levy> | null,
): LineTax {
  const parts = new Parts(rule, price, quantity);
  let state = 0n;
  let local = 0n;
  for (const levy of rule.levies) {
    let { base, fixed } = parts.next(levy);
    if (reach === 'all' || (reach === 'state' && levy.ofState)) base = fixed = 0n;
    const tax = base * BigInt(levy.rate) + fixed;
    if (levy.ofState) state += tax;
    else local += tax;
    if (visit !== null) visit(levy, base, fixed);
  }
  return { scale: FINE, gross: price * quantity, state, local };
}

/** The exact tax of `quantity` (10⁻⁴) items at `price` (10⁻⁹ dollars). */
export function lineTax(
  rule: LineRule,
  price: Exact,
  quantity: number,
  reach: HolidayReach,
): LineTax {
  const { coarse } = rule;
  if (coarse !== null && reach === 'none' && price <= rule.tierless) {
    const cents = wholeCents(price);
    if (cents !== null) {
      // The parts of levies on one base add up to that base times the sum of their rates.
      const gross = times(cents, quantity);
      const { state, local } = coarse;
      return { scale: COARSE, gross, state: times(gross, state), local: times(gross, local) };
    }
  }
  return addedUp(rule, BigInt(price), BigInt(quantity), reach, null);
}

/** Tells the parts that `lineTax` is the sum of. */
export function lineParts<Levy extends LineLevy>(
  rule: LineRule<Levy>,
  price: Exact,
  quantity: number,
  reach: HolidayReach,
  visit: PartVisitor<Levy>,
): void {
  addedUp(rule, BigInt(price), BigInt(quantity), reach, visit);
}
