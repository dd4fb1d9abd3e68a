/**
 * Exact taxes of everyday lines in safe integers, which cost a fraction of a bigint. Whole cents
 * (10⁻²) × ten-thousandths of a unit (10⁻⁴) × millionths of a rate (10⁻⁶) are 10⁻¹² dollars, and a
 * product of integers is exact as long as it is at most 2⁵³ - 1: a tax of up to 9,007 dollars.
 * Whatever does not fit is calculated with bigints, to the same amount.
 */
import type { RoundingMode } from './round.js';

/** Stands for a base, a tax or a rate that is not small. */
export const NOT_SMALL = -1;

/** Decimal places of a dollar in a small base and in a small tax. */
export const SMALL_BASE_DIGITS = 6;
export const SMALL_DIGITS = 12;

const NANO_PER_CENT = 10_000_000;
const PARTS_PER_MILLIONTH = 1_000;

/** The rates on a price in millionths, 0 or more: the state's part, and all parts together. */
export interface SmallRates {
  readonly state: number;
  readonly total: number;
}

/** Rates of parts per billion in millionths; null where one of them is finer. */
export function smallRates(state: bigint, local: bigint): SmallRates | null {
  const parts = Number(state);
  const others = Number(local);
  return parts % PARTS_PER_MILLIONTH === 0 && others % PARTS_PER_MILLIONTH === 0
    ? { state: parts / PARTS_PER_MILLIONTH, total: (parts + others) / PARTS_PER_MILLIONTH } : null;
}

/** A value that is exact, or NOT_SMALL: what is above the limit stays above it when rounded. */
function within(product: number): number {
  return product <= Number.MAX_SAFE_INTEGER ? product : NOT_SMALL;
}

/** `quantity` (10⁻⁴) items at `price` (10⁻⁹ dollars) in 10⁻⁶ dollars, or NOT_SMALL. */
export function smallBase(price: bigint, quantity: number): number {
  const nano = Number(price);
  // Below 2⁵³ ÷ 10⁷ doubles lie closer together than 10⁻⁷: only whole cents come out whole.
  const cents = nano / NANO_PER_CENT;
  return nano <= Number.MAX_SAFE_INTEGER && Number.isInteger(cents)
    ? within(cents * quantity) : NOT_SMALL;
}

/** The tax on a small base in 10⁻¹² dollars, or NOT_SMALL. */
export function smallTax(base: number, millionths: number): number {
  return base < 0 ? NOT_SMALL : within(base * millionths);
}

/** Whole units of a small tax, as `ROUNDINGS` of `round` have them. */
export function roundSmall(tax: number, unit: number, mode: RoundingMode): number {
  // A quotient of safe integers that is not whole differs from the next whole number by more than
  // half the distance of doubles there: rounding the quotient never reaches it.
  const whole = Math.floor(tax / unit);
  const rest = tax - whole * unit;
  switch (mode) {
    case 'half-up': return 2 * rest >= unit ? whole + 1 : whole;
    case 'half-even':
      if (2 * rest === unit) return whole + (whole % 2);
      return 2 * rest > unit ? whole + 1 : whole;
    case 'up': return rest > 0 ? whole + 1 : whole;
    case 'down': return whole;
  }
}
