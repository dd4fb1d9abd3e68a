/**
 * Border cells that were read last, found by their numbers in place of a walk down the table's tree
 * (docs/benchmarks.md). Two generations of fixed size, as of the groups of streets: when the young
 * one is full it becomes the old one, whose memory is used anew.
 */
import { KeepingPays } from '../base/tables.js';

const WORD = 4;
/** Integers of a generation, whose memory the system hands out as it is written. */
const GENERATION_CELLS = 1024 * 1024;
/** Longer cells are not kept; of the publishers' files at hand the longest has 163 integers. */
const KEPT_CELLS_MAX = GENERATION_CELLS / 16;
/**
 * Slots of a generation; a power of two. Numbers follow one another where cells lie side by side,
 * so that those of a region have slots of their own; of two with the same slot the last is found.
 */
const SLOTS = 131_072;
/** Memory of all that is kept of one release. */
export const KEPT_LEAVES_BYTES = 2 * (GENERATION_CELLS + SLOTS) * WORD;

/** Entries one after the other: number · integers of the cell. */
class Generation {
  readonly cells = new Int32Array(GENERATION_CELLS);
  /** First integer of a cell; 0 for none. */
  readonly #slots = new Int32Array(SLOTS);
  #end = 0;

  clear(): void {
    this.#slots.fill(0);
    this.#end = 0;
  }

  /** First integer of a cell; 0 where it is not here. */
  find(number: number): number {
    const from = this.#slots[number & (SLOTS - 1)]!;
    return from !== 0 && this.cells[from - 1] === number ? from : 0;
  }

  /** Makes room for a cell: its first integer, 0 where there is no room left. */
  add(number: number, length: number): number {
    const from = this.#end + 1;
    if (from + length > GENERATION_CELLS) return 0;
    this.cells[from - 1] = number;
    this.#slots[number & (SLOTS - 1)] = from;
    this.#end = from + length;
    return from;
  }
}

export class KeptLeaves {
  #young: Generation | null = null;
  #old: Generation | null = null;
  /** Holds what is not kept, until the next one. */
  #passing = new Int32Array(1024);
  readonly #pays = new KeepingPays();
  /** The memory that cells are read from, as integers: the table hands out the same one. */
  #source: ArrayBufferLike = new ArrayBuffer(0);
  #integers = new Int32Array(this.#source);
  /** The cell that was found, or that room was made for: integers in `cells` from `from` on. */
  cells: Int32Array = this.#passing;
  from = 0;

  /** Whether a cell is kept. */
  find(number: number): boolean {
    if (this.#pays.rests()) return false;
    const found = this.#findIn(this.#young, number) || this.#findIn(this.#old, number);
    if (found) this.#pays.found += 1;
    return found;
  }

  #findIn(generation: Generation | null, number: number): boolean {
    if (generation === null) return false;
    const from = generation.find(number);
    if (from === 0) return false;
    this.cells = generation.cells;
    this.from = from;
    return true;
  }

  /** Takes the integers of the cell that was looked for last and not found. */
  add(number: number, bytes: Uint8Array): void {
    const length = bytes.length >> 2;
    this.#makeRoom(number, length);
    const { cells, from } = this;
    const { buffer, byteOffset } = bytes;
    if ((byteOffset & 3) === 0) {
      if (buffer !== this.#source) {
        this.#source = buffer;
        this.#integers = new Int32Array(buffer, 0, buffer.byteLength >> 2);
      }
      const integers = this.#integers;
      const first = byteOffset >> 2;
      for (let at = 0; at < length; at += 1) cells[from + at] = integers[first + at]!;
    } else {
      for (let at = 0; at < length; at += 1) cells[from + at] = integerAt(bytes, at * 4);
    }
  }

  #makeRoom(number: number, length: number): void {
    this.from = 0;
    if (!this.#pays.isResting && length <= KEPT_CELLS_MAX) {
      this.#young ??= new Generation();
      this.#pays.kept += 1;
      this.from = this.#young.add(number, length);
      this.cells = this.#young.cells;
      if (this.from !== 0) return;
      this.#turn();
    }
    if (length > this.#passing.length) this.#passing = new Int32Array(length * 2);
    this.cells = this.#passing;
  }

  #turn(): void {
    const spent = this.#old ?? new Generation();
    spent.clear();
    this.#old = this.#pays.turn() ? this.#young : null;
    this.#young = spent;
  }
}

function integerAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
