/** Dollars of product rules as integers of 10⁻⁹ dollars; decimals exist only as text. */
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

/** Prints the shortest decimal: "110", "0.5", "1600.01". */
export function formatUsd(amount: bigint): string {
  const fraction = String(amount % USD).padStart(SCALE, '0').replace(/0+$/, '');
  const whole = String(amount / USD);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
