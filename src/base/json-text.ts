/**
 * Tells whether bytes are one JSON value while they arrive, without building the value: the parser
 * takes seconds for megabytes of an answer, and every request waits meanwhile. A piece of 64 KiB
 * takes a fraction of a millisecond here.
 */
import { isUtf8 } from 'node:buffer';
import {
  byteSet,
  ESCAPED,
  HEX_DIGITS,
  isBlank,
  JSON_DEPTH_MAX,
  nextOf,
  skipBlanks,
  textStop,
} from './json-scan.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The bit that makes an ASCII letter lower case. */
const LOWER_BIT = 0x20;
const LOWER_U = 0x75;

const NOT_DIGITS = byteSet('0123456789').map((is) => 1 - is);

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** States, each named for what may come next or for what is being read. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME = 2;
const NAME_OR_END = 3;
const BEFORE_COLON = 4;
const AFTER_VALUE = 5;
const IN_TEXT = 6;
const IN_ESCAPE = 7;
const IN_HEX = 8;
const IN_WORD = 9;
/** States within a number: after a minus, after a leading zero, in its digits and so on. */
const AFTER_MINUS = 10;
const AFTER_ZERO = 11;
const IN_INTEGER = 12;
const AFTER_POINT = 13;
const IN_FRACTION = 14;
const AFTER_E = 15;
const AFTER_SIGN = 16;
const IN_EXPONENT = 17;
const BROKEN = 18;

/** Whether a number may end in this state. */
function isWhole(state: number): boolean {
  return (
    state === AFTER_ZERO || state === IN_INTEGER || state === IN_FRACTION || state === IN_EXPONENT
  );
}

const WORDS = new Map(
  ['true', 'false', 'null'].map(
    (word) =>
      [word.charCodeAt(0), [...word.slice(1)].map((letter) => letter.charCodeAt(0))] as const,
  ),
);

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** The state after a byte of a number; BROKEN where the byte does not belong to it. */
function inNumber(state: number, byte: number): number {
  const digit = isDigit(byte);
  const exponent = (byte | LOWER_BIT) === LOWER_E;
  // biome-ignore format: a state a row
  switch (state) {
    case AFTER_MINUS: return byte === ZERO ? AFTER_ZERO : digit ? IN_INTEGER : BROKEN;
    case AFTER_ZERO: return byte === POINT ? AFTER_POINT : exponent ? AFTER_E : BROKEN;
    case IN_INTEGER:
      return digit ? IN_INTEGER : byte === POINT ? AFTER_POINT : exponent ? AFTER_E : BROKEN;
    case AFTER_POINT: return digit ? IN_FRACTION : BROKEN;
    case IN_FRACTION: return digit ? IN_FRACTION : exponent ? AFTER_E : BROKEN;
    case AFTER_E:
      return digit ? IN_EXPONENT : byte === PLUS || byte === MINUS ? AFTER_SIGN : BROKEN;
    default: return digit ? IN_EXPONENT : BROKEN;
  }
}

/** Checks a text that arrives in pieces. */
export class JsonText {
  #state = VALUE;
  /** For each open level, from index 1 on: 1 for an object, 0 for a list. */
  readonly #levels = new Uint8Array(JSON_DEPTH_MAX + 2);
  #depth = 0;
  /** Whether the text being read is the name of a member. */
  #isName = false;
  /** The letters of a word after its first; how many of them, or of an escape, were read. */
  #rest: readonly number[] = [];
  #done = 0;
  #offset = 0;
  #marked = true;
  /** If the value is a list: where its first element begins and ends, and commas between. */
  #isList = false;
  #from = -1;
  #to = -1;
  #commas = 0;

