/**
 * Numbers of a JSON text that a double cannot hold exactly. `JSON.parse` rounds them silently, so a
 * price with too many digits is looked for in the text itself.
 */

/** Significant decimal digits that every double keeps. */
export const NUMBER_DIGITS_MAX = 15;

const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
/** Digits of an exponent that no double reaches. */
const EXPONENT = /^[+-]?\d{3}/;
const EXPONENT_CHARS = 4;

/**
 * Whether a run may be such a number, by its digits or its exponent; in a string it is only text.
 * Every body is asked: a pattern takes ten times as long.
 */
function isSuspect(json: string): boolean {
  let run = 0;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if ((char >= ZERO && char <= NINE) || char === POINT) {
      run += 1;
      if (run > NUMBER_DIGITS_MAX) return true;
      continue;
    }
    const exponent = run > 0 && (char === LOWER_E || char === UPPER_E);
    if (exponent && EXPONENT.test(json.slice(at + 1, at + 1 + EXPONENT_CHARS))) return true;
    run = 0;
  }
  return false;
}

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
  if (!isSuspect(json)) return null;
  for (const [token] of json.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue;
    if (isRounded(token)) return token;
  }
  return null;
}
