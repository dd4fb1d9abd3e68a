/** The input and the result of a bench case. */
import { seeded as seededRandom } from '../../src/provider/simulator/faults.js';

export interface BenchInput {
  /** A folder of variables with an active dataset. */
  readonly varDir: string;
  /** Folder of the active release. */
  readonly datasetDir: string;
  /** How many seconds each figure is measured. */
  readonly seconds: number;
}

/** A measured figure, and the target it is compared with. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The value that must be reached, as a minimum or a maximum. */
  readonly target?: { readonly atLeast?: number; readonly atMost?: number };
  readonly note?: string;
}

export type BenchCase = (input: BenchInput) => Promise<readonly Figure[]>;

/** Results are stored here, so that the optimizer does not remove the work. */
export const sink: { value: unknown } = { value: null };

/** A small seeded generator (mulberry32), for the same inputs in every run. */
export function seeded(seed: number): () => number {
  return seededRandom(seed).next;
}

/** The median; 0 where there are no values. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** The value to compare, since other programs on the machine only add to it. */
export function lowest(values: readonly number[]): number {
  return Math.min(...values);
}
