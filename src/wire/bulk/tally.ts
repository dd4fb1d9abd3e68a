/** Counts what became of the rows of a chunk. */
import { SUCCESS } from '../response-code.js';
import type { ChunkTally, RowRefusal } from './job.js';

/** What is counted of a row. */
export interface Counted {
  readonly code: number;
  /** It was located by address or coordinates. */
  readonly geo: boolean;
  /** It is an operation of a merchant and no lookup. */
  readonly merchant?: boolean;
}

export class Tally {
  #rows = 0;
  #core = 0;
  #geo = 0;
  #merchant = 0;
  #refusal: RowRefusal | null = null;
  readonly #codes = new Map<number, number>();

  /** Counts a row; it counts as used only where it was answered with success. */
  add({ code, geo, merchant = false }: Counted, refusal: RowRefusal | null): void {
    this.#rows += 1;
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    this.#refusal ??= refusal;
    if (code !== SUCCESS.code) return;
    if (merchant) {
      this.#merchant += 1;
      return;
    }
    this.#core += 1;
    if (geo) this.#geo += 1;
  }

  result(): ChunkTally {
    return {
      rows: this.#rows, codes: Object.fromEntries(this.#codes), core: this.#core, geo: this.#geo,
      merchant: this.#merchant, refusal: this.#refusal,
    };
  }
}
