/** The unit of coordinates, how it is written, distances, directions, and places along a line. */

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

/**
 * The texts of whole degrees, and below of all three-digit groups of decimals: looking a text up is
 * cheaper than formatting a number.
 */
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

// Places along a line: where a house number of a range stands.

/** Metres in a microdegree of latitude. */
export const METRES_PER_MICRO = 0.111_195;

/** How far a door is assumed to stand from the centre line of its street. */
export const DOOR_SETBACK_METRES = { usual: 8, wide: 20 } as const;

interface Position {
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

function eastScale(lat: Microdegrees): number {
  return Math.cos((lat / 1e6) * (Math.PI / 180));
}

/** Distance in metres over a plane: exact enough for a few dozen kilometres. */
export function distanceMetres(
  latA: Microdegrees,
  lngA: Microdegrees,
  latB: Microdegrees,
  lngB: Microdegrees,
): number {
  const east = (lngB - lngA) * eastScale((latA + latB) / 2);
  return Math.hypot(latB - latA, east) * METRES_PER_MICRO;
}

/**
 * The position at a fraction of a line's length, set off to its right by `right` metres (to the
 * left when negative). `line` is lat, lng, lat, lng … with at least one position.
 */
export function interpolate(line: readonly number[], fraction: number, right: number): Position {
  const scale = eastScale(line[0]!);
  let total = 0;
  for (let at = 2; at < line.length; at += 2) total += step(line, at, scale);
  if (total === 0) return { lat: line[0]!, lng: line[1]! };
  let rest = Math.min(1, Math.max(0, fraction)) * total;
  let at = 2;
  let length = step(line, at, scale);
  while ((rest > length || length === 0) && at + 2 < line.length) {
    rest -= length;
    at += 2;
    length = step(line, at, scale);
  }
  const part = length === 0 ? 0 : Math.min(1, rest / length);
  const north = line[at]! - line[at - 2]!;
  const east = line[at + 1]! - line[at - 1]!;
  const lat = line[at - 2]! + north * part;
  const lng = line[at - 1]! + east * part;
  if (length === 0) return { lat: Math.round(lat), lng: Math.round(lng) };
  // To the right of the direction (north, east) lies (−east, north). East is in units that are
  // already scaled to the latitude.
  const off = right / METRES_PER_MICRO / length;
  return {
    lat: Math.round(lat - east * scale * off),
    lng: Math.round(lng + (north * off) / scale),
  };
}

function step(line: readonly number[], at: number, scale: number): number {
  return Math.hypot(line[at]! - line[at - 2]!, (line[at + 1]! - line[at - 1]!) * scale);
}

/** A direction from a spot, counted from the east on. */
export interface Direction {
  readonly sin: number;
  readonly cos: number;
}

/** That many directions, evenly spread around a spot. */
export function directions(count: number): readonly Direction[] {
  return Array.from({ length: count }, (_, at) => {
    const angle = (at / count) * 2 * Math.PI;
    return { sin: Math.sin(angle), cos: Math.cos(angle) };
  });
}
