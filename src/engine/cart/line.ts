/** The exact tax of a cart's lines, goods first, since delivery charges follow them. */
import type { Dataset } from '../../dataset/dataset.js';
import type { StateRuleRecord } from '../../dataset/records.js';
import { lineTax, ruledUnit } from '../../tax/line-tax.js';
import { RATE_ONE, type Rate } from '../../tax/rate.js';
import { NOT_SMALL } from '../../tax/small-tax.js';
import { cartFacts, factOn, type FreightMix, type Holiday } from './facts.js';
import type { CartLine } from './query.js';
import type { Site } from './site.js';
import { smallLine, smallTotal } from './small.js';
import {
  chargeTreatmentOf, GENERAL, HANDLING, SHIPPING, treatmentOf, type Treatment,
} from './treatment.js';

/** What a holiday takes from a line. */
export type HolidayReach = 'none' | 'state' | 'all';

/** The exact tax of a line: state and local in 10⁻³¹ dollars over a denominator. */
export interface TaxedLine {
  readonly state: bigint;
  readonly local: bigint;
  readonly denominator: bigint;
  /** Price × quantity in 10⁻¹³ dollars. */
  readonly gross: bigint;
  /** Null for a delivery charge. */
  readonly treatment: Treatment | null;
  readonly holiday: Holiday | null;
  readonly reach: HolidayReach;
  readonly freight: FreightCharge | null;
  /** The effective rate where it needs no division, to five decimals; else null. */
  readonly flat: Rate | null;
  /** Price × quantity in 10⁻⁶ dollars and the tax in 10⁻¹², of a small one; else NOT_SMALL. */
  readonly base: number;
  readonly small: number;
}

/** How a delivery charge was taxed. */
export type FreightCharge = 'exempt' | 'ordinary' | 'as-goods' | 'whole';

/** Why a line cannot be told. */
export interface UnknownLine {
  readonly unknown: string;
}

/** Goods of a cart together, for the delivery charges. */
export interface GoodsTotal {
  readonly state: bigint;
  readonly local: bigint;
  readonly gross: bigint;
  /** Whether goods are taxed at different shares of their price. */
  readonly mixed: boolean;
}

const ONE = BigInt(RATE_ONE);

export function isUnknown(line: TaxedLine | UnknownLine): line is UnknownLine {
  return 'unknown' in line;
}

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
      const unknown = limitsHeld ? `Whether "${name}" covers its own limit is not held.`
        : `The price limits of "${name}" are not held.`;
      return { ...NO_HOLIDAY, unknown };
    }
    if (within) return { holiday, reach: scope === 'all' ? 'all' : 'state', unknown: '' };
  }
  const unclear = unclearHolidays.find((holiday) => isWithin(holiday, price) !== false);
  return unclear === undefined ? NO_HOLIDAY
    : { ...NO_HOLIDAY, unknown: `Whether "${unclear.name}" is for ${tic} is not held.` };
}

/** Whether a rule leaves an item of the price as it would be without it. */
function isIdle({ rule }: Treatment, price: bigint): boolean {
  return rule !== null && rule.taxable && rule.threshold !== null && rule.rate === null
    && ruledUnit(rule, price) === price * ONE;
}

/** The exact tax of goods or services. */
export function taxGoods(dataset: Dataset, site: Site, line: CartLine): TaxedLine | UnknownLine {
  const treatment = treatmentOf(dataset, site, line.tic ?? GENERAL);
  return smallLine(treatment, line, null)
    ?? taxTreated(treatment, line.price, BigInt(line.quantity));
}

/** The exact tax of `quantity` (10⁻⁴) items that are treated alike. */
export function taxTreated(
  treatment: Treatment, price: bigint, quantity: bigint,
): TaxedLine | UnknownLine {
  const gross = price * quantity;
  const { shape, single, unknown, unknownLocals, holidays, unclearHolidays } = treatment;
  if (gross > 0n) {
    if (unknown !== '') return { unknown };
    if (unknownLocals !== '' && !isIdle(treatment, price)) return { unknown: unknownLocals };
  }
  let { state, local } = lineTax(treatment, shape, single, price, quantity);
  const found = holidays.length + unclearHolidays.length === 0
    ? NO_HOLIDAY : holidayOf(treatment, price);
  if (found.unknown !== '' && state + local > 0n) return { unknown: found.unknown };
  const { holiday, reach } = found;
  if (reach !== 'none') state = 0n;
  if (reach === 'all') local = 0n;
  if (holiday?.scope === 'varies' && local > 0n) {
    return {
      unknown: `Whether local taxes take part in "${holiday.name}" differs by place and is not `
        + 'held.',
    };
  }
  return {
    state, local, denominator: 1n, gross, treatment, holiday, reach, freight: null,
    flat: reach === 'none' ? treatment.flat : null, base: NOT_SMALL, small: NOT_SMALL,
  };
}

/** Adds up goods; charges, of which nothing is known yet, are null. */
export function totalOf(lines: readonly (TaxedLine | null)[]): GoodsTotal {
  return smallTotal(lines) ?? exactTotal(lines);
}

