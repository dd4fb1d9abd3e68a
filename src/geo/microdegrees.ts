/** Degrees times one million, rounded to an integer: about 11 cm. All geometry is in these. */
export type Microdegrees = number;

/** Largest absolute value that is a latitude or longitude. */
export const LAT_MAX = 90_000_000;
export const LNG_MAX = 180_000_000;

/** Rounds degrees to microdegrees, halves away from zero. */
export function toMicrodegrees(degrees: number): Microdegrees {
  const scaled = Math.round(Math.abs(degrees) * 1e6);
  return degrees < 0 ? -scaled || 0 : scaled;
}

/** Zeros before the decimals of a number, by how many are missing. */
const ZEROS = ['', '0', '00', '000', '0000', '00000', '000000'];

/** Prints microdegrees as the shortest decimal degrees. */
export function formatMicrodegrees(value: Microdegrees): string {
  const size = Math.abs(value) | 0;
  const whole = (size / 1_000_000) | 0;
  let rest = size - whole * 1_000_000;
  const sign = value < 0 ? '-' : '';
  if (rest === 0) return `${sign}${whole}`;
  let digits = 6;
  while (rest % 10 === 0) {
    rest = (rest / 10) | 0;
    digits -= 1;
  }
  const decimals = String(rest);
  return `${sign}${whole}.${ZEROS[digits - decimals.length]!}${decimals}`;
}
