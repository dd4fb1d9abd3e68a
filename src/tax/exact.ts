/**
 * Exact integers of 0 or more. A safe integer is a `number`, which costs a fraction of a bigint; a
 * product or sum that is no safe integer is a bigint. Rounding to a double never takes a value
 * above 2⁵³ − 1 down to a safe integer, so testing the rounded result is enough.
 */
export type Exact = number | bigint;

/**
 * A whole number in the cheaper form: a `number` where it is a safe integer, otherwise the bigint.
 */
export function exactOf(value: bigint): Exact {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const POWERS = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** Whether a safe integer is divisible by 10^power. False for a bigint, which is not tested. */
export function hasTens(value: Exact, power: number): boolean {
  if (typeof value !== 'number') return false;
  const ten = POWERS[power]!;
  return Math.round(value / ten) * ten === value;
}

/** Divides a number by 10^power, by which it must be divisible. */
export function withoutTens(value: Exact, power: number): Exact {
  if (power === 0) return value;
  return typeof value === 'number' ? value / POWERS[power]! : value / 10n ** BigInt(power);
}

export function times(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const product = one * other;
    if (product <= Number.MAX_SAFE_INTEGER) return product;
  }
  return BigInt(one) * BigInt(other);
}

export function plus(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return BigInt(one) + BigInt(other);
}

/** The difference; `other` must not exceed `one`. */
export function minus(one: Exact, other: Exact): Exact {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : BigInt(one) - BigInt(other);
}

/** The whole quotient, rounded down; the divisor is above 0. */
export function quotient(one: Exact, divisor: Exact): Exact {
  // A quotient of safe integers that is not whole lies further from the next whole number than half
  // the spacing of doubles there, so rounding never lifts it to that number.
  return typeof one === 'number' && typeof divisor === 'number'
    ? Math.floor(one / divisor)
    : BigInt(one) / BigInt(divisor);
}

/**
 * Each mode in turn: ties away from zero, ties to the even unit, always away from zero, always
 * toward zero.
 */
export const ROUNDING_MODES = ['half-up', 'half-even', 'up', 'down'] as const;
export type RoundingMode = (typeof ROUNDING_MODES)[number];

/**
 * `line` rounds each line alone and adds up the rounded lines. `cart` rounds the total and spreads
 * it over the lines.
 */
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