function exactTotal(lines: readonly (TaxedLine | null)[]): GoodsTotal {
  let state = 0n;
  let local = 0n;
  let gross = 0n;
  let mixed = false;
  let first: TaxedLine | null = null;
  for (const line of lines) {
    if (line === null || line.gross === 0n) continue;
    if (first === null) first = line;
    else if (!mixed) {
      mixed = (line.state + line.local) * first.gross !== (first.state + first.local) * line.gross;
    }
    state += line.state;
    local += line.local;
    gross += line.gross;
  }
  return { state, local, gross, mixed };
}

/** Whether delivery charges are taxed by the goods of the cart, handling at least. */
export function followsGoods(dataset: Dataset, { rules, state, date }: Site): boolean {
  return rules.freightRule === 'ITEM_SPECIFIC'
    || factOn(cartFacts(dataset).handling, state.code, date)?.rule === 'ITEM_SPECIFIC';
}

/** No goods, for charges that do not follow them. */
export const NO_GOODS: GoodsTotal = { state: 0n, local: 0n, gross: 0n, mixed: false };

/** The fact on delivery charges for taxable and exempt goods together. */
export function freightMix(dataset: Dataset, { state, date }: Site): FreightMix | null {
  return factOn(cartFacts(dataset).freightMixes, state.code, date);
}

/**
 * The rule for a charge. Where shipping is exempt when it is stated separately, a law may still tax
 * handling: without a fact of its own nothing is told of it.
 */
function chargeRule(
  dataset: Dataset, { rules: { freightRule }, state, date }: Site, { tic }: CartLine,
): StateRuleRecord['freightRule'] | UnknownLine {
  if (tic !== HANDLING) return freightRule;
  const own = factOn(cartFacts(dataset).handling, state.code, date)?.rule ?? null;
  if (own !== null) return own === 'AS_SHIPPING' ? freightRule : own;
  return freightRule === 'EXEMPT_WHEN_SEPARATELY_STATED' || freightRule === 'CONDITIONAL'
    ? { unknown: `How ${state.name} taxes charges for handling is not held.` } : freightRule;
}

/** What a state's rule makes of a delivery charge that is a line of its own. */
export function freightCharge(
  dataset: Dataset, site: Site, line: CartLine, goods: GoodsTotal,
): FreightCharge | UnknownLine {
  const rule = chargeRule(dataset, site, line);
  if (typeof rule !== 'string') return rule;
  const taxable = site.rules.freightTaxable === 'Y' || line.tic === HANDLING;
  switch (rule) {
    case 'EXEMPT':
    // A line of its own is stated separately.
    case 'EXEMPT_WHEN_SEPARATELY_STATED':
      return 'exempt';
    case 'TAXABLE':
      return 'ordinary';
    case 'CONDITIONAL':
      return site.rules.freightTaxable === 'Y' ? 'ordinary' : 'exempt';
    case 'ITEM_SPECIFIC': {
      if (goods.gross === 0n) return taxable ? 'ordinary' : 'exempt';
      if (!goods.mixed) return 'as-goods';
      const mix = freightMix(dataset, site);
      if (mix !== null) return mix.mixed === 'whole' ? 'whole' : 'as-goods';
      return { unknown: `How ${site.state.name} taxes one delivery charge on goods that are taxed `
        + 'differently is not held: send the goods in carts of their own.' };
    }
  }
}

/** The exact tax of a delivery charge. */
export function taxFreight(
  dataset: Dataset, site: Site, line: CartLine, goods: GoodsTotal,
): TaxedLine | UnknownLine {
  const charge = freightCharge(dataset, site, line, goods);
  const treatment = chargeTreatmentOf(dataset, site);
  const small = charge === 'ordinary' ? smallLine(treatment, line, charge) : null;
  if (small !== null) return small;
  const quantity = BigInt(line.quantity);
  const gross = line.price * quantity;
  if (typeof charge !== 'string') {
    return gross > 0n ? charge : freightLine(0n, 0n, 1n, gross, 'exempt');
  }
  if (charge === 'exempt') return freightLine(0n, 0n, 1n, gross, charge);
  if (charge === 'as-goods') {
    return freightLine(gross * goods.state, gross * goods.local, goods.gross, gross, charge);
  }
  const tax = taxTreated(treatment, line.price, quantity);
  if (isUnknown(tax)) return tax;
  if (charge === 'ordinary') return { ...tax, treatment: null, freight: charge };
  return freightLine(
    goods.state > 0n ? tax.state : 0n, goods.local > 0n ? tax.local : 0n, 1n, gross, charge);
}

function freightLine(
  state: bigint, local: bigint, denominator: bigint, gross: bigint, freight: FreightCharge,
): TaxedLine {
  return {
    state, local, denominator, gross, treatment: null, holiday: null, reach: 'none', freight,
    flat: freight === 'exempt' ? 0 as Rate : null, base: NOT_SMALL,
    small: freight === 'exempt' ? 0 : NOT_SMALL,
  };
}
