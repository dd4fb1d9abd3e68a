/**
 * Scans JSON text as bytes, for code that looks for places in a text and not for its values: where
 * a record ends, where a member begins. Most functions move with `nextOf` to the next byte of a
 * set. A place is an index; every function takes one and returns one, so that a reader can stop
 * anywhere and go on from there. `json-cursor.ts` reads values, with loops of its own.
 *
 * Nothing is checked here: bytes that are no JSON give places without meaning, but never an
 * exception or an endless loop. `json-text.ts` tells whether a text is JSON.
 *
 * Each file declares the bytes that it compares with for itself: an imported constant is read from
 * memory at every use, which made the loops a tenth slower.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A set of bytes: indexed by a byte, 1 where that is in the set. */
type ByteSet = Uint8Array;

/** The set of these ASCII characters and of all bytes below `controlsTo`. */
export function byteSet(characters: string, controlsTo = 0): ByteSet {
  const set = new Uint8Array(256).fill(1, 0, controlsTo);
  for (const byte of Buffer.from(characters, 'latin1')) set[byte] = 1;
  return set;
}

/** All bytes that are not in a set. */
function bytesBut(set: ByteSet): ByteSet {
  return set.map((is) => 1 - is);
}

const BLANKS = byteSet(' \t\n\r');
const NOT_BLANKS = bytesBut(BLANKS);
const BRACKETS = byteSet('"[]{}');
const VALUE_ENDS = byteSet('"[]{}, \t\n\r');

/**
 * The place of the next byte of a set, from a place on; where there is none, the end, or `from` if
 * that is behind it.
 */
export function nextOf(bytes: Uint8Array, from: number, set: ByteSet): number {
  const { length } = bytes;
  let at = from;
  while (at < length && set[bytes[at]!] === 0) at += 1;
  return at;
}

/** Whether a byte is one of the four that JSON allows between its tokens. */
export function isBlank(byte: number): boolean {
  return BLANKS[byte] === 1;
}

/** The place of the first byte that is not blank. */
export function skipBlanks(bytes: Uint8Array, from: number): number {
  return nextOf(bytes, from, NOT_BLANKS);
}

/** The place behind the string whose opening quote is at `from`. */
export function skipString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    // The escaped byte may be a quote.
    if (byte === BACKSLASH) at += 1;
  }
  return at + 1;
}

const LOWER_U = 0x75;
/** "\u0041" */
const UNICODE_BYTES = 6;

/** Bytes at which a scan of a string stops: a quote, a backslash or a control character. */
const STRING_STOPS = byteSet('"\\', 0x20);

/** What may follow a backslash, apart from `u` and its four digits. */
export const ESCAPED = byteSet('"\\/bfnrt');
export const HEX_DIGITS = byteSet('0123456789abcdefABCDEF');

/** How many bytes a complete and valid escape has; 0 for any other. */
function escapeBytes(bytes: Uint8Array, at: number): number {
  const byte = bytes[at + 1] ?? 0;
  if (ESCAPED[byte] === 1) return 2;
  if (byte !== LOWER_U || at + UNICODE_BYTES > bytes.length) return 0;
  for (let digit = at + 2; digit < at + UNICODE_BYTES; digit += 1) {
    if (HEX_DIGITS[bytes[digit]!] !== 1) return 0;
  }
  return UNICODE_BYTES;
}

/**
 * The place, within a string, of its closing quote, or of a byte or an escape that is invalid or
 * incomplete.
 */
export function textStop(bytes: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    at = nextOf(bytes, at, STRING_STOPS);
    const whole = bytes[at] === BACKSLASH ? escapeBytes(bytes, at) : 0;
    if (whole === 0) return at;
    at += whole;
  }
}

/** The one bit that differs between "[" and "{", and between "]" and "}". */
const BRACE_BIT = 0x20;

/** Whether a byte opens a list or an object. */
export function isOpening(byte: number): boolean {
  return (byte | BRACE_BIT) === OPEN_BRACE;
}

/**
 * The place behind the list or object that begins at a place. It does not recurse, because the
 * sender of a text chooses how deep it is nested.
 */
function skipNested(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let depth = 1;
  let at = from + 1;
  for (;;) {
    at = nextOf(bytes, at, BRACKETS);
    if (at >= length) return at;
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipString(bytes, at);
    else {
      depth += isOpening(byte) ? 1 : -1;
      at += 1;
      if (depth === 0) return at;
    }
  }
}

