/** What a pump stands between. */
import { fail } from '../../failure.js';
import type { PoolFailure } from '../../pool/types.js';
import type { Trailer } from '../row/envelope.js';
import type { RunFacts, ChunkTally } from '../row/chunk-payload.js';
import type { RecordCutter } from '../row/record-cutter.js';
import type { CutPosition } from '../row/record-form.js';
import type { ChunkSchedule } from './schedule.js';
import type { RunTotals } from './run-totals.js';

/** Where output goes. */
export interface BulkSink {
  /** False when no more should come until `BulkPump.drained` is called. */
  write(output: Uint8Array): boolean;
  /**
   * It needs nothing of what it was given once `write` returns true or the pump is told that it has
   * drained: that memory may be used again.
   */
  readonly isPassing?: boolean;
}

/** Where the body comes from. */
export interface BulkBody {
  pause(): void;
  resume(): void;
}

/** Rows that quotas let through. */
export interface AdmittedRows {
  readonly rows: number;
  readonly grants: number;
  /**
   * Fewer rows than asked for, but only because of rows under way: more may be let through when
   * those end.
   */
  readonly scarce: boolean;
  /** The key has no right to such rows, whatever its quotas leave. */
  readonly lacking?: boolean;
  /**
   * Settles the rows: they count by the tally, or not at all when it is null because they were not
   * answered.
   */
  settle(tally: ChunkTally | null): void;
}

export interface PumpOptions {
  readonly run: RunFacts;
  readonly cutter: RecordCutter;
  readonly schedule: ChunkSchedule;
  readonly sink: BulkSink;
  readonly body: BulkBody;
  /** Asked for every chunk. */
  readonly admit: (rows: number) => AdmittedRows;
  /** Rows a run may have. */
  readonly rowsMax: number;
  /** Takes room for bytes of refused rows: the limit where there is none left, else null. */
  readonly errors?: (bytes: number) => number | null;
  /** Chunks between body and output; as one machine needs unless given. */
  readonly inFlight?: number;
  /** Ends at the first row that is refused. */
  readonly strict: boolean;
  /** What comes before the rows: written with the first of them. */
  readonly header: Uint8Array;
  /**
   * Totals of the rows and output before the first of these rows; nothing came before unless given.
   */
  readonly totals?: RunTotals;
  /** Called after each chunk that was written, with where the body goes on after it. */
  readonly reached?: (position: CutPosition) => void;
  /** Called once, unless the pump was aborted before. */
  readonly done: (end: Trailer) => void;
}

/** A chunk on its way: with the workers, or done and waiting for those before it. */
export interface Flight {
  readonly line: number;
  /** The body goes on here after it. */
  readonly after: CutPosition;
  output: Buffer | null;
  tally: ChunkTally | null;
  failure: PoolFailure | null;
}

/** Why a key without geocoded lookups gets no carts of no merchant. */
export const NO_GEO_CARTS = 'The key has no geocoded lookups, which carts of no merchant count as';

export const QUOTA_SPENT = 'The quota of this month is used up';

// What a run that ends before its rows is refused with.

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
