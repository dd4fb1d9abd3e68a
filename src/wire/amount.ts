/** Dollar amounts as integers of 10⁻⁹ dollars, read and printed. */
export const DOLLAR = 1_000_000_000n;

const CENT = DOLLAR / 100n;
const DECIMAL = /^\+?(\d{0,15})(?:\.(\d{0,30}))?$/;
const EXPONENT = /^\+?(?:\d+\.?\d*|\.\d+)e[+-]?\d{1,3}$/i;
const SCALE = 9;
/** Beyond it a double holds no cents. */
const EXPONENT_MAX = 1e15;

/** Reads a non-negative decimal, finer digits than 10⁻⁹ cut off; null for anything else. */
export function parseDollars(text: string): bigint | null {
  const found = DECIMAL.exec(text);
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
