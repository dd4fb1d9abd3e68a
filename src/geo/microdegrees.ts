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

/** Prints microdegrees as the shortest decimal degrees. */
export function formatMicrodegrees(value: Microdegrees): string {
  const size = Math.abs(value);
  const whole = Math.floor(size / 1_000_000);
  let rest = size - whole * 1_000_000;
  const sign = value < 0 ? '-' : '';
  if (rest === 0) return `${sign}${whole}`;
  let digits = 6;
  while (rest % 10 === 0) {
    rest /= 10;
    digits -= 1;
  }
  return `${sign}${whole}.${String(rest).padStart(digits, '0')}`;
}
