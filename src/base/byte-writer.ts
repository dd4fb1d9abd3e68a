/**
 * A buffer that grows as it is written. Short texts are written byte by byte: V8 keeps a text that
 * was joined of pieces as a chain of them, and flattening it costs more than writing the pieces.
 */
import { doubled } from './growing-bytes.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ASCII_MAX = 0x7f;

/** Up to this length, copying byte by byte costs less than a call that copies memory. */
const SHORT_MAX = 96;

/** Whole numbers up to this one are written in words of three digits. */
const SHORT_WHOLE_MAX = 999_999_999;
const THOUSAND = 1_000;

const WORD_BYTES = 8;

type WriteText = (this: Buffer, text: string, at: number) => number;

/**
 * The native function behind `write`, without the checks of its arguments. It is undocumented and
 * may be missing.
 */
const writeUtf8: WriteText =
  (Buffer.prototype as { readonly utf8Write?: WriteText }).utf8Write ?? Buffer.prototype.write;

/** The first offset, from this one on, at which a word may begin. */
export function aligned(offset: number): number {
  return (offset + WORD_BYTES - 1) & -WORD_BYTES;
}

const MINUS = 0x2d;
const POINT = 0x2e;
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;

/** A value that writes itself into a buffer. */
export interface Printed {
  print(into: ByteWriter): void;
}

/** Bytes as they are, a text that is written as UTF-8, or a value that writes itself. */
export type BodyPart = Uint8Array | string | Printed;

/**
 * An ASCII text that is written often. It is written in words of eight bytes, as doubles, in a
 * tenth of the time of single bytes. A double keeps its bits unless they stand for NaN, which bits
 * that begin with an ASCII byte never do.
 */
export class Piece {
  readonly length: number;
  readonly words: Float64Array;

  /** @throws RangeError for text that is not ASCII. */
  constructor(text: string) {
    const bytes = Buffer.alloc(Math.ceil(text.length / WORD_BYTES) * WORD_BYTES);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > ASCII_MAX) throw new RangeError(`no ASCII: ${text}`);
      bytes[at] = code;
    }
    this.length = text.length;
    this.words = Float64Array.from({ length: bytes.length / WORD_BYTES }, (_, at) =>
      bytes.readDoubleLE(at * WORD_BYTES),
    );
  }
}

/** The word of a text of up to eight ASCII characters. */
function wordOf(text: string): number {
  return new Piece(text).words[0] ?? 0;
}

/** The words of the numbers below a thousand, and of the same numbers in three digits. */
const WHOLES = Float64Array.from({ length: THOUSAND }, (_, value) => wordOf(String(value)));
const THREE_DIGITS = Float64Array.from({ length: THOUSAND }, (_, value) =>
  wordOf(String(value).padStart(3, '0')),
);

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

export class ByteWriter {
  readonly #usual: Buffer;
  readonly #usualView: DataView;
  #buffer: Buffer;
  #view: DataView;
  #used = 0;

  constructor(capacityBytes: number) {
    this.#buffer = this.#usual = Buffer.allocUnsafeSlow(capacityBytes);
    this.#view = this.#usualView = viewOf(this.#usual);
  }

  /** How many bytes were written. */
  get length(): number {
    return this.#used;
  }

  /**
   * Starts again in the first memory; what `bytes` returned is no longer valid. Where more bytes
   * are expected than fit there, memory of that size is taken this once, since growing takes twice
   * as much.
   */
  clear(foreseenBytes = 0): void {
    this.#used = 0;
    if (foreseenBytes > this.#usual.length)
      return this.#move(Buffer.allocUnsafeSlow(foreseenBytes));
    this.#buffer = this.#usual;
    this.#view = this.#usualView;
  }

  #move(buffer: Buffer): void {
    this.#buffer = buffer;
    this.#view = viewOf(buffer);
  }

  text(text: string): void {
    const { length } = text;
    this.#reserve(length * 3);
    if (length > SHORT_MAX || !this.#ascii(text)) {
      this.#used += writeUtf8.call(this.#buffer, text, this.#used);
    }
  }

