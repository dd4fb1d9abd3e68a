/**
 * Counts the rows of address files that did not become part of the street table, by file and
 * reason.
 */
import { type FallenRows, toleranceOf } from '../source/fallen.js';

/**
 * Most percent of a file's doors, sides and records that may be useless although they can be read.
 * With more, the file is for another place than its recipe says, or has another meaning. A recipe
 * can allow more, with the same setting as for rows that cannot be read.
 */
const LOST_PERCENT_MAX = 10;

/** The lost rows of one file. */
export interface LostRows {
  readonly file: string;
  /** Two-letter code of the recipe's entry. */
  readonly state: string;
  /** Rows that were read. */
  readonly rows: number;
  /** Numbers of doors, sides and records, by the reason why they were lost. */
  readonly reasons: readonly (readonly [reason: string, rows: number])[];
}

export class LostCounter {
  readonly #file: string;
  readonly #state: string;
  #offered = 0;
  #read = 0;
  readonly #own = new Map<string, number>();
  readonly #left = new Map<string, number>();
  #fallen: FallenRows['reasons'] = [];

  readonly #percentMax: number;

  /** `tolerance` is a percentage, as in recipes. */
  constructor(file: string, state: string, tolerance?: string) {
    this.#file = file;
    this.#state = state;
    this.#percentMax = Math.max(LOST_PERCENT_MAX, toleranceOf(file, tolerance));
  }

  /** Counts a door, side or record; `reason` says why it is lost, null for one that is not. */
  count(reason: string | null): void {
    this.#offered += 1;
    if (reason !== null) this.#own.set(reason, (this.#own.get(reason) ?? 0) + 1);
  }

  /** Counts a record that is intact and has no use by its own contents, so that it is not lost. */
  leave(reason: string): void {
    this.#offered += 1;
    this.#left.set(reason, (this.#left.get(reason) ?? 0) + 1);
  }

  /** Adds the rows that the reader left out. */
  fell({ read, reasons }: FallenRows): void {
    this.#read = read;
    this.#fallen = reasons;
  }

  /** The lost rows of the whole file; null for none. @throws Error where too many were lost. */
  settle(): LostRows | null {
    const lost = [...this.#own.values()].reduce((sum, own) => sum + own, 0);
    if (lost * 100 > this.#offered * this.#percentMax) {
      throw new Error(
        `${this.#file}: ${lost} of ${this.#offered} doors, sides or records have no ` +
          `use, more than the ${this.#percentMax} % that may: ${told([...this.#own])}`,
      );
    }
    const reasons = [...this.#fallen, ...this.#left, ...this.#own];
    if (reasons.length === 0) return null;
    const rows = this.#read || this.#offered;
    return { file: this.#file, state: this.#state, rows, reasons };
  }

  /** A sentence on rows that could be read and have no use; null for none. */
  sentence(): string | null {
    const reasons = [...this.#own, ...this.#left];
    return reasons.length === 0
      ? null
      : `${this.#file}: of ${this.#offered} doors, sides or records: ${told(reasons)}`;
  }
}

/** A sentence on what was lost of a file. */
export function lostSentence({ file, reasons }: LostRows): string {
  return `${file}: of its records: ${told(reasons)}`;
}

function told(reasons: LostRows['reasons']): string {
  return [...reasons]
    .sort(([one, own], [other, more]) => more - own || (one < other ? -1 : 1))
    .map(([reason, rows]) => `${rows} ${reason}`)
    .join('; ');
}

/** Sentences by state about lost rows, for the coverage. */
export function lostByState(lost: readonly LostRows[]): ReadonlyMap<string, string> {
  const states = new Map<string, { rows: number; readonly reasons: Map<string, number> }>();
  for (const { state, rows, reasons } of lost) {
    const own = states.get(state) ?? { rows: 0, reasons: new Map() };
    states.set(state, own);
    own.rows += rows;
    for (const [reason, count] of reasons) {
      own.reasons.set(reason, (own.reasons.get(reason) ?? 0) + count);
    }
  }
  return new Map(
    [...states].map(([state, { rows, reasons }]) => [
      state,
      `of ${rows} rows of addresses left out: ${told([...reasons])}`,
    ]),
  );
}
