/**
 * Reads the bytes of the street table: builds keys, and walks the streets of a group and their
 * doors in place. Nothing is decoded before it is asked for.
 */
import { NO_BYTES } from '../base/growing-bytes.js';
import {
  FLAG_APART,
  FLAG_STATED,
  FLAG_TEXTS,
  FLAG_WIDE_NUMBERS,
  FLAG_WIDE_POINTS,
  FLAG_ZIP4,
  type Group,
  STREET_HEAD_BYTES,
} from './street-format.js';

/** Longest key of the table; words of an address are far shorter. */
const KEY_BYTES_MAX = 1900;
const BAR = 124;
const DIGIT_ZERO = 48;
const ZIP_DIGITS = 5;
const ASCII_MAX = 127;

/**
 * A key of the table, built in place byte by byte, because making a text and encoding it would cost
 * more than reading the table. One key at a time: each method begins a new key and returns it.
 */
export class StreetKey {
  readonly bytes = new Uint8Array(KEY_BYTES_MAX);
  /** The memory of `bytes`, for hashing; that clears the bytes behind the key in its last word. */
  readonly words = new Int32Array(this.bytes.buffer);
  length = 0;

  /** Key for the streets of a folded name in a ZIP. */
  zipGroup(state: string, zip: number, fold: string): this {
    return this.#ofZip('z|', state, zip).#end(fold);
  }

  /** Key for the names of a ZIP's streets. */
  zipNames(state: string, zip: number): this {
    return this.#ofZip('n|', state, zip);
  }

  /**
   * Key for streets of a name in a locality (`t|`: without a ZIP; `c|`: where it has such streets).
   */
  ofLocality(kind: 't|' | 'c|', state: string, locality: number, fold: string): this {
    this.#begin(kind, state);
    this.#text(`:${locality}`);
    return this.#end(fold);
  }

  /** A 32-bit hash of the key. */
  hash(): number {
    const { bytes, words, length } = this;
    bytes[length] = bytes[length + 1] = bytes[length + 2] = 0;
    let hash = length;
    for (let at = (length - 1) >> 2; at >= 0; at -= 1) {
      hash = Math.imul(hash ^ words[at]!, 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  /** The key as text, for tables without keys in bytes. */
  toString(): string {
    return Buffer.from(this.bytes.buffer, 0, this.length).toString('latin1');
  }

  #ofZip(kind: string, state: string, zip: number): this {
    this.#begin(kind, state);
    let rest = zip;
    for (let at = this.length + ZIP_DIGITS - 1; at >= this.length; at -= 1) {
      this.bytes[at] = DIGIT_ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.length += ZIP_DIGITS;
    return this;
  }

  #begin(kind: string, state: string): void {
    this.length = 0;
    this.#text(kind);
    this.#text(state);
  }

  #end(fold: string): this {
    this.bytes[this.length] = BAR;
    this.length += 1;
    this.#text(fold);
    return this;
  }

  #text(text: string): void {
    const { bytes } = this;
    const at = this.length;
    if (at + text.length + ZIP_DIGITS + 2 > KEY_BYTES_MAX) throw new RangeError('key too long');
    let bits = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      bits |= code;
      bytes[at + index] = code;
    }
    if (bits > ASCII_MAX) throw new RangeError('a folded name has letters and figures alone');
    this.length = at + text.length;
  }
}

const { latin1Slice } = Buffer.prototype;
/** Texts up to this length are made letter by letter; for longer ones a native call is faster. */
const LETTERS_MAX = 6;

/**
 * Reads one street at a time: `open` a group, `next` until false, then open another group. Reused
 * for every lookup.
 */
export class DoorCursor {
  pre = 0;
  post = 0;
  city = 0;
  municipality = 0;
  points = 0;
  ranges = 0;
  /** How many tax areas its doors and ranges lie in, where that is known. */
  areaCount = 0;

  protected bytes: Uint8Array = NO_BYTES;
  protected groupEnd = 0;
  protected isLasting = true;
  #start = 0;
  #end = 0;
  #flags = 0;
  #suffixLength = 0;
  #labelLength = 0;
  #numbersAt = 0;
  #latsAt = 0;
  #lngsAt = 0;
  #areasAt = 0;
  #zip4At = 0;
  #textsAt = 0;
  #blobAt = 0;
  protected rangesAt = 0;

  open({ bytes, start, end, isLasting }: Group): void {
    this.bytes = bytes;
    this.groupEnd = end;
    this.isLasting = isLasting;
    this.#start = start;
    this.#end = start;
  }

