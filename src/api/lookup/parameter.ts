/** What a single parameter may be. */
import { longerThan } from '../../base/shape.js';
import { parseDollars } from '../../wire/amount.js';
import { dateOf, type DateInt } from '../../tax/date.js';

/** Longest address, in characters. */
export const ADDRESS_CHARS_MAX = 100;
/** Longest state, city or county, in characters. */
export const NAME_CHARS_MAX = 50;
/** Longest free text of `adjustment` in version 50. */
export const ADJUSTMENT_CHARS_MAX = 100;

const CONTROL = /[\0-\x1f\x7f-\x9f]/;
const LINE_SPACE = /[\t\r\n]+/g;
const LETTER = /\p{L}/u;
const NUMBER = /^[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?$/;
export const MONTH = /^[0-9]{6}$/;
export const LAT_DEGREES_MAX = 90;
export const LNG_DEGREES_MAX = 180;
export const ZIP = /^[0-9]{5}$/;
export const STATE_CODE = /^[A-Z]{2}$/;
export const TAXABILITY = /^[A-Za-z0-9]{1,10}$/;

/** An address on one line; null when it has control characters, is too long or blank. */
export function parseAddressLine(text: string): string | null {
  if (longerThan(text, ADDRESS_CHARS_MAX)) return null;
  let line = text.trim();
  if (CONTROL.test(line)) {
    line = line.replace(LINE_SPACE, ' ');
    if (CONTROL.test(line)) return null;
  }
  return line === '' ? null : line;
}

/** The name of a place; null when it cannot be one. */
export function parsePlaceName(text: string): string | null {
  if (longerThan(text, NAME_CHARS_MAX) || CONTROL.test(text) || !LETTER.test(text)) return null;
  return text.trim();
}

/** A county's name or number; null when it is too long or has control characters. */
export function parseCounty(text: string): string | null {
  return longerThan(text, NAME_CHARS_MAX) || CONTROL.test(text) ? null : text.trim();
}

/** Degrees within ±`max`; null for anything else. A sent '+' sign arrives as a space. */
export function parseDegrees(text: string, max: number): number | null {
  const number = text.trim();
  if (!NUMBER.test(number)) return null;
  const degrees = Number(number);
  return Math.abs(degrees) <= max ? degrees : null;
}

/** A single article's total in 10⁻⁹ dollars; null when negative or not a number. */
export function parseTotal(text: string): bigint | null {
  return parseDollars(text.trim());
}

/** The first day of a month written YYYYMM; null when there is no such month. */
export function parseMonth(text: string): DateInt | null {
  return MONTH.test(text) ? dateOf(Number(text.slice(0, 4)), Number(text.slice(4)), 1) : null;
}

/** true or false in any case; null for anything else. */
export function parseBoolean(text: string): boolean | null {
  if (text === 'true' || text === 'false') return text === 'true';
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : null;
}
