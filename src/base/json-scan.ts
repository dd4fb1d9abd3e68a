/**
 * The scanner of JSON text as bytes, for whoever looks for places in a text and not for its values:
 * where a record ends, where a member stands. It moves mostly with `nextOf`, to the next byte of
 * the kind that is asked for. A place is an index, and every function takes one and gives one, so a
 * reader can stop anywhere and go on from there. Values are read by `json-cursor.ts`, with loops of
 * its own.
 *
 * Nothing is checked here: bytes that are no JSON give places without meaning, but never an
 * exception and never an endless loop. Whether a text is JSON tells `json-text.ts`.
 *
 * Each reader names the bytes that it compares with itself: an imported constant is read from
 * memory at every use, which made the loops a tenth slower.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes to stop at: one where a byte is one of them, indexed by the byte. */
type ByteSet = Uint8Array;

/** The set of these ASCII characters, and of the bytes below `controlsTo`. */
export function byteSet(characters: string, controlsTo = 0): ByteSet {
  const set = new Uint8Array(256).fill(1, 0, controlsTo);
  for (const byte of Buffer.from(characters, 'latin1')) set[byte] = 1;
  return set;
}

/** Every byte but those of a set. */
function bytesBut(set: ByteSet): ByteSet {
  return set.map((is) => 1 - is);
}

const BLANKS = byteSet(' \t\n\r');
const NOT_BLANKS = bytesBut(BLANKS);
const BRACKETS = byteSet('"[]{}');
const VALUE_ENDS = byteSet('"[]{}, \t\n\r');

/** The place of the first byte of a set, from a place on; the end, or behind it, without one. */
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

/** The place behind the string that begins with the quote at a place. */
export function skipString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    // What is escaped may be a quote.
    if (byte === BACKSLASH) at += 1;
  }
  return at + 1;
}

const LOWER_U = 0x75;
/** "\u0041" */
const UNICODE_BYTES = 6;

/** What a string does not hold as it is. */
const STRING_STOPS = byteSet('"\\', 0x20);

/** What may stand behind a backslash, but for `u` and its four digits. */
export const ESCAPED = byteSet('"\\/bfnrt');
export const HEX_DIGITS = byteSet('0123456789abcdefABCDEF');

/** How many bytes an escape has that is all there and right; 0 for any other. */
function escapeBytes(bytes: Uint8Array, at: number): number {
  const byte = bytes[at + 1] ?? 0;
  if (ESCAPED[byte] === 1) return 2;
  if (byte !== LOWER_U || at + UNICODE_BYTES > bytes.length) return 0;
  for (let digit = at + 2; digit < at + UNICODE_BYTES; digit += 1) {
    if (HEX_DIGITS[bytes[digit]!] !== 1) return 0;
  }
  return UNICODE_BYTES;
}

/** The place, within a string, of its quote, or of what is not right or not all there. */
export function textStop(bytes: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    at = nextOf(bytes, at, STRING_STOPS);
    const whole = bytes[at] === BACKSLASH ? escapeBytes(bytes, at) : 0;
    if (whole === 0) return at;
    at += whole;
  }
}

/** The bit in which "[" differs from "{", and "]" from "}". */
const BRACE_BIT = 0x20;

/** Whether a byte opens a list or an object. */
export function isOpening(byte: number): boolean {
  return (byte | BRACE_BIT) === OPEN_BRACE;
}

/**
 * The place behind the list or object that begins at a place. Without recursion: how deep a text is
 * nested is its sender's choice.
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
  // A comma, a blank or a closing bracket ends a number or a word.
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
 * What a JSON text has too much of, told before it is parsed: levels and values, since the parser
 * takes seconds for megabytes of brackets and everyone waits meanwhile, and digits, since
 * `JSON.parse` rounds a number silently that a double does not hold.
 */

const MINUS = 0x2d;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

/** Levels of lists and objects in any text that is parsed; what is documented has less than ten. */
export const JSON_DEPTH_MAX = 64;

/**
 * Lists and objects in any text that is parsed: five times those of a hundred carts of 250 lines.
 * An object takes seven words and more, however short its text. A worker whose heap passes its
 * limit within the parser takes the process with it: V8 ends a thread between steps of code.
 */
export const JSON_NESTED_MAX = 131_072;
/** Values, lists and objects with them: ten for each of 25,000 lines. */
export const JSON_VALUES_MAX = 262_144;

/** What a text has too much of, for the end of a sentence. */
export const EXCESSES = {
  levels: `more than ${JSON_DEPTH_MAX} levels of lists and objects`,
  nested: `more than ${JSON_NESTED_MAX.toLocaleString('en')} lists and objects`,
  values: `more than ${JSON_VALUES_MAX.toLocaleString('en')} values`,
} as const;
type Excess = keyof typeof EXCESSES;

const VALUE_BYTES = byteSet('"[]{},');

/**
 * What a text has more of than it may: levels than JSON_DEPTH_MAX, lists and objects than
 * JSON_NESTED_MAX, or values than `valuesMax`. Of bytes that are no JSON, any answer.
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

/** Significant decimal digits that every double keeps. */
export const NUMBER_DIGITS_MAX = 15;

const NUMBER_BYTES = byteSet('"0123456789');
const NOT_DIGITS = bytesBut(byteSet('0123456789.'));
const NOT_NUMERIC = bytesBut(byteSet('0123456789.+-eE'));

/** Whether a number's double holds another value than was written. */
function isRounded(number: string): boolean {
  const digits = number
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
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
 * The place of the first number of a JSON text that a double does not keep; -1 without one. Any
 * answer for bytes that are no JSON.
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
    // A few digits without an exponent are always kept.
    if (at - start > NUMBER_DIGITS_MAX || bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
      at = nextOf(bytes, at, NOT_NUMERIC);
      const first = bytes[start - 1] === MINUS ? start - 1 : start;
      if (isRounded(numberText(bytes, first))) return first;
    }
  }
}

const ENCODER = new TextEncoder();

/** The first number of a JSON text that a double does not keep; null without one. */
export function longNumber(json: string): string | null {
  const bytes = ENCODER.encode(json);
  const at = longNumberPlace(bytes);
  return at < 0 ? null : numberText(bytes, at);
}