  /** Reads the next piece. */
  push(bytes: Uint8Array): void {
    const { length } = bytes;
    let at = 0;
    while (at < length && this.#state !== BROKEN) {
      if (this.#state === IN_TEXT) at = this.#inText(bytes, at);
      else if (this.#state >= AFTER_MINUS) at = this.#number(bytes, at);
      else at = this.#byte(bytes, at);
    }
    this.#offset += length;
  }

  /** Whether the pieces so far are one JSON value of no more levels than may be parsed. */
  get isWhole(): boolean {
    return this.#depth === 0 && (this.#state === AFTER_VALUE || isWhole(this.#state));
  }

  /** Where the element of a list of one element lies; null for anything else. */
  get onlyElement(): { readonly from: number; readonly to: number } | null {
    return this.#isList && this.#from >= 0 && this.#to >= 0 && this.#commas === 0
      ? { from: this.#from, to: this.#to }
      : null;
  }

  #inText(bytes: Uint8Array, from: number): number {
    const at = textStop(bytes, from);
    const byte = bytes[at];
    if (byte === undefined) return at;
    if (byte === BACKSLASH) this.#state = IN_ESCAPE;
    else if (byte !== QUOTE) this.#state = BROKEN;
    else if (this.#isName) this.#state = BEFORE_COLON;
    else this.#ended(at + 1);
    return at + 1;
  }

  /** Reads a byte of a number and the digits after it; leaves a byte that ends the number. */
  #number(bytes: Uint8Array, at: number): number {
    const next = inNumber(this.#state, bytes[at]!);
    if (next !== BROKEN) {
      this.#state = next;
      const digits = isWhole(next) && next !== AFTER_ZERO;
      return digits ? nextOf(bytes, at + 1, NOT_DIGITS) : at + 1;
    }
    if (isWhole(this.#state)) this.#ended(at);
    else this.#state = BROKEN;
    return at;
  }

  /** Notes that a value ended before this place. */
  #ended(at: number): void {
    this.#state = AFTER_VALUE;
    if (this.#isList && this.#depth === 1 && this.#to < 0) this.#to = this.#offset + at;
  }

  /** Reads any other byte, or all blanks from it on. */
  #byte(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!;
    switch (this.#state) {
      case IN_ESCAPE:
        this.#escape(byte);
        break;
      case IN_HEX:
      case IN_WORD:
        this.#goOn(byte, at);
        break;
      default:
        if (isBlank(byte)) return skipBlanks(bytes, at + 1);
        this.#token(byte, at);
    }
    return at + 1;
  }

  #escape(byte: number): void {
    this.#done = 0;
    this.#state = byte === LOWER_U ? IN_HEX : ESCAPED[byte] === 1 ? IN_TEXT : BROKEN;
  }

  #goOn(byte: number, at: number): void {
    const isEscape = this.#state === IN_HEX;
    const fits = isEscape ? HEX_DIGITS[byte] === 1 : byte === this.#rest[this.#done];
    this.#done += 1;
    if (!fits) this.#state = BROKEN;
    else if (isEscape && this.#done === 4) this.#state = IN_TEXT;
    else if (!isEscape && this.#done === this.#rest.length) this.#ended(at + 1);
  }

  #token(byte: number, at: number): void {
    switch (this.#state) {
      case VALUE:
        return this.#value(byte, at);
      case VALUE_OR_END:
        return byte === CLOSE_BRACKET ? this.#close(false, at) : this.#value(byte, at);
      case NAME_OR_END:
        return byte === CLOSE_BRACE ? this.#close(true, at) : this.#name(byte);
      case NAME:
        return this.#name(byte);
      case BEFORE_COLON:
        this.#state = byte === COLON ? VALUE : BROKEN;
        return;
      default:
        this.#afterValue(byte, at);
    }
  }

  #name(byte: number): void {
    this.#isName = true;
    this.#state = byte === QUOTE ? IN_TEXT : BROKEN;
  }

  #value(byte: number, at: number): void {
    if (this.#skipsMark(byte, at)) return;
    const isElement = this.#isList && this.#depth === 1;
    if (isElement && this.#from < 0) this.#from = this.#offset + at;
    if (byte === QUOTE) {
      this.#isName = false;
      this.#state = IN_TEXT;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACE);
    else if (byte === MINUS) this.#state = AFTER_MINUS;
    else if (isDigit(byte)) this.#state = byte === ZERO ? AFTER_ZERO : IN_INTEGER;
    else {
      const rest = WORDS.get(byte);
      this.#rest = rest ?? [];
      this.#done = 0;
      this.#state = rest === undefined ? BROKEN : IN_WORD;
    }
  }

  /** Skips a byte order mark at the very beginning, which decoders remove too. */
  #skipsMark(byte: number, at: number): boolean {
    if (!this.#marked) return false;
    const place = this.#offset + at;
    this.#marked = place < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[place];
    return this.#marked;
  }

  #open(isObject: boolean): void {
    if (this.#depth === 0) this.#isList = !isObject;
    this.#depth += 1;
    this.#levels[this.#depth] = isObject ? 1 : 0;
    this.#state = this.#depth > JSON_DEPTH_MAX ? BROKEN : isObject ? NAME_OR_END : VALUE_OR_END;
  }

  #close(isObject: boolean, at: number): void {
    if (this.#depth === 0 || (this.#levels[this.#depth] === 1) !== isObject) {
      this.#state = BROKEN;
      return;
    }
    this.#depth -= 1;
    this.#ended(at + 1);
  }

  #afterValue(byte: number, at: number): void {
    if (byte === COMMA && this.#depth > 0) {
      if (this.#depth === 1) this.#commas += 1;
      this.#state = this.#levels[this.#depth] === 1 ? NAME : VALUE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#close(byte === CLOSE_BRACE, at);
    } else this.#state = BROKEN;
  }
}

/** What a check of a whole text found. */
export interface JsonSummary {
  readonly isJson: boolean;
  /** Where the element of a list of one element lies; null for anything else. */
  readonly only: { readonly from: number; readonly to: number } | null;
}

/** The summary of a text that `text` has read; `isText` tells whether it is UTF-8. */
export function summaryOf(text: JsonText, isText: boolean): JsonSummary {
  const isJson = text.isWhole && isText;
  return { isJson, only: isJson ? text.onlyElement : null };
}

/** The summary of bytes that have all arrived. */
export function jsonSummary(bytes: Uint8Array): JsonSummary {
  const text = new JsonText();
  text.push(bytes);
  return summaryOf(text, isUtf8(bytes));
}
