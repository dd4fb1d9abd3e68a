/**
 * Tax rates as exact integers. One unit is a part per billion, so 7.75 % is 77_500_000 and
 * half-basis-point rates (8.625 % and finer) are exact. Decimals exist only as text.
 */
export type Rate = number & { readonly __rate: unique symbol };

/** Parts per billion in 100 %. */
export const RATE_ONE = 1_000_000_000;

export const RATE_ZERO = 0 as Rate;

/** A rate of at most six decimals is a multiple of this. */
const SHORT_UNIT = 1_000;

const DECIMAL = /^(\d{1,4})?(?:\.(\d{0,12}))?$/;

function scaled(text: string, digits: number): Rate | null {
  const found = DECIMAL.exec(text.trim());
  if (!found || (found[1] === undefined && !found[2])) return null;
  const fraction = found[2] ?? '';
  if (/[1-9]/.test(fraction.slice(digits))) return null;
  const padded = fraction.slice(0, digits).padEnd(digits, '0');
  return (Number(found[1] ?? '0') * 10 ** digits + Number(padded || '0')) as Rate;
}

/** Reads a decimal fraction ("0.0775"); null when it is not a decimal or finer than 1e-9. */
export function parseRate(fraction: string): Rate | null {
  return scaled(fraction, 9);
}

/** Reads a percentage ("7.75"); null when it is not a decimal or finer than 1e-7 percent. */
export function parsePercent(percent: string): Rate | null {
  return scaled(percent, 7);
}

/** Prints a rate as the shortest decimal fraction: 77_500_000 is "0.0775", 0 is "0". */
export function formatRate(rate: Rate): string {
  // With at most six decimals a double prints as its shortest text, and without an exponent.
  if (rate >= 0 && rate % SHORT_UNIT === 0) return String(rate / RATE_ONE);
  const negative = rate < 0;
  const value = Math.abs(rate);
  const whole = Math.floor(value / RATE_ONE);
  const rest = value - whole * RATE_ONE;
  const text =
    rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
  return negative ? `-${text}` : text;
}

/** Sum of rates, exact. */
export function sumRates(rates: readonly Rate[]): Rate {
  let sum = 0;
  for (const rate of rates) sum += rate;
  return sum as Rate;
}
