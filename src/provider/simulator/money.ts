/** Money of the simulated provider: whole units of 10⁻⁹, as everywhere. */
import { hashOf } from './random.js';

const DIGITS = 9;
const UNIT = 10n ** BigInt(DIGITS);
const CENT = UNIT / 100n;

/** A rate is 4 % to 10 % in steps of 0.05 %, by the ZIP. */
const RATE_LEAST = 40_000_000;
const RATE_STEP = 500_000;
const RATE_STEPS = 121;

/** Units of a JSON number; what is finer is rounded away. */
export function unitsOf(value: number): bigint {
  const digits = value.toFixed(DIGITS);
  return BigInt(digits.replace('.', ''));
}

/** The JSON number of some units. */
export function numberOfUnits(units: bigint): number {
  const digits = String(units < 0n ? -units : units).padStart(DIGITS + 1, '0');
  const sign = units < 0n ? '-' : '';
  return Number(`${sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`);
}

/** An invented rate that a ZIP always has, in units. */
export function rateOf(zip: string): bigint {
  return BigInt(RATE_LEAST + RATE_STEP * hashOf(zip.slice(0, 5), RATE_STEPS));
}

/** price × quantity × rate, rounded half up to a cent. */
export function taxOf(price: bigint, quantity: bigint, rate: bigint): bigint {
  const scale = UNIT * UNIT * CENT;
  return ((price * quantity * rate * 2n + scale) / (2n * scale)) * CENT;
}

/** The share `part / whole` of an amount, rounded half up to a cent. */
export function shareOf(amount: bigint, part: bigint, whole: bigint): bigint {
  if (whole === 0n) return 0n;
  return ((amount * part * 2n + whole * CENT) / (2n * whole * CENT)) * CENT;
}
