/**
 * The one place where amounts lose precision. Everything before it is exact: an amount is a
 * fraction of two integers, and a rounding function turns it into whole units.
 */

/** Ties away from zero, ties to the even unit, always away from zero, always toward zero. */
export const ROUNDING_MODES = ['half-up', 'half-even', 'up', 'down'] as const;
export type RoundingMode = (typeof ROUNDING_MODES)[number];

/** `line`: each line alone, totals add rounded lines. `cart`: the total, spread over the lines. */
export const ROUNDING_LEVELS = ['line', 'cart'] as const;
export type RoundingLevel = (typeof ROUNDING_LEVELS)[number];

/** Whole units of numerator ÷ denominator; the numerator is 0 or more, the denominator above 0. */
export type Rounding = (numerator: bigint, denominator: bigint) => bigint;

/** Nearest unit, a tie goes up. */
export const halfUp: Rounding = (numerator, denominator) =>
  (numerator + (denominator >> 1n)) / denominator;

/** Nearest unit, a tie goes to the even one. */
export const halfEven: Rounding = (numerator, denominator) => {
  const whole = numerator / denominator;
  const twice = 2n * (numerator - whole * denominator);
  if (twice === denominator) return whole + (whole & 1n);
  return twice > denominator ? whole + 1n : whole;
};

/** Any fraction of a unit counts as one. */
export const up: Rounding = (numerator, denominator) =>
  (numerator + denominator - 1n) / denominator;

/** Fractions of a unit are dropped. */
export const down: Rounding = (numerator, denominator) => numerator / denominator;

/** The rounding functions by name. */
export const ROUNDINGS: Readonly<Record<RoundingMode, Rounding>> = {
  'half-up': halfUp,
  'half-even': halfEven,
  up,
  down,
};
