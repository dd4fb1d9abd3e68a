/**
 * Writes and reads numbers and texts in a fixed order, which both sides know. Facts about rows are
 * passed between threads in this form. Little-endian.
 *
 * Text:  u32 twice the number of characters, plus 1 where each takes two bytes · the characters
 * Null:  u32 0xffffffff in place of a text
 */
import { doubled } from '../../base/growing-bytes.js';

const NULL_TEXT = 0xffff_ffff;
const LATIN1_MAX = 0xff;
const U16 = 2;
const U32 = 4;
const F64 = 8;

/** Whether every character fits one byte. */
function isLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > LATIN1_MAX) return false;
  return true;
}

/** Writes fields into memory that is used again. */
export class FieldWriter {
  #buffer: Buffer;
  #used = 0;

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(capacityBytes);
  }

  /** Removes all fields. */
  clear(): void {
    this.#used = 0;
  }

  byte(value: number): void {
    this.#used = this.#room(1).writeUInt8(value, this.#used);
  }

  u16(value: number): void {
    this.#used = this.#room(U16).writeUInt16LE(value, this.#used);
  }

  u32(value: number): void {
    this.#used = this.#room(U32).writeUInt32LE(value, this.#used);
  }

  f64(value: number): void {
    this.#used = this.#room(F64).writeDoubleLE(value, this.#used);
  }

  /** Writes a text as it is, even if it is not valid Unicode. */
  text(text: string | null): void {
    if (text === null) {
      this.u32(NULL_TEXT);
      return;
    }
    const wide = !isLatin1(text);
    this.u32(2 * text.length + Number(wide));
    const room = this.#room(U16 * text.length);
    this.#used += room.write(text, this.#used, wide ? 'utf16le' : 'latin1');
  }

  /** A copy of all fields. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#used));
  }

  #room(more: number): Buffer {
    const need = this.#used + more;
    if (need > this.#buffer.length) this.#buffer = doubled(this.#buffer, this.#used, need);
    return this.#buffer;
  }
}

/** Reads fields in the order in which they were written. */
export class FieldReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  byte(): number {
    this.#at += 1;
    return this.#buffer.readUInt8(this.#at - 1);
  }

  u16(): number {
    this.#at += U16;
    return this.#buffer.readUInt16LE(this.#at - U16);
  }

  u32(): number {
    this.#at += U32;
    return this.#buffer.readUInt32LE(this.#at - U32);
  }

  f64(): number {
    this.#at += F64;
    return this.#buffer.readDoubleLE(this.#at - F64);
  }

  textOrNull(): string | null {
    const said = this.u32();
    if (said === NULL_TEXT) return null;
    const wide = said % 2 === 1;
    const from = this.#at;
    this.#at += wide ? said - 1 : said / 2;
    return this.#buffer.toString(wide ? 'utf16le' : 'latin1', from, this.#at);
  }

  text(): string {
    const text = this.textOrNull();
    if (text === null) throw new TypeError('a text is missing');
    return text;
  }
}
