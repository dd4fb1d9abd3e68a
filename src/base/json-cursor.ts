/**
 * Reads the values of a JSON text in the bytes that it came in, one after another, without a tree
 * of it. It takes what is usual and gives MISFIT for everything else: escapes, exponents, negative
 * numbers, deep nesting, whatever is no JSON. `JSON.parse` then tells what that is.
 *
 * It does not move with `nextOf` of `json-scan.ts`: that skips to a place and checks nothing, while
 * this looks at every byte that it passes and makes numbers and texts of them on the way. Its loops
 * are on the path of every cart, and measured there.
 */
import { isUtf8 } from 'node:buffer';
import { NO_BYTES, bufferOf } from './growing-bytes.js';
import { isBlank, isOpening, NUMBER_DIGITS_MAX } from './json-scan.js';

/** Stands for a value that is not as expected, or is written in an unusual way. */
export const MISFIT: unique symbol = Symbol('misfit');
type Misfit = typeof MISFIT;

/** What stands for the name of a member: of none that is looked for, or of no member at all. */
export const OTHER_NAME = -1;
const NO_NAME = -2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const COMMA = 0x2c;
const COLON = 0x3a;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const FIRST_WIDE = 0x80;

const TRUE = Buffer.from('true', 'latin1');
const FALSE = Buffer.from('false', 'latin1');
const NULL = Buffer.from('null', 'latin1');

/** Levels that are passed over within a value nobody reads. */
const PASSED_LEVELS_MAX = 8;

/** Longer texts are made characters a stretch at a time. */
const STRETCH_BYTES = 65_536;

/** Powers of ten: a double holds each, so that a quotient by it is the nearest one (IEEE 754). */
const TENS = Array.from({ length: NUMBER_DIGITS_MAX + 1 }, (_, power) => 10 ** power);

/** Names of members as they mostly stand in a text. */
export function memberNames(names: readonly string[]): readonly Uint8Array[] {
  return names.map((name) => Buffer.from(`"${name}":`));
}

export class JsonCursor {
  #bytes = NO_BYTES;
  #at = 0;
  /**
   * One character a byte, of all bytes or of a stretch of them; cutting texts out of it costs less
   * than making each of bytes.
   */
  #text = '';
  #textFrom = 0;
  #textTo = 0;
  /** Whether all bytes are UTF-8; null until that is asked. */
  #isText: boolean | null = null;

  /** Begins at the first byte of a text. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bufferOf(bytes);
    this.#at = 0;
    this.#textFrom = 0;
    // Of megabytes as much as is needed: most that is refused is so for its first bytes.
    this.#textTo = bytes.length <= STRETCH_BYTES ? bytes.length : 0;
    this.#text = this.#textTo > 0 ? this.#bytes.toString('latin1') : '';
    this.#isText = null;
  }

  /** Lets go of the text; says whether all of it was read. */
  end(): boolean {
    const isRead = this.#peek() === -1;
    this.#bytes = NO_BYTES;
    this.#text = '';
    return isRead;
  }

