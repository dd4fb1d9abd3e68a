/** The exact tax of one line, and the part that each levy has in it. */
import { type Exact, times } from './exact.js';
import type { ProductRule } from './product-rule.js';
import { RATE_ONE, type Rate } from './rate.js';
import { COARSE, FINE, type LineTax, wholeCents } from './scale.js';

const ONE = BigInt(RATE_ONE);
const PARTS_PER_MILLIONTH = 1_000;
/** A tax of 10⁻⁹ dollars on one item, in units of FINE before the decimals of the quantity. */
const UNIT_TAX = 10n ** 18n;

/**
 * What a levy takes of an item whose price is above a threshold (10⁻⁹ dollars). `portion`: its own
 * rate on the price up to the threshold, the tier's rate on the rest. `whole`: the tier's rate on
 * the whole price.
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
  /** The levy is the state's: a rule or a holiday may exempt the state's part alone. */
  readonly ofState: boolean;
  /**
   * Whether the product rule's threshold, share and cap apply to this levy. If not, it taxes the
   * whole price.
   */
  readonly ruled: boolean;
  /**
   * Whether this is the additional tax on a single article, which applies above the limit of local
   * taxes.
   */
  readonly bracket: boolean;
  /**
   * A different rate above a price; null where the rate is the same at every price. A ruled levy
   * has none.
   */
  readonly tier: PriceTier | null;
}

/**
 * A tax on one expensive article: local taxes end at a limit, and an additional tax begins there.
 */
export interface ArticleBracket {
  readonly localLimit: bigint;
  readonly bracketEnd: bigint;
  readonly additionalRate: number;
}

/** Sums of the levies' rates in millionths, one for the state and one for all others. */
interface CoarseRates {
  readonly state: number;
  readonly local: number;
}

/** How lines of a kind are taxed. */
export interface LineRule<Levy extends LineLevy = LineLevy> {
  /** The jurisdiction that covers the most comes first. */
  readonly levies: readonly Levy[];
  /** The product rule, where it changes what is taxed; null where the whole price is. */
  readonly shape: ProductRule | null;
  /** Null where no single-article tax applies. */
  readonly single: ArticleBracket | null;
  /**
   * The rates for the cheaper calculation in COARSE; null where a levy does not tax the whole
   * price, or a rate is too fine.
   */
  readonly coarse: CoarseRates | null;
  /** Highest price of an item, in 10⁻⁹ dollars, at which no levy's tier applies. */
  readonly tierless: number;
}

/** What a holiday takes from a line. */
export type HolidayReach = 'none' | 'state' | 'all';

/** Receives the part of each levy in FINE: tax = base × rate + fixed. */
type PartVisitor<Levy extends LineLevy> = (levy: Levy, base: bigint, fixed: bigint) => void;

/**
 * The rates for the calculation in COARSE of levies that all tax the whole price; null where a rate
 * is finer than a millionth.
 */
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

/** The lowest threshold of the levies' tiers; the largest safe integer where no levy has a tier. */
export function tierlessOf(levies: readonly LineLevy[]): number {
  return levies.reduce(
    (lowest, { tier }) => (tier === null ? lowest : Math.min(lowest, Number(tier.threshold))),
    Number.MAX_SAFE_INTEGER,
  );
}

/**
 * The part of a levy on an item priced above its tier's threshold; `whole` is an item's price of 1.
 */
function tierPart({ kind, threshold, rate }: PriceTier, price: bigint, whole: bigint): Part {
  const own = kind === 'portion' ? threshold : 0n;
  return { base: own * whole, fixed: (price - own) * whole * BigInt(rate) };
}

/** Calculates the parts of a line in FINE. The levies have to be passed in their order. */
class Parts {
  readonly #rule: LineRule;
  readonly #full: bigint;
  readonly #ruled: bigint;
  readonly #local: bigint;
  readonly #bracket: bigint;
  readonly #price: bigint;
  readonly #whole: bigint;
  /**
   * What the product's cap leaves for the levies that follow; null where the tax does not reach the
   * cap.
   */
  #left: bigint | null;
  /** The tax by volume; it goes to the first levy of the state, and is 0 after that. */
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
    // Each item counts as one unit of volume.
    this.#volume = (shape?.perVolume?.amount ?? 0n) * UNIT_TAX * quantity;
  }

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
    // The widest jurisdictions come first, so they share in the cap first.
    const fixed = least(this.#ruled * BigInt(rate), this.#left);
    this.#left -= fixed;
    return { base: 0n, fixed: fixed + volume };
  }
}

/**
 * The exact tax of `quantity` (10⁻⁴) items at `price` (10⁻⁹ dollars): the sum of the levies' parts,
 * each of which is also passed to `visit`.
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
      // All levies have the same base here, so the sum of their rates gives the sum of their parts.
      const gross = times(cents, quantity);
      const { state, local } = coarse;
      return { scale: COARSE, gross, state: times(gross, state), local: times(gross, local) };
    }
  }
  return addedUp(rule, BigInt(price), BigInt(quantity), reach, null);
}

/** Passes each of the parts that `lineTax` adds up to `visit`. */
export function lineParts<Levy extends LineLevy>(
  rule: LineRule<Levy>,
  price: Exact,
  quantity: number,
  reach: HolidayReach,
  visit: PartVisitor<Levy>,
): void {
  addedUp(rule, BigInt(price), BigInt(quantity), reach, visit);
}
