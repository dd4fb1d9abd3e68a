/** Walks the streets of a group where they lie; nothing is decoded that is not asked for. */
import type { Group } from './street-groups.js';
import {
  FLAG_APART,
  FLAG_STATED,
  FLAG_TEXTS,
  FLAG_WIDE_NUMBERS,
  FLAG_WIDE_POINTS,
  FLAG_ZIP4,
  RANGE_EVEN,
  RANGE_HEAD_BYTES,
  RANGE_ODD,
  RANGE_STATED,
  STREET_HEAD_BYTES,
} from './street-format.js';

const NO_BYTES = new Uint8Array(0);
const { latin1Slice } = Buffer.prototype;
/** A text that is longer takes a call of the system less than making it letter by letter. */
const LETTERS_MAX = 6;

/**
 * One street at a time: `open` a group, `next` until false, before another group is read; `keep`
 * before anything else is read meanwhile. Reused for every lookup.
 */
export class StreetCursor {
  pre = 0;
  post = 0;
  city = 0;
  municipality = 0;
  points = 0;
  ranges = 0;
  /** How many tax areas its doors and ranges lie in, where that is known. */
  areaCount = 0;

  #bytes: Uint8Array = NO_BYTES;
  #own = Buffer.allocUnsafeSlow(4096);
  #groupEnd = 0;
  #isLasting = true;
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
  #rangesAt = 0;

  open({ bytes, start, end, isLasting }: Group): void {
    this.#bytes = bytes;
    this.#groupEnd = end;
    this.#isLasting = isLasting;
    this.#start = start;
    this.#end = start;
  }

