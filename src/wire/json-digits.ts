/**
 * Numbers of a JSON text that a double cannot hold exactly. `JSON.parse` rounds them silently, so a
 * price with too many digits is looked for in the text itself.
 */

/** Significant decimal digits that every double keeps. */
export const NUMBER_DIGITS_MAX = 15;

/** A run that may be such a number, by its digits or its exponent; in a string it is only text. */
const SUSPECT = /\d[\d.]{15,}|\d[eE][+-]?\d{3}/;

/** A string, or a number outside of strings. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Whether a double holds another value than was written. */
function isRounded(number: string): boolean {
  const digits = number.replace(/[eE].*$/, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
  if (digits === '') return false;
  const value = Number(number);
  return digits.length > NUMBER_DIGITS_MAX || value === 0 || !Number.isFinite(value);
}

/** The first number of a JSON text that a double does not keep; null without one. */
export function longNumber(json: string): string | null {
  if (!SUSPECT.test(json)) return null;
  for (const [token] of json.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue;
    if (isRounded(token)) return token;
  }
  return null;
}
