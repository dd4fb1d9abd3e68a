/** Reads the ranges of streets in place. */
import { DoorCursor } from './street-bytes.js';
import { RANGE_EVEN, RANGE_HEAD_BYTES, RANGE_ODD, RANGE_STATED } from './street-format.js';

/**
 * Walks streets with their doors and ranges, each by its position. Call `keep` before another read.
 */
export class StreetCursor extends DoorCursor {
  #own = Buffer.allocUnsafeSlow(4096);

  /** Copies the group, because the next read of a table may overwrite its memory. */
  keep(): void {
    if (this.isLasting) return;
    const length = this.groupEnd;
    if (length > this.#own.length) this.#own = Buffer.allocUnsafeSlow(length * 2);
    this.#own.set(this.bytes.subarray(0, length));
    this.bytes = this.#own;
    this.isLasting = true;
  }

  /** Position of the first range; `nextRange` gives the next one, as often as `ranges` says. */
  get firstRange(): number {
    return this.rangesAt;
  }

  nextRange(range: number): number {
    return range + this.u16(range);
  }

  /** Whether a range contains the number, also by its parity. */
  rangeHolds(range: number, value: number): boolean {
    if (value < this.u32(range + 6) || value > this.u32(range + 10)) return false;
    const flags = this.bytes[range + 4]!;
    if ((flags & RANGE_ODD) !== 0) return value % 2 === 1;
    return (flags & RANGE_EVEN) === 0 || value % 2 === 0;
  }

  rangeFlags(range: number): number {
    return this.bytes[range + 4]!;
  }

  rangeLow(range: number): number {
    return this.u32(range + 6);
  }

  rangeHigh(range: number): number {
    return this.u32(range + 10);
  }

  /** The tax area of a range; −1 where it changes along the range. */
  rangeArea(range: number): number {
    const index = this.u16(range + 14);
    return index === 0 ? -1 : this.areaOf(index - 1);
  }

  rangePlus4(range: number): number {
    return this.u16(range + 16) - 1;
  }

  rangeBegin(range: number): number {
    return this.u32(range + 18);
  }

  /** Whether a range comes from the state's boundary file and holds on this day. */
  isStatedOn(range: number, day: number): boolean {
    return (
      this.isStated(range) &&
      day >= this.u32(range + 18) &&
      day <= this.u32(range + RANGE_HEAD_BYTES)
    );
  }

  /** Whether a range comes from the state's boundary file, on any day; such a range has no line. */
  isStated(range: number): boolean {
    return (this.bytes[range + 4]! & RANGE_STATED) !== 0;
  }

  /** The line of a range as lat, lng, lat, lng …; empty where the source has none. */
  rangeLine(range: number): number[] {
    const line: number[] = [];
    const vertices = this.u16(range + 2);
    if (vertices === 0) return line;
    let at = range + RANGE_HEAD_BYTES;
    line.push(this.i32(at), this.i32(at + 4));
    at += 8;
    for (let index = 2; index < vertices * 2; index += 1) {
      let step = 0;
      let scale = 1;
      for (;;) {
        const byte = this.bytes[at]!;
        at += 1;
        step += (byte & 127) * scale;
        if (byte < 128) break;
        scale *= 128;
      }
      line.push(line[index - 2]! + (step % 2 === 1 ? -(step + 1) / 2 : step / 2));
    }
    return line;
  }
}
