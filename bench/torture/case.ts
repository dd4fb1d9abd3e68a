/** What a torture case is handed and what it returns. */

export interface TortureInput {
  /** How often the subject is killed. */
  readonly kills: number;
  /** Seed of everything random. */
  readonly seed: number;
  readonly report: (line: string) => void;
}

export interface TortureResult {
  readonly kills: number;
  /** Writes that were answered with success. */
  readonly acknowledged: number;
  /** Writes without an answer, sent again with the same Idempotency-Key. */
  readonly repeated: number;
  /** Acknowledged writes that were gone, one sentence each. */
  readonly lost: readonly string[];
  /** Everything else that was wrong, one sentence each. */
  readonly wrong: readonly string[];
}

export type TortureCase = (input: TortureInput) => Promise<TortureResult>;
