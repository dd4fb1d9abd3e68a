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

/** Texts of whole degrees, and of every three decimals: a number takes longer to become text. */
const WHOLE = Array.from({ length: 181 }, (_, degrees) => String(degrees));
const THREE = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

/** Prints microdegrees as the shortest decimal degrees. */
export function formatMicrodegrees(value: Microdegrees): string {
  const size = Math.abs(value) | 0;
  const whole = (size / 1_000_000) | 0;
  let rest = size - whole * 1_000_000;
  const degrees = WHOLE[whole] ?? String(whole);
  const signed = value < 0 ? `-${degrees}` : degrees;
  if (rest === 0) return signed;
  const thousands = (rest / 1000) | 0;
  const decimals = THREE[thousands]! + THREE[rest - thousands * 1000]!;
  let digits = 6;
  for (; rest % 10 === 0; rest = (rest / 10) | 0) digits -= 1;
  return `${signed}.${digits === 6 ? decimals : decimals.slice(0, digits)}`;
}
