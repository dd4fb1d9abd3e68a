/** What a pump is made with, and the sides that it connects. */
import { fail } from '../../failure.js';
import type { PoolFailure } from '../../pool/types.js';
import type { Trailer } from '../row/envelope.js';
import type { RunFacts, ChunkTally } from '../row/chunk-payload.js';
import type { RecordCutter } from '../row/record-cutter.js';
import type { CutPosition } from '../row/record-form.js';
import type { ChunkSchedule } from './schedule.js';
import type { RunTotals } from './run-totals.js';

/** Takes the output. */
export interface BulkSink {
  /** False when no more output should come until `BulkPump.drained` is called. */
  write(output: Uint8Array): boolean;
  /**
   * Whether the sink no longer needs any output once `write` has returned true or
   * `BulkPump.drained` was called, so that its memory may be used again.
   */
  readonly isPassing?: boolean;
}

/** The source of the body, which can be paused. */
export interface BulkBody {
  pause(): void;
  resume(): void;
}

/** Rows that the quotas admit. */
export interface AdmittedRows {
  readonly rows: number;
  readonly grants: number;
  /**
   * Whether rows are missing only because others are under way: more may be admitted when those
   * end.
   */
  readonly scarce: boolean;
  /** Whether the key has no right to such rows, regardless of its quotas. */
  readonly lacking?: boolean;
  /**
   * Settles the rows: they count as the tally says, or not at all when it is null because they were
   * not answered.
   */
  settle(tally: ChunkTally | null): void;
}

export interface PumpOptions {
  readonly run: RunFacts;
  readonly cutter: RecordCutter;
  readonly schedule: ChunkSchedule;
  readonly sink: BulkSink;
  readonly body: BulkBody;
  /** Asks the quotas for the rows of a chunk. */
  readonly admit: (rows: number) => AdmittedRows;
  /** How many rows a run may have. */
  readonly rowsMax: number;
  /**
   * Reserves bytes for refused rows; returns the limit where there is no room left, otherwise null.
   */
  readonly errors?: (bytes: number) => number | null;
  /** How many chunks may be under way; by default enough for one machine. */
  readonly inFlight?: number;
  /** Whether the run ends at the first refused row. */
  readonly strict: boolean;
  /** The header of the output, which is written together with the first rows. */
  readonly header: Uint8Array;
  /** Totals of earlier rows and output, where the run continues. */
  readonly totals?: RunTotals;
  /** Called after each chunk that was written, with the position where the body continues. */
  readonly reached?: (position: CutPosition) => void;
  /** Called once, unless the pump was aborted before. */
  readonly done: (end: Trailer) => void;
}

/** A chunk that is being answered, or is answered and waits for those before it. */
export interface Flight {
  readonly line: number;
  /** The position in the body after the chunk. */
  readonly after: CutPosition;
  output: Buffer | null;
  tally: ChunkTally | null;
  failure: PoolFailure | null;
}

/** Why a key without geocoded lookups may not calculate carts of no merchant. */
export const NO_GEO_CARTS = 'The key has no geocoded lookups, which carts of no merchant count as';

export const QUOTA_SPENT = 'The quota of this month is used up';

// Refusals with which a run ends before its last row.

export const QUOTA = fail(
  'feature-not-enabled',
  `${QUOTA_SPENT}; rows from this one on were not answered`,
);
export const LACKING = fail(
  'feature-not-enabled',
  `${NO_GEO_CARTS}; rows from this one on were not answered`,
);
export const BROKEN = fail('internal', 'Rows from this one on were not answered');
export const UNAVAILABLE = fail(
  'overloaded',
  'The service is stopping or has no data; rows from this one on were not answered',
);
