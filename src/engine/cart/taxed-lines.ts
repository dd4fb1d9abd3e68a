/**
 * The exact tax and the rate of a cart's lines; goods come first, since delivery charges depend on
 * them.
 */
import type { StateRuleRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { Exact } from '../../tax/exact.js';
import { lineTax, ruledUnit, type HolidayReach } from '../../tax/line-tax.js';
import { sharedTax } from '../../tax/shared-tax.js';
import { GENERAL, HANDLING, SHIPPING } from '../../tax/product-rule.js';
import { RATE_ONE, type Rate } from '../../tax/rate.js';
import { fiveDecimals, roundRate } from '../../tax/round-lines.js';
import { type CartFacts, factOn, type FreightMix } from './cart-facts.js';
import { bentByDelivery, overLimit } from './delivered-price.js';
import { type Holiday, isWithin } from './holidays.js';
import { type CartLine, QUANTITY_ONE } from './outcome.js';
import type { Side, Site } from './site.js';
import {
  chargeLine,
  exemptLine,
  type FreightCharge,
  type GoodsTotal,
  isTaxed,
  NO_GOODS,
  type TaxedLine,
  totalOf,
  UNTAXED,
} from './taxed-line.js';
import type { Treatment, Treatments } from './treatment.js';

const ONE = BigInt(RATE_ONE);
/** First digit of the two codes of delivery charges. */
const FREIGHT_DIGIT = SHIPPING.charCodeAt(0);

/** Shipping (10001) and handling (11000); the provider's shipping codes are ordinary codes. */
function isFreight({ tic }: CartLine): boolean {
  // Tested first, because most other codes differ in the first digit.
  if (tic === null || tic.charCodeAt(0) !== FREIGHT_DIGIT) return false;
  return tic === SHIPPING || tic === HANDLING;
}

interface Holidays {
  readonly holiday: Holiday | null;
  readonly reach: HolidayReach;
  readonly unknown: string;
}

const NO_HOLIDAY: Holidays = { holiday: null, reach: 'none', unknown: '' };

/** The holiday that applies to an item of this price; unknown where its limits or codes are not. */
function holidayOf({ tic, holidays, unclearHolidays }: Treatment, price: Exact): Holidays {
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

/** Whether a rule makes no difference for an item of this price. */
function isIdle({ rule }: Treatment, price: Exact): boolean {
  return (
    rule !== null &&
    rule.taxable &&
    rule.threshold !== null &&
    rule.rate === null &&
    ruledUnit(rule, BigInt(price)) === BigInt(price) * ONE
  );
}

/** Whether local taxes are levied in a state that has no tax. */
function isLocalAlone({ rows }: Site): boolean {
  const levied = rows.filter(({ rate }) => rate !== 0);
  return levied.length > 0 && levied.every(({ row }) => row.component.level !== 'state');
}

/** The refusal of a line whose amount depends on something unknown. */
function untold(why: string): Failure {
  return fail('no-result', why);
}

/**
 * The refusal of a cart, with the member at fault: a place or a line, or null for the cart as a
 * whole.
 */
export function refuse(field: Side | `lineItems[${number}]` | null, failure: Failure): Failure {
  return { ...failure, field };
}

/** The exact tax of items with a treatment. */
function taxTreated(treatment: Treatment, { price, quantity }: CartLine): TaxedLine | Failure {
  let found = NO_HOLIDAY;
  if (!treatment.sure) {
    const { unknown, unknownLocals } = treatment;
    if (price > 0 && quantity > 0) {
      if (unknown !== '') return untold(unknown);
      if (unknownLocals !== '' && !isIdle(treatment, price)) return untold(unknownLocals);
      const { unknownTier: tier } = treatment;
      if (tier !== null && price > tier.threshold) return untold(tier.why);
    }
    found = holidayOf(treatment, price);
  }
  const { holiday, reach } = found;
  const { scale, gross, state, local } = lineTax(treatment, price, quantity, reach);
  if (state > 0 || local > 0) {
    const unknown = found.unknown || treatment.unheldHoliday;
    if (unknown !== '') return untold(unknown);
  }
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
    denominator: 1,
    treatment,
    holiday,
    reach,
    freight: null,
    flat: reach === 'none' && price <= treatment.tierless ? treatment.flat : null,
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
    const known = site.treatments.get(line.tic ?? GENERAL);
    if (known !== undefined) return taxTreated(known, line);
    const treatment = this.#treatments.ofCode(site, line.tic);
    return isFailure(treatment) ? treatment : taxTreated(treatment, line);
  }

  /** Whether delivery charges, or at least handling, are taxed as the goods of the cart are. */
  #followsGoods({ rules, state, date }: Site): boolean {
    return (
      rules.freightRule === 'ITEM_SPECIFIC' ||
      factOn(this.#facts.handling, state.code, date)?.rule === 'ITEM_SPECIFIC'
    );
  }

  /** The fact about delivery charges on taxable and exempt goods together. */
  freightMix({ state, date }: Site): FreightMix | null {
    return factOn(this.#facts.freightMixes, state.code, date);
  }

  /**
   * The rule for a charge. Where shipping is exempt if it is stated separately, a law may still tax
   * handling, so without a fact on handling the rule is unknown.
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

  /** How a state's rule treats a delivery charge that is a separate line. */
  #charge(site: Site, line: CartLine, goods: GoodsTotal): FreightCharge | Failure {
    const rule = this.#chargeRule(site, line);
    if (typeof rule !== 'string') return rule;
    const taxable = site.rules.freightTaxable === 'Y' || line.tic === HANDLING;
    switch (rule) {
      case 'EXEMPT':
        // A state without a tax has no rule for the taxes of its cities and boroughs.
        if (line.price > 0 && line.quantity > 0 && isLocalAlone(site)) {
          return untold(`How places in ${site.state.name} tax delivery charges is not held.`);
        }
        return 'exempt';
      // A charge in a line of its own counts as stated separately.
      case 'EXEMPT_WHEN_SEPARATELY_STATED':
        return 'exempt';
      case 'TAXABLE':
        return 'ordinary';
      case 'CONDITIONAL':
        return site.rules.freightTaxable === 'Y' ? 'ordinary' : 'exempt';
      case 'ITEM_SPECIFIC': {
        if (goods.gross <= 0) return taxable ? 'ordinary' : 'exempt';
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
      if (!isTaxed(tax)) return tax;
      if (charge === 'ordinary') return chargeLine(tax, charge, tax.flat);
      const { scale, gross, denominator } = tax;
      const state = goods.state > 0 ? tax.state : 0;
      const local = goods.local > 0 ? tax.local : 0;
      return chargeLine({ scale, gross, state, local, denominator }, charge, null);
    }
    if (charge === 'as-goods') {
      return chargeLine(sharedTax(line.price, line.quantity, goods), charge, null);
    }
    // Nothing is owed on a charge of zero, whatever the rule.
    const isOwed = charge !== 'exempt' && line.price > 0 && line.quantity > 0;
    return isOwed ? charge : exemptLine(line);
  }

  /** The exact tax of every line. Goods come first, since delivery charges depend on them. */
  tax(site: Site, lines: readonly CartLine[]): readonly TaxedLine[] | Failure {
    const taxed: TaxedLine[] = [];
    const charges: number[] = [];
    let onHoliday = false;
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at]!;
      if (isFreight(line)) {
        charges.push(at);
        taxed.push(UNTAXED);
        continue;
      }
      const tax = this.goods(site, line);
      if (!isTaxed(tax)) return refuse(`lineItems[${at}]`, tax);
      if (tax.holiday !== null) onHoliday = true;
      taxed.push(tax);
    }
    const over = onHoliday ? overLimit(lines, taxed) : null;
    if (over !== null) return refuse(`lineItems[${over.at}]`, fail('no-result', over.why));
    if (charges.length === 0) return taxed;
    const goods = this.#goodsOf(site, taxed);
    for (const at of charges) {
      const tax = this.freight(site, lines[at]!, goods);
      if (!isTaxed(tax)) return refuse(`lineItems[${at}]`, tax);
      taxed[at] = tax;
    }
    const bent = bentByDelivery(lines, taxed);
    return bent === null ? taxed : refuse(`lineItems[${bent.at}]`, fail('no-result', bent.why));
  }

  /** The goods of a cart together; NO_GOODS where no charge of the state depends on them. */
  #goodsOf(site: Site, taxed: readonly TaxedLine[]): GoodsTotal {
    if (!this.#followsGoods(site)) return NO_GOODS;
    return totalOf(taxed.filter(({ treatment }) => treatment !== null));
  }

  /**
   * For a line whose price or quantity is zero: the tax of one item, for its price or the least.
   * Null where that is not known.
   */
  #rateOfNothing(site: Site, line: CartLine, taxed: readonly TaxedLine[]): TaxedLine | null {
    const price = line.price > 0 ? line.price : 1;
    const one = { ...line, price, quantity: QUANTITY_ONE };
    const tax = isFreight(line)
      ? this.freight(site, one, this.#goodsOf(site, taxed))
      : this.goods(site, one);
    return isFailure(tax) ? null : tax;
  }

  /** The effective rate of the line at an index, to five decimals. */
  rateOf(site: Site, line: CartLine, taxed: readonly TaxedLine[], at: number): Rate {
    if (line.price <= 0 || line.quantity === 0) {
      return roundRate(this.#rateOfNothing(site, line, taxed));
    }
    const tax = taxed[at]!;
    return tax.flat === null ? roundRate(tax) : fiveDecimals(tax.flat);
  }
}
