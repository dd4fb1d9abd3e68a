/**
 * Bytes that grow as they are written. What is short is written byte by byte: a text that is put
 * together of pieces is a chain of them, which costs more to lay out in bytes than to write.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
const ASCII_MAX = 0x7f;

/** Whole numbers up to it are written digit by digit. */
const SHORT_WHOLE_MAX = 999_999_999;
const SHORT_WHOLE_DIGITS = 9;

/** The digits of a short number, from the last place on. */
const digits = new Uint8Array(SHORT_WHOLE_DIGITS);

export class ByteWriter {
  readonly #usual: Buffer;
  #buffer: Buffer;
  #used = 0;

  constructor(capacityBytes: number) {
    this.#usual = Buffer.allocUnsafeSlow(capacityBytes);
    this.#buffer = this.#usual;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#used;
  }

  /** Begins anew in the memory of the first time: what `bytes` gave is no longer valid. */
  clear(): void {
    this.#buffer = this.#usual;
    this.#used = 0;
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#used += this.#buffer.write(text, this.#used, 'utf8');
  }

  copy(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.#reserve(to - from);
    this.#buffer.set(bytes.subarray(from, to), this.#used);
    this.#used += to - from;
  }

  part(part: Uint8Array | string): void {
    if (typeof part === 'string') this.text(part);
    else this.copy(part);
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#used] = byte;
    this.#used += 1;
  }

  /** Some bytes, such as a piece of every line; more are copied faster by `copy`. */
  piece(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const buffer = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) buffer[from + at] = bytes[at]!;
    this.#used = from + length;
  }

  /** What was written from a place to another, once more; some bytes too. */
  again(from: number, to: number): void {
    this.#reserve(to - from);
    const buffer = this.#buffer;
    const by = this.#used - from;
    for (let at = from; at < to; at += 1) buffer[at + by] = buffer[at]!;
    this.#used += to - from;
  }

  /** Text as JSON. */
  json(text: string): void {
    const { length } = text;
    this.#reserve(length + 2);
    const buffer = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < SPACE || code > ASCII_MAX || code === QUOTE || code === BACKSLASH) {
        return this.text(JSON.stringify(text));
      }
      buffer[from + 1 + at] = code;
    }
    buffer[from] = QUOTE;
    buffer[from + 1 + length] = QUOTE;
    this.#used = from + length + 2;
  }

  /** A number from 0 up, as JSON. */
  number(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > SHORT_WHOLE_MAX) {
      return this.text(String(value));
    }
    let rest = value;
    let count = 0;
    do {
      const next = Math.floor(rest / 10);
      digits[count] = ZERO + (rest - next * 10);
      count += 1;
      rest = next;
    } while (rest > 0);
    this.#reserve(count);
    const buffer = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < count; at += 1) buffer[from + at] = digits[count - 1 - at]!;
    this.#used = from + count;
  }

  /** Replaces one byte that was written. */
  put(at: number, byte: number): void {
    this.#buffer[at] = byte;
  }

  /** What was written, as a view. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#used);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    const next = Buffer.allocUnsafeSlow(Math.max(need, this.#buffer.length * 2));
    this.#buffer.copy(next, 0, 0, this.#used);
    this.#buffer = next;
  }
}
