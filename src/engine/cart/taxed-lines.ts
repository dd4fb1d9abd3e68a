/** The exact tax of a cart's lines, goods first, since delivery charges follow them. */
import type { StateRuleRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { type Exact, plus } from '../../tax/exact.js';
import {
  COARSE,
  FINE,
  lineTax,
  ruledUnit,
  type HolidayReach,
  type Scale,
} from '../../tax/line-tax.js';
import { GENERAL, HANDLING, SHIPPING } from '../../tax/product-rule.js';
import { RATE_ONE } from '../../tax/rate.js';
import { exactTax, type ExactLine } from '../../tax/round-lines.js';
import { type CartFacts, factOn, type FreightMix } from './cart-facts.js';
import type { Holiday } from './holidays.js';
import type { CartLine } from './cart-query.js';
import type { Site } from './site.js';
import type { Treatment, Treatments } from './treatment.js';

/** The exact tax of a line, and what it follows from. */
export interface TaxedLine extends ExactLine {
  /** Null for a delivery charge. */
  readonly treatment: Treatment | null;
  readonly holiday: Holiday | null;
  readonly reach: HolidayReach;
  readonly freight: FreightCharge | null;
  /** The rate in parts per billion where it is the same at every price; else null. */
  readonly flat: number | null;
}

/** How a delivery charge was taxed. */
export type FreightCharge = 'exempt' | 'ordinary' | 'as-goods' | 'whole';

/** Goods of a cart together, for the delivery charges. */
export interface GoodsTotal {
  /** In FINE. */
  readonly gross: bigint;
  readonly state: bigint;
  readonly local: bigint;
  /** Whether the goods are taxed at shares of their price that differ from one to another. */
  readonly mixed: boolean;
}

const ONE = BigInt(RATE_ONE);

/** Shipping (10001) and handling (11000); the provider's shipping codes are ordinary codes. */
export function isFreight({ tic }: CartLine): boolean {
  return tic === SHIPPING || tic === HANDLING;
}

interface Holidays {
  readonly holiday: Holiday | null;
  readonly reach: HolidayReach;
  readonly unknown: string;
}

const NO_HOLIDAY: Holidays = { holiday: null, reach: 'none', unknown: '' };

/** Whether a holiday's limit leaves room for a price; null where the law's words are not held. */
function isWithin({ limit, limitKind, limitsHeld }: Holiday, price: bigint): boolean | null {
  if (!limitsHeld) return null;
  if (limit === null || price < limit) return true;
  if (price > limit || limitKind === 'under') return false;
  return limitKind === null ? null : true;
}

/** The holiday that an item of a price has; unknown where its limits or its codes are not held. */
function holidayOf({ tic, holidays, unclearHolidays }: Treatment, price: bigint): Holidays {
  for (const holiday of holidays) {
    const { name, limitsHeld, scope } = holiday;
    const within = isWithin(holiday, price);
    if (within === null) {
      const unknown = limitsHeld
        ? `Whether "${name}" covers its own limit is not held.`
        : `The price limits of "${name}" are not held.`;
      return { ...NO_HOLIDAY, unknown };
    }
    if (within) return { holiday, reach: scope === 'all' ? 'all' : 'state', unknown: '' };
  }
  const unclear = unclearHolidays.find((holiday) => isWithin(holiday, price) !== false);
  return unclear === undefined
    ? NO_HOLIDAY
    : { ...NO_HOLIDAY, unknown: `Whether "${unclear.name}" is for ${tic} is not held.` };
}

/** Whether a rule changes nothing for an item of this price. */
function isIdle({ rule }: Treatment, price: bigint): boolean {
  return (
    rule !== null &&
    rule.taxable &&
    rule.threshold !== null &&
    rule.rate === null &&
    ruledUnit(rule, price) === price * ONE
  );
}

/** Refuses a line: a rate or rule that its amount depends on is not known. */
function untold(why: string): Failure {
  return fail('no-result', why);
}

/** The exact tax of items that are treated alike. */
function taxTreated(treatment: Treatment, { price, quantity }: CartLine): TaxedLine | Failure {
  let found = NO_HOLIDAY;
  if (!treatment.sure) {
    const { unknown, unknownLocals } = treatment;
    if (price > 0n && quantity > 0) {
      if (unknown !== '') return untold(unknown);
      if (unknownLocals !== '' && !isIdle(treatment, price)) return untold(unknownLocals);
      const { unknownTier: tier } = treatment;
      if (tier !== null && price > tier.threshold) return untold(tier.why);
    }
    found = holidayOf(treatment, price);
  }
  const { holiday, reach } = found;
  const { scale, gross, state, local } = lineTax(treatment, price, quantity, reach);
  if (found.unknown !== '' && (state > 0 || local > 0)) return untold(found.unknown);
  if (holiday?.scope === 'varies' && local > 0) {
    return untold(
      `Whether local taxes take part in "${holiday.name}" differs by place and is not ` + 'held.',
    );
  }
  return {
    scale,
    gross,
    state,
    local,
    denominator: 1n,
    treatment,
    holiday,
    reach,
    freight: null,
    flat: reach === 'none' && price <= treatment.tierless ? treatment.flat : null,
  };
}

/** Whether two lines are taxed at different shares of their price. */
function differ(one: TaxedLine, other: TaxedLine): boolean {
  if (one.flat !== null && other.flat !== null) return one.flat !== other.flat;
  const grossOf = ({ gross, scale }: TaxedLine): bigint => BigInt(gross) * scale.gross;
  return exactTax(one) * grossOf(other) !== exactTax(other) * grossOf(one);
}

/** Adds up the lines of a scale. */
function sumOf(lines: readonly (TaxedLine | null)[], scale: Scale): Omit<GoodsTotal, 'mixed'> {
  let gross: Exact = 0;
  let state: Exact = 0;
  let local: Exact = 0;
  for (const line of lines) {
    if (line === null || line.scale !== scale) continue;
    gross = plus(gross, line.gross);
    state = plus(state, line.state);
    local = plus(local, line.local);
  }
  return {
    gross: BigInt(gross) * scale.gross,
    state: BigInt(state) * scale.tax,
    local: BigInt(local) * scale.tax,
  };
}

/** Adds up goods; charges, of which nothing is known yet, are null. */
export function totalOf(lines: readonly (TaxedLine | null)[]): GoodsTotal {
  let first: TaxedLine | null = null;
  let mixed = false;
  for (const line of lines) {
    if (line === null || line.gross <= 0) continue;
    if (first === null) first = line;
    else mixed ||= differ(first, line);
  }
  const coarse = sumOf(lines, COARSE);
  const fine = sumOf(lines, FINE);
  return {
    gross: coarse.gross + fine.gross,
    state: coarse.state + fine.state,
    local: coarse.local + fine.local,
    mixed,
  };
}

/** A cart without goods: stands in where a charge does not follow the goods. */
export const NO_GOODS: GoodsTotal = { gross: 0n, state: 0n, local: 0n, mixed: false };

/** A delivery charge that is taxed at the goods' average share, or not at all. */
function freightLine(gross: bigint, freight: FreightCharge, goods: GoodsTotal): TaxedLine {
  return {
    scale: FINE,
    gross,
    state: gross * goods.state,
    local: gross * goods.local,
    denominator: goods.gross > 0n ? goods.gross : 1n,
    treatment: null,
    holiday: null,
    reach: 'none',
    freight,
    flat: freight === 'exempt' ? 0 : null,
  };
}

/** Taxes the lines of carts by the facts of one dataset. */
export class LineTaxer {
  readonly #facts: CartFacts;
  readonly #treatments: Treatments;

  constructor(facts: CartFacts, treatments: Treatments) {
    this.#facts = facts;
    this.#treatments = treatments;
  }

  /** The exact tax of goods or services. */
  goods(site: Site, line: CartLine): TaxedLine | Failure {
    return taxTreated(this.#treatments.of(site, line.tic ?? GENERAL), line);
  }

  /** Whether delivery charges are taxed by the goods of the cart, handling at least. */
  followsGoods({ rules, state, date }: Site): boolean {
    return (
      rules.freightRule === 'ITEM_SPECIFIC' ||
      factOn(this.#facts.handling, state.code, date)?.rule === 'ITEM_SPECIFIC'
    );
  }

  /** The fact on delivery charges for taxable and exempt goods together. */
  freightMix({ state, date }: Site): FreightMix | null {
    return factOn(this.#facts.freightMixes, state.code, date);
  }

  /**
   * The rule for a charge. Where shipping is exempt when it is stated separately, a law may still
   * tax handling: without a fact of its own nothing is told of it.
   */
  #chargeRule(
    { rules: { freightRule }, state, date }: Site,
    { tic }: CartLine,
  ): StateRuleRecord['freightRule'] | Failure {
    if (tic !== HANDLING) return freightRule;
    const own = factOn(this.#facts.handling, state.code, date)?.rule ?? null;
    if (own !== null) return own === 'AS_SHIPPING' ? freightRule : own;
    return freightRule === 'EXEMPT_WHEN_SEPARATELY_STATED' || freightRule === 'CONDITIONAL'
      ? untold(`How ${state.name} taxes charges for handling is not held.`)
      : freightRule;
  }

  /** How a state's rule treats a delivery charge that is a line of its own. */
  #charge(site: Site, line: CartLine, goods: GoodsTotal): FreightCharge | Failure {
    const rule = this.#chargeRule(site, line);
    if (typeof rule !== 'string') return rule;
    const taxable = site.rules.freightTaxable === 'Y' || line.tic === HANDLING;
    switch (rule) {
      case 'EXEMPT':
      // A charge that is a line of its own counts as stated separately on the invoice.
      case 'EXEMPT_WHEN_SEPARATELY_STATED':
        return 'exempt';
      case 'TAXABLE':
        return 'ordinary';
      case 'CONDITIONAL':
        return site.rules.freightTaxable === 'Y' ? 'ordinary' : 'exempt';
      case 'ITEM_SPECIFIC': {
        if (goods.gross === 0n) return taxable ? 'ordinary' : 'exempt';
        if (!goods.mixed) return 'as-goods';
        const mix = this.freightMix(site);
        if (mix !== null) return mix.mixed === 'whole' ? 'whole' : 'as-goods';
        return untold(
          `How ${site.state.name} taxes one delivery charge on goods that are taxed ` +
            'differently is not held: send the goods in carts of their own.',
        );
      }
    }
  }

  /** The exact tax of a delivery charge. */
  freight(site: Site, line: CartLine, goods: GoodsTotal): TaxedLine | Failure {
    const charge = this.#charge(site, line, goods);
    if (charge === 'ordinary' || charge === 'whole') {
      const tax = taxTreated(this.#treatments.ofCharge(site), line);
      if (isFailure(tax)) return tax;
      const ordinary = { ...tax, treatment: null, freight: charge };
      return charge === 'ordinary'
        ? ordinary
        : {
            ...ordinary,
            flat: null,
            state: goods.state > 0n ? tax.state : 0,
            local: goods.local > 0n ? tax.local : 0,
          };
    }
    const gross = line.price * BigInt(line.quantity);
    if (typeof charge !== 'string') {
      return gross > 0n ? charge : freightLine(gross, 'exempt', NO_GOODS);
    }
    return freightLine(gross, charge, charge === 'exempt' ? NO_GOODS : goods);
  }
}
