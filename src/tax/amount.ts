/** Exact amounts and their texts. Dollars are integers of 10⁻⁹ dollars. */
export const USD = 1_000_000_000n;

const SCALE = 9;
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,9}))?$/;

/** Reads "110.00"; null when it is no decimal or finer than 10⁻⁹ dollars. */
export function parseUsd(text: string): bigint | null {
  const found = DECIMAL.exec(text);
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
  const whole = text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Prints numerator ÷ (10^digits × denominator): "1.7437", or "2/3" in lowest terms. */
export function exactText(numerator: bigint, digits: number, denominator = 1n): string {
  if (numerator % denominator === 0n) return decimalText(numerator / denominator, digits);
  const below = denominator * 10n ** BigInt(digits);
  const common = shared(numerator, below);
  return `${numerator / common}/${below / common}`;
}
