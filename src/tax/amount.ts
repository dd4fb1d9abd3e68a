/** Exact amounts and their texts. Dollars are integers of 10⁻⁹ dollars. */
export const USD = 1_000_000_000n;

const SCALE = 9;
const ZERO = 0x30;
const STRICT = /^(\d{1,12})(?:\.(\d{1,9}))?$/;

/** Reads "110.00"; null when it is no decimal or finer than 10⁻⁹ dollars. */
export function parseUsd(text: string): bigint | null {
  const found = STRICT.exec(text);
  if (found === null) return null;
  const [, whole = '', fraction = ''] = found;
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

/** Prints dollars as the shortest decimal: "110", "0.5", "1600.01". */
export function formatUsd(amount: bigint): string {
  return decimalText(amount, SCALE);
}

function shared(one: bigint, other: bigint): bigint {
  let [a, b] = [one, other];
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

/** Prints numerator ÷ 10^digits as the shortest decimal; the numerator is 0 or more. */
export function decimalText(numerator: bigint, digits: number): string {
  const text = String(numerator).padStart(digits + 1, '0');
  const point = text.length - digits;
  let end = text.length;
  while (end > point && text.charCodeAt(end - 1) === ZERO) end -= 1;
  const whole = text.slice(0, point);
  return end === point ? whole : `${whole}.${text.slice(point, end)}`;
}

/** Prints numerator ÷ (10^digits × denominator): "1.7437", or "2/3" in lowest terms. */
export function exactText(numerator: bigint, digits: number, denominator = 1n): string {
  if (numerator === 0n) return '0';
  if (denominator === 1n) return decimalText(numerator, digits);
  if (numerator % denominator === 0n) return decimalText(numerator / denominator, digits);
  const below = denominator * 10n ** BigInt(digits);
  const common = shared(numerator, below);
  return `${numerator / common}/${below / common}`;
}

const CENT = USD / 100n;
/** Callers of lookups also write a plus sign, no digit before the point, or no digit after it. */
const LENIENT = /^\+?(\d{0,15})(?:\.(\d{0,30}))?$/;
const EXPONENT = /^\+?(?:\d+\.?\d*|\.\d+)e[+-]?\d{1,3}$/i;
/** From this value on, the spacing of doubles is too coarse for cents. */
const EXPONENT_MAX = 1e15;

/** Reads a non-negative decimal and cuts off digits finer than 10⁻⁹; null for anything else. */
export function parseDollars(text: string): bigint | null {
  const found = LENIENT.exec(text);
  if (found === null) {
    if (!EXPONENT.test(text) || Number(text) >= EXPONENT_MAX) return null;
    return parseDollars(Number(text).toFixed(SCALE));
  }
  const [, whole = '', fraction = ''] = found;
  if (whole === '' && fraction === '') return null;
  return BigInt(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
}

/** Prints an amount with two decimals, rounded half up. */
export function formatCents(amount: bigint): string {
  const cents = (amount + CENT / 2n) / CENT;
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}