  /** The next byte that is not blank, not passed yet; -1 at the end. */
  #peek(): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    let at = this.#at;
    while (at < length) {
      const byte = bytes[at]!;
      if (byte > SPACE || !isBlank(byte)) {
        this.#at = at;
        return byte;
      }
      at += 1;
    }
    this.#at = at;
    return -1;
  }

  /** Where the next value begins. */
  place(): number {
    this.#peek();
    return this.#at;
  }

  /** Goes on at a place behind whatever was read. */
  goTo(place: number): void {
    this.#at = place;
  }

  /** Passes a byte where it comes next. */
  takes(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** Behind a value of a list or an object: true for a comma, false for the end of it. */
  goesOn(closing: number): boolean | Misfit {
    const byte = this.#peek();
    this.#at += 1;
    if (byte === COMMA) return true;
    return byte === closing ? false : MISFIT;
  }

  /**
   * The name of a member and its colon: which of `names` it is, looked for from `expected` on, or
   * OTHER_NAME, or NO_NAME. Names are as `memberNames` makes them.
   */
  name(names: readonly Uint8Array[], expected: number): number {
    const usual = names[expected]!;
    if (!this.#is(usual, this.#at)) return this.#otherName(names, expected);
    this.#at += usual.length;
    return expected;
  }

  /** Which of `names` stands here, with blanks around it or not expected; else as `name` says. */
  #otherName(names: readonly Uint8Array[], expected: number): number {
    if (this.#peek() !== QUOTE) return NO_NAME;
    const { length } = names;
    for (let tried = 0; tried < length; tried += 1) {
      const next = expected + tried;
      const which = next < length ? next : next - length;
      const name = names[which]!;
      // Without the colon, which blanks may come before.
      if (!this.#is(name, this.#at, name.length - 1)) continue;
      this.#at += name.length - 1;
      return this.takes(COLON) ? which : NO_NAME;
    }
    return this.#passText() >= 0 && this.takes(COLON) ? OTHER_NAME : NO_NAME;
  }

  /** Whether bytes stand at a place. */
  #is(expected: Uint8Array, from: number, length = expected.length): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < length; at += 1) if (bytes[from + at] !== expected[at]) return false;
    return true;
  }

  #takesWord(word: Uint8Array): boolean {
    if (!this.#is(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  takesNull(): boolean {
    return this.#peek() === NULL[0] && this.#takesWord(NULL);
  }

  boolean(): boolean | Misfit {
    this.#peek();
    if (this.#takesWord(TRUE)) return true;
    return this.#takesWord(FALSE) ? false : MISFIT;
  }

  /**
   * Passes a text without escapes. Gives the bits that its bytes have, joined; -1 where it is
   * another value, or is not UTF-8.
   */
  #passText(): number {
    if (this.#peek() !== QUOTE) return -1;
    const bytes = this.#bytes;
    const { length } = bytes;
    let bits = 0;
    for (let at = this.#at + 1; at < length; at += 1) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return bits < FIRST_WIDE || (this.#isText ??= isUtf8(bytes)) ? bits : -1;
      }
      if (byte === BACKSLASH || byte < SPACE) return -1;
      bits |= byte;
    }
    return -1;
  }

  string(): string | Misfit {
    this.#peek();
    const from = this.#at + 1;
    const bits = this.#passText();
    if (bits < 0) return MISFIT;
    const to = this.#at - 1;
    return bits < FIRST_WIDE ? this.#cut(from, to) : this.#bytes.toString('utf8', from, to);
  }

  /** A text of ASCII between two places, of which the first is never before that of another. */
  #cut(from: number, to: number): string {
    if (to > this.#textTo) {
      if (to - from > STRETCH_BYTES) return this.#bytes.toString('latin1', from, to);
      this.#textFrom = from;
      this.#textTo = Math.min(this.#bytes.length, from + STRETCH_BYTES);
      this.#text = this.#bytes.toString('latin1', from, this.#textTo);
    }
    return this.#text.slice(from - this.#textFrom, to - this.#textFrom);
  }

  /** A number of no more digits than a double keeps, without sign and exponent. */
  number(): number | Misfit {
    this.#peek();
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    let value = 0;
    let byte = bytes[at];
    for (; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[at]) {
      value = value * 10 + (byte - ZERO);
      at += 1;
    }
    const digits = at - from;
    if (digits === 0 || digits > NUMBER_DIGITS_MAX) return MISFIT;
    if (bytes[from] === ZERO && digits > 1) return MISFIT;
    let decimals = 0;
    if (byte === POINT) {
      at += 1;
      for (byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[at]) {
        value = value * 10 + (byte - ZERO);
        at += 1;
        decimals += 1;
      }
      if (decimals === 0 || digits + decimals > NUMBER_DIGITS_MAX) return MISFIT;
    }
    // What may follow a number is looked for by whoever reads on: an "e" is none of it.
    this.#at = at;
    return decimals === 0 ? value : value / TENS[decimals]!;
  }

  /** Passes a value that nobody reads; false where it is not as usual. */
  passes(levels = PASSED_LEVELS_MAX): boolean {
    const byte = this.#peek();
    if (byte === QUOTE) return this.#passText() >= 0;
    if (byte >= ZERO && byte <= NINE) return this.number() !== MISFIT;
    if (byte > 0 && isOpening(byte)) return levels > 0 && this.#passesNested(byte, levels - 1);
    return this.takesNull() || this.boolean() !== MISFIT;
  }

  #passesNested(opening: number, levels: number): boolean {
    const isObject = opening === OPEN_BRACE;
    const closing = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#at += 1;
    if (this.takes(closing)) return true;
    for (;;) {
      if (isObject && (this.#passText() < 0 || !this.takes(COLON))) return false;
      if (!this.passes(levels)) return false;
      const more = this.goesOn(closing);
      if (more !== true) return more === false;
    }
  }
}
