/** Totals of a run, from which its trailer is made. */
import { createHash } from 'node:crypto';
import { type Counts, NO_COUNTS, plusCounts } from '../../store/usage-meter.js';
import { SUCCESS } from '../../wire/response-code.js';
import type { Trailer, Stopped } from '../row/envelope.js';
import type { ChunkTally, RefusedRow } from '../row/chunk-payload.js';

export class RunTotals {
  readonly #hash = createHash('sha256');
  readonly #codes = new Map<string, number>();
  #rows = 0;
  #bytes = 0;
  /** Bytes of output for refused rows. */
  errorBytes = 0;
  #counts: Counts = NO_COUNTS;
  /** The first row that was refused; null where none was. */
  refusal: RefusedRow | null = null;

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many of the rows count as usage. */
  get counts(): Counts {
    return this.#counts;
  }

  /** Rows by response code, in ascending order of codes. */
  get codes(): Readonly<Record<string, number>> {
    const codes = [...this.#codes].sort(([left], [right]) => Number(left) - Number(right));
    return Object.fromEntries(codes);
  }

  /** Adds output; to be called in the order in which it is written. */
  write(output: Uint8Array): void {
    this.#bytes += output.length;
    this.#hash.update(output);
  }

  add({ rows, codes, refusals: [refusal], core, geo, merchant }: ChunkTally): void {
    this.#rows += rows;
    this.#counts = plusCounts(this.#counts, { core, geo, merchant }, 1);
    this.refusal ??= refusal ?? null;
    for (const [code, count] of Object.entries(codes)) {
      this.#codes.set(code, (this.#codes.get(code) ?? 0) + count);
    }
  }

  end(stopped: Stopped | null): Trailer {
    return {
      complete: stopped === null,
      rows: this.#rows,
      codes: this.codes,
      bytes: this.#bytes,
      sha256: this.sha256With(new Uint8Array(0)),
      stopped,
    };
  }

  /** SHA-256, in hex, of the output so far followed by `rest`. */
  sha256With(rest: Uint8Array): string {
    return this.#hash.copy().update(rest).digest('hex');
  }
}

/**
 * Estimates how many bytes of a chunk's output belong to refused rows, from their share of its
 * rows.
 */
export function errorBytesOf(tally: ChunkTally | null, bytes: number): number {
  if (tally === null || tally.rows === 0) return 0;
  const refused = tally.rows - (tally.codes[SUCCESS.code] ?? 0);
  return Math.ceil((bytes * refused) / tally.rows);
}
