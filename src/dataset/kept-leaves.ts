/**
 * Keeps the border cells that were read last, found by their numbers, which is faster than a search
 * in the table's tree (docs/benchmarks.md).
 */
import { RecentMemory } from '../base/tables.js';
import { Generation, SLOTS } from './street-index.js';

const WORD = 4;
/** Integers of a generation. */
const GENERATION_CELLS = 1024 * 1024;
/** Longer cells are not kept. The longest in the publishers' files at hand has 163 integers. */
const KEPT_CELLS_MAX = GENERATION_CELLS / 16;
/** Memory of all that is kept of one release. */
export const KEPT_LEAVES_BYTES = 2 * (GENERATION_CELLS + SLOTS) * WORD;

/**
 * The slot of a number. It holds the index of the cell's first integer, behind its number. Cells
 * side by side have successive numbers, so those of a region have different slots. Of two cells
 * with the same slot, the later one is found.
 */
function slotOf(number: number): number {
  return number & (SLOTS - 1);
}

export class KeptLeaves extends RecentMemory<Generation> {
  /** Holds a cell that is not kept, until the next one. */
  #passing = new Int32Array(1024);
  /**
   * The memory of the table's view, and its integers: the table returns the same memory each time.
   */
  #source: ArrayBufferLike = new ArrayBuffer(0);
  #integers = new Int32Array(this.#source);
  /** The cell that was found or added last: the integers in `cells` that begin at `from`. */
  cells: Int32Array = this.#passing;
  from = 0;

  protected override begun(): Generation {
    return new Generation(GENERATION_CELLS);
  }

  /** Whether a cell is kept; if so, `cells` and `from` point to it. */
  find(number: number): boolean {
    if (this.rests()) return false;
    const found = this.#findIn(this.young, number) || this.#findIn(this.old, number);
    if (found) this.found += 1;
    return found;
  }

  #findIn(generation: Generation | null, number: number): boolean {
    if (generation === null) return false;
    const { words } = generation;
    const from = generation.slots[slotOf(number)]!;
    if (from === 0 || words[from - 1] !== number) return false;
    this.cells = words;
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
    if (!this.isResting && length <= KEPT_CELLS_MAX) {
      const young = (this.young ??= this.begun());
      this.kept += 1;
      const from = young.end + 1;
      if (from + length <= GENERATION_CELLS) {
        young.words[from - 1] = number;
        young.slots[slotOf(number)] = from;
        young.end = from + length;
        this.cells = young.words;
        this.from = from;
        return;
      }
      this.turn();
    }
    if (length > this.#passing.length) this.#passing = new Int32Array(length * 2);
    this.cells = this.#passing;
    this.from = 0;
  }
}

function integerAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
