/**
 * Keeps the border cells that were read last, found by their numbers, which is faster than a search
 * in the table's tree (docs/benchmarks.md). Two generations of fixed size, as `KeptGroups` has for
 * streets: when the young one is full it becomes the old one, and the old one's memory is reused.
 */
import { KeepingPays } from '../base/tables.js';

const WORD = 4;
/** Integers of a generation. The system provides the memory only as it is written. */
const GENERATION_CELLS = 1024 * 1024;
/** Longer cells are not kept. The longest in the publishers' files at hand has 163 integers. */
const KEPT_CELLS_MAX = GENERATION_CELLS / 16;
/**
 * Slots of a generation; a power of two. Cells side by side have successive numbers, so those of a
 * region have different slots. Of two cells with the same slot, the later one is found.
 */
const SLOTS = 131_072;
/** Memory for all kept cells of one release. */
export const KEPT_LEAVES_BYTES = 2 * (GENERATION_CELLS + SLOTS) * WORD;

/** The entries follow one another, each: number · integers of the cell. */
class Generation {
  readonly cells = new Int32Array(GENERATION_CELLS);
  /** By slot: index of a cell's first integer; 0 for none. */
  readonly #slots = new Int32Array(SLOTS);
  #end = 0;

  clear(): void {
    this.#slots.fill(0);
    this.#end = 0;
  }

  /** Index of a cell's first integer; 0 where it is not kept. */
  find(number: number): number {
    const from = this.#slots[number & (SLOTS - 1)]!;
    return from !== 0 && this.cells[from - 1] === number ? from : 0;
  }

  /**
   * Makes room for a cell. Returns the index of its first integer; 0 where there is no room left.
   */
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
  /** Holds a cell that is not kept, until the next one. */
  #passing = new Int32Array(1024);
  readonly #pays = new KeepingPays();
  /**
   * The memory of the table's view, and its integers: the table returns the same memory each time.
   */
  #source: ArrayBufferLike = new ArrayBuffer(0);
  #integers = new Int32Array(this.#source);
  /** The cell that was found or added last: the integers in `cells` that begin at `from`. */
  cells: Int32Array = this.#passing;
  from = 0;

  /** Whether a cell is kept; if so, `cells` and `from` point to it. */
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

  /** Copies the cell that `find` has just not found. */
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
