/** What a bench case is handed and what it returns. */
import { seeded as seededRandom } from '../../src/provider/simulator/faults.js';

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
  return seededRandom(seed).next;
}

/** The middle one of values; 0 of none. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** What is compared: other programs on the machine only add. */
export function lowest(values: readonly number[]): number {
  return Math.min(...values);
}
