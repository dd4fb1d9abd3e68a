/** What a bench case is handed and what it returns. */

export interface BenchInput {
  /** Folder of variables with an active dataset. */
  readonly varDir: string;
  /** Folder of the active release. */
  readonly datasetDir: string;
  /** Seconds of measurement per figure. */
  readonly seconds: number;
}

/** One measured figure with the limit it is held against. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the figure should reach, and in which direction. */
  readonly target?: { readonly atLeast?: number; readonly atMost?: number };
  readonly note?: string;
}

export type BenchCase = (input: BenchInput) => Promise<readonly Figure[]>;

/** Keeps the optimizer from dropping work whose result nobody uses. */
export const sink: { value: unknown } = { value: null };

/** A small seeded generator (mulberry32): the same inputs in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The middle one of values; 0 of none. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** What is compared: other programs on the machine only add. */
export function lowest(values: readonly number[]): number {
  return Math.min(...values);
}