/** The place behind the value that begins at a place. */
export function skipValue(bytes: Uint8Array, from: number): number {
  const at = nextOf(bytes, from, VALUE_ENDS);
  const byte = bytes[at] ?? COMMA;
  if (byte === QUOTE) return skipString(bytes, at);
  // A number or a word ends at a comma, a blank or a closing bracket.
  return isOpening(byte) ? skipNested(bytes, at) : at;
}

/** The place of the comma or closing bracket behind the element that begins at a place. */
export function elementEnd(bytes: Uint8Array, from: number): number {
  let at = skipBlanks(bytes, from);
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) return at;
    at = skipBlanks(bytes, skipValue(bytes, at));
  }
  return at;
}

/*
 * Limits that are checked before a text is parsed. Levels and values are limited because the parser
 * takes seconds for megabytes of brackets, and every request waits meanwhile; digits, because
 * `JSON.parse` silently rounds a number that a double cannot hold.
 */

const MINUS = 0x2d;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

/** Most levels of lists and objects in any parsed text; documented bodies have fewer than ten. */
export const JSON_DEPTH_MAX = 64;

/**
 * Most lists and objects in any parsed text: five times those of a hundred carts of 250 lines. An
 * object takes seven words or more, however short its text. A worker whose heap exceeds its limit
 * within the parser ends the whole process, since V8 can end a thread only between steps of code.
 */
export const JSON_NESTED_MAX = 131_072;
/** Most values, including lists and objects: ten for each of 25,000 lines. */
export const JSON_VALUES_MAX = 262_144;

/** Which limit a text exceeds, in words for the end of a sentence. */
export const EXCESSES = {
  levels: `more than ${JSON_DEPTH_MAX} levels of lists and objects`,
  nested: `more than ${JSON_NESTED_MAX.toLocaleString('en')} lists and objects`,
  values: `more than ${JSON_VALUES_MAX.toLocaleString('en')} values`,
} as const;
type Excess = keyof typeof EXCESSES;

const VALUE_BYTES = byteSet('"[]{},');

/**
 * Which limit a text exceeds: JSON_DEPTH_MAX levels, JSON_NESTED_MAX lists and objects, or
 * `valuesMax` values; null where it keeps to all. For bytes that are no JSON the result has no
 * meaning.
 */
export function excessOf(bytes: Uint8Array, valuesMax: number = JSON_VALUES_MAX): Excess | null {
  const { length } = bytes;
  let depth = 0;
  let nested = 0;
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
        nested += 1;
        if (depth > JSON_DEPTH_MAX) return 'levels';
        if (nested > JSON_NESTED_MAX) return 'nested';
      } else depth -= 1;
    }
  }
  return 'values';
}

/** Every decimal number of this many significant digits survives in a double. */
export const NUMBER_DIGITS_MAX = 15;

const NUMBER_BYTES = byteSet('"0123456789');
const NOT_DIGITS = bytesBut(byteSet('0123456789.'));
const NOT_NUMERIC = bytesBut(byteSet('0123456789.+-eE'));

/** Whether a double holds another value than the number as written. */
function isRounded(number: string): boolean {
  const digits = number
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return false;
  const value = Number(number);
  return digits.length > NUMBER_DIGITS_MAX || value === 0 || !Number.isFinite(value);
}

/**
 * The text of the number that begins at a place, with its sign, cut after `charsMax` characters.
 */
export function numberText(bytes: Uint8Array, at: number, charsMax = Infinity): string {
  const end = Math.min(nextOf(bytes, at, NOT_NUMERIC), at + charsMax);
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1');
}

/**
 * The place of the first number of a JSON text that a double cannot hold; -1 without one. For bytes
 * that are no JSON the result has no meaning.
 */
export function longNumberPlace(bytes: Uint8Array): number {
  const { length } = bytes;
  let at = 0;
  for (;;) {
    at = nextOf(bytes, at, NUMBER_BYTES);
    if (at >= length) return -1;
    if (bytes[at] === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    const start = at;
    at = nextOf(bytes, start + 1, NOT_DIGITS);
    // A double holds any number of a few digits without an exponent.
    if (at - start > NUMBER_DIGITS_MAX || bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
      at = nextOf(bytes, at, NOT_NUMERIC);
      const first = bytes[start - 1] === MINUS ? start - 1 : start;
      if (isRounded(numberText(bytes, first))) return first;
    }
  }
}

const ENCODER = new TextEncoder();

/** The first number of a JSON text that a double cannot hold; null without one. */
export function longNumber(json: string): string | null {
  const bytes = ENCODER.encode(json);
  const at = longNumberPlace(bytes);
  return at < 0 ? null : numberText(bytes, at);
}
