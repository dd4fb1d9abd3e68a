/**
 * Reads the values of a JSON text one after another from its bytes, without building a tree. It
 * reads the usual spellings and returns MISFIT for everything else: escapes, exponents, negative
 * numbers, deep nesting, and whatever is no JSON. `JSON.parse` then finds out which of these it is.
 *
 * It does not use `nextOf` of `json-scan.ts`: that skips to a place and checks nothing, while this
 * checks every byte that it passes and makes numbers and texts of them on the way. Every cart is
 * read by these loops, and they were measured there.
 */
import { isUtf8 } from 'node:buffer';
import { NO_BYTES, bufferOf } from './growing-bytes.js';
import { isBlank, isOpening, NUMBER_DIGITS_MAX } from './json-scan.js';

/** Returned for a value that is not as expected, or is written in an unusual way. */
export const MISFIT: unique symbol = Symbol('misfit');
type Misfit = typeof MISFIT;

/**
 * Returned instead of a member's index: for a name that was not asked for, and where no name
 * stands.
 */
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

/** Levels of nesting that are skipped within a value that is not read. */
const PASSED_LEVELS_MAX = 8;

/** A longer body is decoded in stretches of this many bytes, as far as its texts are read. */
const STRETCH_BYTES = 65_536;

/**
 * Powers of ten. A double represents each exactly, so that a quotient by it is the nearest double
 * (IEEE 754).
 */
const TENS = Array.from({ length: NUMBER_DIGITS_MAX + 1 }, (_, power) => 10 ** power);

/** Names of members as a text usually spells them, with quotes and colon. */
export function memberNames(names: readonly string[]): readonly Uint8Array[] {
  return names.map((name) => Buffer.from(`"${name}":`));
}

export class JsonCursor {
  #bytes = NO_BYTES;
  #at = 0;
  /**
   * All bytes, or a stretch of them, decoded as one character each. Slicing texts from this costs
   * less than decoding each by itself.
   */
  #text = '';
  #textFrom = 0;
  #textTo = 0;
  /** Whether all bytes are UTF-8; null until that is needed. */
  #isText: boolean | null = null;

  /** Begins to read a text at its first byte. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bufferOf(bytes);
    this.#at = 0;
    this.#textFrom = 0;
    // Megabytes are decoded only as needed, since most refused bodies are refused for their first
    // bytes.
    this.#textTo = bytes.length <= STRETCH_BYTES ? bytes.length : 0;
    this.#text = this.#textTo > 0 ? this.#bytes.toString('latin1') : '';
    this.#isText = null;
  }

  /** Releases the text, and says whether all of it was read. */
  end(): boolean {
    const isRead = this.#peek() === -1;
    this.#bytes = NO_BYTES;
    this.#text = '';
    return isRead;
  }

  /** Moves to the next byte that is not blank and returns it without passing it; -1 at the end. */
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

  /** Goes on at a later place. */
  goTo(place: number): void {
    this.#at = place;
  }

  /** Passes a byte if it comes next, and says whether it did. */
  takes(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at += 1;
    return true;
  }

  /**
   * Reads what follows a value of a list or an object: true for a comma, false for its closing
   * bracket.
   */
  goesOn(closing: number): boolean | Misfit {
    const byte = this.#peek();
    this.#at += 1;
    if (byte === COMMA) return true;
    return byte === closing ? false : MISFIT;
  }

  /**
   * Reads the name of a member and its colon. Returns its index in `names`, which are as
   * `memberNames` makes them and are tried from `expected` on; OTHER_NAME for another name; NO_NAME
   * where no name and colon stand.
   */
  name(names: readonly Uint8Array[], expected: number): number {
    const usual = names[expected]!;
    if (!this.#is(usual, this.#at)) return this.#otherName(names, expected);
    this.#at += usual.length;
    return expected;
  }

  /** Reads a name that is not the expected one, or has blanks before its colon. */
  #otherName(names: readonly Uint8Array[], expected: number): number {
    if (this.#peek() !== QUOTE) return NO_NAME;
    const { length } = names;
    for (let tried = 0; tried < length; tried += 1) {
      const next = expected + tried;
      const which = next < length ? next : next - length;
      const name = names[which]!;
      // Compared without the colon, since blanks may come before that.
      if (!this.#is(name, this.#at, name.length - 1)) continue;
      this.#at += name.length - 1;
      return this.takes(COLON) ? which : NO_NAME;
    }
    return this.#passText() >= 0 && this.takes(COLON) ? OTHER_NAME : NO_NAME;
  }

  /** Whether these bytes stand at a place. */
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
   * Passes a text without escapes. Returns the bitwise OR of its bytes, or -1 where there is
   * another value, an escape or bytes that are not UTF-8.
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

  /** The ASCII text between two places. Calls come in the order of the text. */
  #cut(from: number, to: number): string {
    if (to > this.#textTo) {
      if (to - from > STRETCH_BYTES) return this.#bytes.toString('latin1', from, to);
      this.#textFrom = from;
      this.#textTo = Math.min(this.#bytes.length, from + STRETCH_BYTES);
      this.#text = this.#bytes.toString('latin1', from, this.#textTo);
    }
    return this.#text.slice(from - this.#textFrom, to - this.#textFrom);
  }

  /** Reads a number without sign and exponent, of no more digits than a double keeps. */
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
    // Whoever reads on checks what follows; an "e" fails there.
    this.#at = at;
    return decimals === 0 ? value : value / TENS[decimals]!;
  }

  /** Skips a value that is not needed; false where it is no usual JSON. */
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