  next(): boolean {
    const at = this.#end;
    if (at + STREET_HEAD_BYTES > this.groupEnd) return false;
    const bytes = this.bytes;
    this.#start = at;
    this.#end = at + this.u32(at);
    this.points = this.u32(at + 4);
    this.ranges = this.u16(at + 8);
    this.areaCount = this.u16(at + 10);
    this.city = this.u16(at + 12);
    this.municipality = this.u16(at + 14);
    this.pre = bytes[at + 24]!;
    this.post = bytes[at + 25]!;
    const flags = bytes[at + 26]!;
    this.#flags = flags;
    this.#suffixLength = bytes[at + 27]!;
    this.#labelLength = bytes[at + 28]!;
    const width = (flags & FLAG_WIDE_POINTS) === 0 ? 2 : 4;
    this.#numbersAt = this.#paletteAt() + this.areaCount * 4;
    this.#latsAt = this.#numbersAt + this.points * ((flags & FLAG_WIDE_NUMBERS) === 0 ? 2 : 4);
    this.#lngsAt = this.#latsAt + this.points * width;
    this.#areasAt = this.#lngsAt + this.points * width;
    this.#zip4At = this.#areasAt + (this.areaCount > 1 ? this.points * 2 : 0);
    this.#textsAt = this.#zip4At + ((flags & FLAG_ZIP4) === 0 ? 0 : this.points * 2);
    this.rangesAt = this.#textsAt;
    if ((flags & FLAG_TEXTS) !== 0) {
      const sizeAt = this.#textsAt + this.points * 2;
      this.#blobAt = sizeAt + 2;
      this.rangesAt = this.#blobAt + this.u16(sizeAt);
    }
    return true;
  }

  /** Whether the street's type has this abbreviation. */
  hasSuffix(suffix: string): boolean {
    if (this.#suffixLength !== suffix.length) return false;
    const at = this.#start + STREET_HEAD_BYTES;
    for (let index = 0; index < suffix.length; index += 1) {
      if (this.bytes[at + index] !== suffix.charCodeAt(index)) return false;
    }
    return true;
  }

  get suffix(): string {
    return this.#latin1(this.#start + STREET_HEAD_BYTES, this.#suffixLength);
  }

  /** "Spectrum Center Dr" */
  get label(): string {
    const at = this.#start + STREET_HEAD_BYTES + this.#suffixLength;
    for (let index = at; index < at + this.#labelLength; index += 1) {
      if (this.bytes[index]! > 127) {
        return Buffer.from(this.bytes.subarray(at, at + this.#labelLength)).toString('utf8');
      }
    }
    return this.#latin1(at, this.#labelLength);
  }

  /** An entry of the street's list of tax areas. */
  areaOf(index: number): number {
    return this.u32(this.#paletteAt() + index * 4);
  }

  /** Index of the first door whose number is not below the value. */
  firstDoor(value: number): number {
    let low = 0;
    let high = this.points;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.value(middle) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  value(door: number): number {
    return (this.#flags & FLAG_WIDE_NUMBERS) === 0
      ? this.u16(this.#numbersAt + door * 2)
      : this.u32(this.#numbersAt + door * 4);
  }

  lat(door: number): number {
    return this.i32(this.#start + 16) + this.#offset(this.#latsAt, door);
  }

  lng(door: number): number {
    return this.i32(this.#start + 20) + this.#offset(this.#lngsAt, door);
  }

  area(door: number): number {
    return this.areaOf(this.areaCount > 1 ? this.u16(this.#areasAt + door * 2) : 0);
  }

  /** The ZIP+4 add-on of a door; −1 for none. */
  plus4(door: number): number {
    return (this.#flags & FLAG_ZIP4) === 0 ? -1 : this.u16(this.#zip4At + door * 2) - 1;
  }

  /** The door's number as written where it is more than its integer ("12A"); otherwise "". */
  text(door: number): string {
    if ((this.#flags & FLAG_TEXTS) === 0) return '';
    const offset = this.u16(this.#textsAt + door * 2);
    if (offset === 0) return '';
    const at = this.#blobAt + offset;
    return this.#latin1(at + 1, this.bytes[at]!);
  }

  /** Whether it is known that no line between tax areas is near any of its doors. */
  get isApart(): boolean {
    return (this.#flags & FLAG_APART) !== 0;
  }

  /** Whether some of its ranges come from the state's boundary file. */
  get hasStated(): boolean {
    return (this.#flags & FLAG_STATED) !== 0;
  }

  #paletteAt(): number {
    return this.#start + STREET_HEAD_BYTES + this.#suffixLength + this.#labelLength;
  }

  #offset(column: number, door: number): number {
    return (this.#flags & FLAG_WIDE_POINTS) === 0
      ? this.u16(column + door * 2)
      : this.u32(column + door * 4);
  }

  #latin1(at: number, length: number): string {
    if (length > LETTERS_MAX) return latin1Slice.call(this.bytes, at, at + length);
    let text = '';
    for (let index = at; index < at + length; index += 1) {
      text += String.fromCharCode(this.bytes[index]!);
    }
    return text;
  }

  protected u16(at: number): number {
    return this.bytes[at]! | (this.bytes[at + 1]! << 8);
  }

  protected i32(at: number): number {
    const bytes = this.bytes;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  protected u32(at: number): number {
    return this.i32(at) >>> 0;
  }
}