  /**
   * Writes the text if all of it is ASCII; otherwise returns false, and nothing counts as written.
   */
  #ascii(text: string): boolean {
    const { length } = text;
    const buffer = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > ASCII_MAX) return false;
      buffer[from + at] = code;
    }
    this.#used = from + length;
    return true;
  }

  copy(bytes: Uint8Array, from = 0, to = bytes.length): void {
    const length = to - from;
    this.#reserve(length);
    const buffer = this.#buffer;
    const at = this.#used;
    if (length > SHORT_MAX)
      buffer.set(length === bytes.length ? bytes : bytes.subarray(from, to), at);
    else for (let next = 0; next < length; next += 1) buffer[at + next] = bytes[from + next]!;
    this.#used = at + length;
  }

  part(part: BodyPart): void {
    if (typeof part === 'string') this.text(part);
    else if (part instanceof Uint8Array) this.copy(part);
    else part.print(this);
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#used] = byte;
    this.#used += 1;
  }

  piece({ length, words }: Piece): void {
    const count = words.length;
    this.#reserve(count * WORD_BYTES);
    const view = this.#view;
    const from = this.#used;
    for (let at = 0; at < count; at += 1) {
      view.setFloat64(from + at * WORD_BYTES, words[at]!, true);
    }
    this.#used = from + length;
  }

  /** Writes once more the few bytes that were written from one offset to another. */
  again(from: number, to: number): void {
    this.#reserve(to - from);
    const buffer = this.#buffer;
    const by = this.#used - from;
    for (let at = from; at < to; at += 1) buffer[at + by] = buffer[at]!;
    this.#used += to - from;
  }

  /** Writes a text as JSON. */
  json(text: string): void {
    this.byte(QUOTE);
    this.jsonPart(text);
    this.byte(QUOTE);
  }

  /** Writes a part of a text as JSON, without the quotes. */
  jsonPart(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const buffer = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < SPACE || code > ASCII_MAX || code === QUOTE || code === BACKSLASH) {
        return this.text(JSON.stringify(text).slice(1, -1));
      }
      buffer[from + at] = code;
    }
    this.#used = from + length;
  }

  /** Writes a number from 0 on as JSON. */
  number(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > SHORT_WHOLE_MAX) {
      return this.text(String(value));
    }
    if (value >= THOUSAND) {
      const thousands = Math.floor(value / THOUSAND);
      this.number(thousands);
      this.#word(THREE_DIGITS[value - thousands * THOUSAND]!, 3);
    } else this.#word(WHOLES[value]!, value < 10 ? 1 : value < 100 ? 2 : 3);
  }

  /** Writes a whole number of millionths as the shortest decimal. */
  millionths(value: number): void {
    this.#decimal(value, MILLION);
  }

  /** Writes a whole number of billionths as the shortest decimal. */
  billionths(value: number): void {
    this.#decimal(value, BILLION);
  }

  /** Writes `value` / `one` as the shortest decimal; `one` is a power of a thousand. */
  #decimal(value: number, one: number): void {
    const size = Math.abs(value);
    const whole = Math.floor(size / one);
    if (value < 0) this.byte(MINUS);
    this.number(whole);
    let rest = size - whole * one;
    if (rest !== 0) this.byte(POINT);
    for (let part = one; rest !== 0; ) {
      part /= THOUSAND;
      let digits = Math.floor(rest / part);
      this.#word(THREE_DIGITS[digits]!, 3);
      rest -= digits * part;
      if (rest === 0) for (; digits % 10 === 0; digits /= 10) this.#used -= 1;
    }
  }

  /** Writes the first `length` bytes of a word. */
  #word(word: number, length: number): void {
    this.#reserve(WORD_BYTES);
    this.#view.setFloat64(this.#used, word, true);
    this.#used += length;
  }

  /** Leaves room for `put` and `put32` to fill in, and goes on from the next word. */
  leave(bytes: number): void {
    this.#reserve(bytes + WORD_BYTES);
    this.#used = aligned(this.#used + bytes);
  }

  /** Replaces one byte that was written before. */
  put(at: number, byte: number): void {
    this.#buffer[at] = byte;
  }

  /** Replaces four bytes that were written before by a number, little-endian. */
  put32(at: number, value: number): void {
    this.#view.setInt32(at, value, true);
  }

  /** A view of the bytes written. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#used);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need > this.#buffer.length) this.#move(doubled(this.#buffer, this.#used, need));
  }
}

const PRINTED_BYTES = 4_096;
const printer = new ByteWriter(PRINTED_BYTES);

/**
 * Joins parts in memory of their own; a single part of bytes is returned as it is. Memory cut from
 * Node's shared pool would keep the whole pool alive.
 */
export function bytesOfParts(parts: readonly BodyPart[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first instanceof Uint8Array) return first;
  printer.clear();
  for (const part of parts) printer.part(part);
  const bytes = Buffer.allocUnsafeSlow(printer.length);
  bytes.set(printer.bytes());
  return bytes;
}