  /** Makes the group safe from the next read of a table, which may take its memory. */
  keep(): void {
    if (this.#isLasting) return;
    const length = this.#groupEnd;
    if (length > this.#own.length) this.#own = Buffer.allocUnsafeSlow(length * 2);
    this.#own.set(this.#bytes.subarray(0, length));
    this.#bytes = this.#own;
    this.#isLasting = true;
  }

  next(): boolean {
    const at = this.#end;
    if (at + STREET_HEAD_BYTES > this.#groupEnd) return false;
    const bytes = this.#bytes;
    this.#start = at;
    this.#end = at + this.#u32(at);
    this.points = this.#u32(at + 4);
    this.ranges = this.#u16(at + 8);
    this.areaCount = this.#u16(at + 10);
    this.city = this.#u16(at + 12);
    this.municipality = this.#u16(at + 14);
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
    this.#rangesAt = this.#textsAt;
    if ((flags & FLAG_TEXTS) !== 0) {
      const sizeAt = this.#textsAt + this.points * 2;
      this.#blobAt = sizeAt + 2;
      this.#rangesAt = this.#blobAt + this.#u16(sizeAt);
    }
    return true;
  }

  /** Whether the street's type is this abbreviation. */
  hasSuffix(suffix: string): boolean {
    if (this.#suffixLength !== suffix.length) return false;
    const at = this.#start + STREET_HEAD_BYTES;
    for (let index = 0; index < suffix.length; index += 1) {
      if (this.#bytes[at + index] !== suffix.charCodeAt(index)) return false;
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
      if (this.#bytes[index]! > 127) {
        return Buffer.from(this.#bytes.subarray(at, at + this.#labelLength)).toString('utf8');
      }
    }
    return this.#latin1(at, this.#labelLength);
  }

  /** An entry of the street's list of tax areas. */
  areaOf(index: number): number {
    return this.#u32(this.#paletteAt() + index * 4);
  }

  /** First door whose number is not below the value. */
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
      ? this.#u16(this.#numbersAt + door * 2)
      : this.#u32(this.#numbersAt + door * 4);
  }

  lat(door: number): number {
    return this.#i32(this.#start + 16) + this.#offset(this.#latsAt, door);
  }

  lng(door: number): number {
    return this.#i32(this.#start + 20) + this.#offset(this.#lngsAt, door);
  }

  area(door: number): number {
    return this.areaOf(this.areaCount > 1 ? this.#u16(this.#areasAt + door * 2) : 0);
  }

  /** ZIP+4 add-on, −1 for none. */
  plus4(door: number): number {
    return (this.#flags & FLAG_ZIP4) === 0 ? -1 : this.#u16(this.#zip4At + door * 2) - 1;
  }

  /** The number as written where it is more than its integer ("12A"); else "". */
  text(door: number): string {
    if ((this.#flags & FLAG_TEXTS) === 0) return '';
    const offset = this.#u16(this.#textsAt + door * 2);
    if (offset === 0) return '';
    const at = this.#blobAt + offset;
    return this.#latin1(at + 1, this.#bytes[at]!);
  }

  /** Whether it is known that no line between tax areas comes near any of its doors. */
  get isApart(): boolean {
    return (this.#flags & FLAG_APART) !== 0;
  }

  /** Whether the state's boundary file states some of its ranges. */
  get hasStated(): boolean {
    return (this.#flags & FLAG_STATED) !== 0;
  }

  /** Position of the first range; step with `nextRange`, `ranges` times. */
  get firstRange(): number {
    return this.#rangesAt;
  }

  nextRange(range: number): number {
    return range + this.#u16(range);
  }

  /** Whether a range holds the number, parity included. */
  rangeHolds(range: number, value: number): boolean {
    if (value < this.#u32(range + 6) || value > this.#u32(range + 10)) return false;
    const flags = this.#bytes[range + 4]!;
    if ((flags & RANGE_ODD) !== 0) return value % 2 === 1;
    return (flags & RANGE_EVEN) === 0 || value % 2 === 0;
  }

  rangeFlags(range: number): number {
    return this.#bytes[range + 4]!;
  }

  rangeLow(range: number): number {
    return this.#u32(range + 6);
  }

  rangeHigh(range: number): number {
    return this.#u32(range + 10);
  }

  /** −1 where the area changes along the range. */
  rangeArea(range: number): number {
    const index = this.#u16(range + 14);
    return index === 0 ? -1 : this.areaOf(index - 1);
  }

  rangePlus4(range: number): number {
    return this.#u16(range + 16) - 1;
  }

  rangeBegin(range: number): number {
    return this.#u32(range + 18);
  }

  /** Whether the state's boundary file states a range, and for this day. */
  isStatedOn(range: number, day: number): boolean {
    return (
      this.isStated(range) &&
      day >= this.#u32(range + 18) &&
      day <= this.#u32(range + RANGE_HEAD_BYTES)
    );
  }

  /** Whether the state's boundary file states a range, for whatever day; it has no line then. */
  isStated(range: number): boolean {
    return (this.#bytes[range + 4]! & RANGE_STATED) !== 0;
  }

  /** The line of a range: lat, lng, lat, lng …; empty where the source has none. */
  rangeLine(range: number): number[] {
    const line: number[] = [];
    const vertices = this.#u16(range + 2);
    if (vertices === 0) return line;
    let at = range + RANGE_HEAD_BYTES;
    line.push(this.#i32(at), this.#i32(at + 4));
    at += 8;
    for (let index = 2; index < vertices * 2; index += 1) {
      let step = 0;
      let scale = 1;
      for (;;) {
        const byte = this.#bytes[at]!;
        at += 1;
        step += (byte & 127) * scale;
        if (byte < 128) break;
        scale *= 128;
      }
      line.push(line[index - 2]! + (step % 2 === 1 ? -(step + 1) / 2 : step / 2));
    }
    return line;
  }

  #paletteAt(): number {
    return this.#start + STREET_HEAD_BYTES + this.#suffixLength + this.#labelLength;
  }

  #offset(column: number, door: number): number {
    return (this.#flags & FLAG_WIDE_POINTS) === 0
      ? this.#u16(column + door * 2)
      : this.#u32(column + door * 4);
  }

  #latin1(at: number, length: number): string {
    if (length > LETTERS_MAX) return latin1Slice.call(this.#bytes, at, at + length);
    let text = '';
    for (let index = at; index < at + length; index += 1) {
      text += String.fromCharCode(this.#bytes[index]!);
    }
    return text;
  }

  #u16(at: number): number {
    return this.#bytes[at]! | (this.#bytes[at + 1]! << 8);
  }

  #i32(at: number): number {
    const bytes = this.#bytes;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  #u32(at: number): number {
    return this.#i32(at) >>> 0;
  }
}
