/**
 * The one place where amounts lose precision. Everything before it is exact: an amount is a
 * fraction of two integers, and a rounding function turns it into whole units.
 */
import { minus, plus, quotient, times, type Exact } from './exact.js';

/** Ties away from zero, ties to the even unit, always away from zero, always toward zero. */
export const ROUNDING_MODES = ['half-up', 'half-even', 'up', 'down'] as const;
export type RoundingMode = (typeof ROUNDING_MODES)[number];

/** `line`: each line alone, totals add rounded lines. `cart`: the total, spread over the lines. */
export const ROUNDING_LEVELS = ['line', 'cart'] as const;
export type RoundingLevel = (typeof ROUNDING_LEVELS)[number];

/**
 * Whole units of numerator ÷ denominator; the numerator is 0 or more, the denominator above 0.
 * `half-up` gives a tie to the next unit, `half-even` to the even one; `up` counts any fraction as
 * a unit, `down` drops it.
 */
export function rounded(numerator: Exact, denominator: Exact, mode: RoundingMode): Exact {
  const whole = quotient(numerator, denominator);
  if (mode === 'down') return whole;
  const rest = minus(numerator, times(whole, denominator));
  if (mode === 'up') return rest > 0 ? plus(whole, 1) : whole;
  const twice = plus(rest, rest);
  if (twice > denominator) return plus(whole, 1);
  if (twice < denominator) return whole;
  const isEven = typeof whole === 'number' ? whole % 2 === 0 : whole % 2n === 0n;
  return mode === 'half-even' && isEven ? whole : plus(whole, 1);
}
