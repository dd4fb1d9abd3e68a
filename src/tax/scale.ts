/** What the figures of a line are counted in. */
import { type Exact, exactOf } from './exact.js';

/** Decimals of a dollar in FINE: of price × quantity, of the taxed part of it, and of a tax. */
const GROSS_DIGITS = 13;
export const BASE_DIGITS = 22;
export const TAX_DIGITS = 31;

/** Decimals that amounts of money may be rounded to. */
const AMOUNT_DIGITS_MAX = 9;
/** Decimals of an effective rate (specification, cart calculate). */
const RATE_DIGITS = 5;

/**
 * What the figures of a line are counted in. In FINE all of them are whole: prices have 9 decimals,
 * quantities 4, rates and shares of a price 9 each. Those of everyday lines are whole in COARSE
 * too, and safe integers there: cents, quantities of 4 decimals and rates of 6.
 */
export interface Scale {
  /** A unit of price × quantity, and one of a tax, in FINE. */
  readonly gross: bigint;
  readonly tax: bigint;
  /** Taxes of a unit of so many decimals of a dollar; null where that is not whole. */
  readonly units: readonly (Exact | null)[];
  /** What makes a tax over its price × quantity a rate in hundred-thousandths. */
  readonly rate: { readonly times: Exact; readonly over: Exact };
}

function tens(power: number): Exact {
  return exactOf(10n ** BigInt(power));
}

/** The scale whose units are so many powers of ten of those of FINE. */
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

/** The scale whose units are so many powers of ten of those of COARSE. */
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
  // Below 2⁵³ ÷ 10⁷ doubles lie closer together than 10⁻⁷: only whole cents come out whole.
  const cents = nano / NANO_PER_CENT;
  return nano <= Number.MAX_SAFE_INTEGER && Number.isInteger(cents) ? cents : null;
}
