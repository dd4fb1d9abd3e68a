/** Exact amounts as text: decimals of any length, and fractions where no decimal is exact. */

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
