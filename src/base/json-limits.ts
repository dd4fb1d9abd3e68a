/**
 * What a JSON text has too much of, told before it is parsed: levels and values, since the parser
 * takes seconds for megabytes of brackets and everyone waits meanwhile, and digits, since
 * `JSON.parse` rounds a number silently that a double does not hold.
 */
import { byteSet, bytesBut, isOpening, nextOf, skipString } from './json-scan.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

/** Levels of lists and objects in any text that is parsed; what is documented has less than ten. */
export const JSON_DEPTH_MAX = 64;

const VALUE_BYTES = byteSet('"[]{},');

/**
 * What a text has more of than it may: levels than JSON_DEPTH_MAX, or values than `valuesMax`. Of
 * bytes that are no JSON, any answer.
 */
export function excessOf(
  bytes: Uint8Array, valuesMax: number = Infinity,
): 'levels' | 'values' | null {
  const { length } = bytes;
  let depth = 0;
  // Every value but the outermost follows a comma or the beginning of its list or object.
  let values = 1;
  let at = 0;
  while (values <= valuesMax) {
    at = nextOf(bytes, at, VALUE_BYTES);
    if (at >= length) return null;
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipString(bytes, at);
    else {
      at += 1;
      if (byte === COMMA) values += 1;
      else if (isOpening(byte)) {
        depth += 1;
        values += 1;
        if (depth > JSON_DEPTH_MAX) return 'levels';
      } else depth -= 1;
    }
  }
  return 'values';
}

/** Whether a text has more than JSON_DEPTH_MAX levels. Of bytes that are no JSON, any answer. */
export function isTooDeep(bytes: Uint8Array): boolean {
  return excessOf(bytes) === 'levels';
}

/** Significant decimal digits that every double keeps. */
export const NUMBER_DIGITS_MAX = 15;

/** What a scan finds where it is not the place of a number. */
export const SCAN_FINE = -1;
export const SCAN_TOO_DEEP = -2;

const NUMBER_BYTES = byteSet('"[]{}0123456789');
const NOT_DIGITS = bytesBut(byteSet('0123456789.'));
const NOT_NUMERIC = bytesBut(byteSet('0123456789.+-eE'));

/** Whether a number's double holds another value than was written. */
function isRounded(number: string): boolean {
  const digits = number.replace(/[eE].*$/, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
  if (digits === '') return false;
  const value = Number(number);
  return digits.length > NUMBER_DIGITS_MAX || value === 0 || !Number.isFinite(value);
}

/** The text of the number that begins at a place, with its sign; of a long one, its beginning. */
export function numberText(bytes: Uint8Array, at: number, charsMax = Infinity): string {
  const end = Math.min(nextOf(bytes, at, NOT_NUMERIC), at + charsMax);
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1');
}

/**
 * SCAN_TOO_DEEP for more levels of lists and objects than are allowed, else the place of the first
 * number that a double does not keep, else SCAN_FINE. Of bytes that are no JSON, any answer.
 */
export function scanJson(bytes: Uint8Array, levelsMax = JSON_DEPTH_MAX): number {
  const { length } = bytes;
  let depth = 0;
  let long = SCAN_FINE;
  let at = 0;
  for (;;) {
    at = nextOf(bytes, at, NUMBER_BYTES);
    if (at >= length) return long;
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipString(bytes, at);
    else if (byte >= ZERO && byte <= NINE) {
      const start = at;
      at = nextOf(bytes, start + 1, NOT_DIGITS);
      // A few digits without an exponent are always kept.
      if (at - start > NUMBER_DIGITS_MAX || bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
        at = nextOf(bytes, at, NOT_NUMERIC);
        const first = bytes[start - 1] === MINUS ? start - 1 : start;
        if (long === SCAN_FINE && isRounded(numberText(bytes, first))) long = first;
      }
    } else {
      depth += isOpening(byte) ? 1 : -1;
      if (depth > levelsMax) return SCAN_TOO_DEEP;
      at += 1;
    }
  }
}

const ENCODER = new TextEncoder();

/** The first number of a JSON text that a double does not keep; null without one. */
export function longNumber(json: string): string | null {
  const bytes = ENCODER.encode(json);
  const at = scanJson(bytes, Number.POSITIVE_INFINITY);
  return at < 0 ? null : numberText(bytes, at);
}
