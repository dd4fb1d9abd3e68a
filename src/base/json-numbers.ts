/**
 * Numbers of a JSON text that a double cannot hold exactly. `JSON.parse` rounds them silently, so a
 * price with too many digits is looked for in the bytes, in the same pass that tells their depth.
 */
import { JSON_DEPTH_MAX } from './json-depth.js';

/** Significant decimal digits that every double keeps. */
export const NUMBER_DIGITS_MAX = 15;

/** What a scan finds where it is not the place of a number. */
export const SCAN_FINE = -1;
export const SCAN_TOO_DEEP = -2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;
const PLUS = 0x2b;
const MINUS = 0x2d;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
/** An ASCII letter or bracket and this bit: "[" is "{", "]" is "}". */
const LOWER_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Whether a number's double holds another value than was written. */
function isRounded(number: string): boolean {
  const digits = number.replace(/[eE].*$/, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
  if (digits === '') return false;
  const value = Number(number);
  return digits.length > NUMBER_DIGITS_MAX || value === 0 || !Number.isFinite(value);
}

/** Whether a byte stands in numbers. */
function isNumeric(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= ZERO && byte <= NINE) || byte === POINT
    || byte === MINUS || byte === PLUS || byte === LOWER_E || byte === UPPER_E);
}

/** The text of the number that begins at a place, with its sign; of a long one, its beginning. */
export function numberText(bytes: Uint8Array, at: number, charsMax = Infinity): string {
  let end = at;
  while (end - at < charsMax && isNumeric(bytes[end])) end += 1;
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1');
}

/** The place behind the string that begins at a place. */
function pastString(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let next = at + 1;
  while (next < length) {
    const byte = bytes[next];
    if (byte === QUOTE) return next + 1;
    next += byte === BACKSLASH ? 2 : 1;
  }
  return next;
}

/** The place behind digits and points. */
function pastDigits(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let next = at + 1;
  while (next < length) {
    const byte = bytes[next]!;
    if ((byte < ZERO || byte > NINE) && byte !== POINT) break;
    next += 1;
  }
  return next;
}

function isExponent(byte: number | undefined): boolean {
  return byte === LOWER_E || byte === UPPER_E;
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
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = pastString(bytes, at);
      continue;
    }
    if (byte >= ZERO && byte <= NINE) {
      const start = at;
      at = pastDigits(bytes, at);
      // A few digits without an exponent are always kept.
      if (at - start <= NUMBER_DIGITS_MAX && !isExponent(bytes[at])) continue;
      while (isNumeric(bytes[at])) at += 1;
      const first = bytes[start - 1] === MINUS ? start - 1 : start;
      if (long === SCAN_FINE && isRounded(numberText(bytes, first))) long = first;
      continue;
    }
    const bracket = byte | LOWER_BIT;
    if (bracket === OPENING) {
      depth += 1;
      if (depth > levelsMax) return SCAN_TOO_DEEP;
    } else if (bracket === CLOSING) depth -= 1;
    at += 1;
  }
  return long;
}

const ENCODER = new TextEncoder();

/** The first number of a JSON text that a double does not keep; null without one. */
export function longNumber(json: string): string | null {
  const bytes = ENCODER.encode(json);
  const at = scanJson(bytes, Number.POSITIVE_INFINITY);
  return at < 0 ? null : numberText(bytes, at);
}
