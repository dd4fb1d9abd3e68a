/** The input and the result of a torture case. */

export interface TortureInput {
  /** How often the program is killed. */
  readonly kills: number;
  /** The seed of all random choices. */
  readonly seed: number;
  readonly report: (line: string) => void;
}

export interface TortureResult {
  readonly kills: number;
  /** How many writes were answered with success. */
  readonly acknowledged: number;
  /** How many writes without an answer were sent again with the same Idempotency-Key. */
  readonly repeated: number;
  /** Acknowledged writes that were lost, in one sentence each. */
  readonly lost: readonly string[];
  /** All other faults, in one sentence each. */
  readonly wrong: readonly string[];
}

export type TortureCase = (input: TortureInput) => Promise<TortureResult>;
