/** Units that the figures of a line are counted in. */
import { type Exact, exactOf } from './exact.js';

/** Decimals of a dollar in FINE for price × quantity, for the taxed part of it, and for a tax. */
const GROSS_DIGITS = 13;
export const BASE_DIGITS = 22;
export const TAX_DIGITS = 31;

/** Decimals that amounts of money may be rounded to. */
const AMOUNT_DIGITS_MAX = 9;
/** Decimals of an effective rate (specification, cart calculate). */
const RATE_DIGITS = 5;

/**
 * The units that the figures of a line are counted in. In FINE every figure is whole: prices have 9
 * decimals, quantities 4, rates and shares of a price 9 each. In COARSE the figures of everyday
 * lines are whole and safe integers: cents, quantities of 4 decimals, rates of 6.
 */
export interface Scale {
  /** This scale's units of price × quantity (`gross`) and of tax, counted in units of FINE. */
  readonly gross: bigint;
  readonly tax: bigint;
  /**
   * By number of decimals: this scale's units of tax in one unit of the last decimal of a dollar;
   * null where that is not whole.
   */
  readonly units: readonly (Exact | null)[];
  /**
   * A tax ÷ (price × quantity), times `times` and divided by `over`, is a rate in
   * hundred-thousandths.
   */
  readonly rate: { readonly times: Exact; readonly over: Exact };
}

function tens(power: number): Exact {
  return exactOf(10n ** BigInt(power));
}

/** The scale whose units are 10^gross and 10^tax times those of FINE. */
function scaleOf(gross: number, tax: number): Scale {
  const rate = tax - gross + RATE_DIGITS + GROSS_DIGITS - TAX_DIGITS;
  return {
    gross: 10n ** BigInt(gross),
    tax: 10n ** BigInt(tax),
    units: Array.from({ length: AMOUNT_DIGITS_MAX + 1 }, (_, digits) =>
      TAX_DIGITS - digits < tax ? null : tens(TAX_DIGITS - digits - tax),
    ),
    rate: { times: tens(Math.max(0, rate)), over: tens(Math.max(0, -rate)) },
  };
}

const COARSE_GROSS = 7;
const COARSE_TAX = 19;

export const FINE: Scale = scaleOf(0, 0);
export const COARSE: Scale = scaleOf(COARSE_GROSS, COARSE_TAX);

/** The scale whose units are 10^gross and 10^tax times those of COARSE. */
export function coarser(gross: number, tax: number): Scale {
  return scaleOf(COARSE_GROSS + gross, COARSE_TAX + tax);
}

const NANO_PER_CENT = 10_000_000;

/** Price × quantity and its exact tax. */
export interface LineTax {
  readonly scale: Scale;
  readonly gross: Exact;
  readonly state: Exact;
  readonly local: Exact;
}

/** A price of whole cents in cents; null for any other. */
export function wholeCents(price: Exact): number | null {
  const nano = Number(price);
  // Up to 2⁵³ ÷ 10⁷ doubles lie less than 2 × 10⁻⁷ apart. A quotient that is not whole is at least
  // 10⁻⁷ away from a whole number, so it is never rounded to one.
  const cents = nano / NANO_PER_CENT;
  return nano <= Number.MAX_SAFE_INTEGER && Number.isInteger(cents) ? cents : null;
}
