/**
 * Runs a stored body to stored output, in one attempt or several: a run that was stopped or killed
 * continues from its last checkpoint, and its output has the same bytes as that of an uninterrupted
 * run. `JobUsage` counts the rows of a job.
 */
import { NO_BYTES } from '../../base/growing-bytes.js';
import { isProblem } from '../../base/problem.js';
import type { UsageRecord } from '../../store/format.js';
import type { StoreTransaction } from '../../store/store.js';
import { type Counts, type Metered, NO_COUNTS, plusCounts } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import type { Trailer } from '../row/envelope.js';
import type { Checkpoint } from '../run/checkpoint.js';
import type { Begun } from '../run/csv-beginning.js';
import type { Problem } from '../../base/problem.js';
import type { RowsUsage } from '../run/kind.js';
import { RunTotals } from '../run/run-totals.js';
import {
  beginningOf,
  RowRun,
  type RowRunOptions,
  type RunEnd,
  type RunRequest,
} from '../run/run.js';
import type { ByteSource } from './byte-source.js';
import type { RunOutput } from './durable-output.js';

// The usage of a job.

function most(one: Counts, other: Counts): Counts {
  return {
    core: Math.max(one.core, other.core),
    geo: Math.max(one.geo, other.geo),
    merchant: Math.max(one.merchant, other.merchant),
  };
}

/** Quotas and counters of rows that are counted some time after they were answered. */
export interface JobRowsUsage extends RowsUsage {
  answerRows(admission: RowsAdmission, counts: Counts): void;
  storeRows(transaction: StoreTransaction, key: Metered, counts: Counts): UsageRecord | null;
  storedRows(key: Metered, counts: Counts, record: UsageRecord | null): void;
  storingRows(key: Metered, by: 1 | -1): void;
  dropRows(key: Metered, counts: Counts): void;
}

/**
 * Counts the usage of one attempt at a job. Rows use up the quota when they are answered, and are
 * counted in the transaction that saves the next checkpoint: so each row is counted once, however
 * often the process is killed.
 */
export class JobUsage implements RowsUsage {
  readonly #usage: JobRowsUsage;
  readonly #key: Metered;
  /** Usage of rows that were answered but not counted yet. */
  #open: Counts = NO_COUNTS;
  /** Usage that all attempts have counted up to the last checkpoint. */
  #counted: Counts;
  #over = false;

  /** @param counted up to where the attempt continues; `before` by a server whose output is lost */
  constructor(usage: JobRowsUsage, key: Metered, counted: Counts, before: Counts) {
    this.#usage = usage;
    this.#key = key;
    this.#counted = most(counted, before);
  }

  admitRows(key: Metered, rows: number, merchant: boolean): RowsAdmission {
    return this.#usage.admitRows(key, rows, merchant);
  }

  settleRows(admission: RowsAdmission, counts: Counts): void {
    if (this.#over) {
      this.#usage.settleRows(admission, NO_COUNTS);
      return;
    }
    this.#usage.answerRows(admission, counts);
    this.#open = plusCounts(this.#open, counts, 1);
  }

  /** Has `keep` store a checkpoint, and counts the rows before it, whose usage is `total`. */
  async save<T>(
    total: Counts,
    keep: (beside: (transaction: StoreTransaction) => void) => Promise<T>,
  ): Promise<T> {
    const all = most(total, this.#counted);
    const counts = plusCounts(all, this.#counted, -1);
    let record: UsageRecord | null = null;
    this.#usage.storingRows(this.#key, 1);
    try {
      const kept = await keep((transaction) => {
        record = this.#usage.storeRows(transaction, this.#key, counts);
      });
      this.#counted = all;
      this.#open = plusCounts(this.#open, counts, -1);
      this.#usage.storedRows(this.#key, counts, record);
      return kept;
    } finally {
      this.#usage.storingRows(this.#key, -1);
    }
  }

  /**
   * Ends the attempt. Rows after its last checkpoint are not counted, since they are answered
   * again.
   */
  end(): void {
    this.#over = true;
    this.#usage.dropRows(this.#key, this.#open);
    this.#open = NO_COUNTS;
  }
}

interface FileRunOptions
  extends Pick<
    RowRunOptions,
    'run' | 'request' | 'schedule' | 'admit' | 'errors' | 'limits' | 'inFlight'
  > {
  readonly input: ByteSource;
  readonly output: RunOutput;
  /** Where to continue; null for a run from the beginning. */
  readonly from: Checkpoint | null;
  /** Reads the output before `from`, which is needed for the hash. */
  readonly earlier: () => AsyncIterable<Uint8Array>;
  /** Called when the run is paused. */
  readonly paused?: () => void;
}

/** How an attempt at a run ended. */
export type FileRunEnd =
  /** The run has ended; `end.stopped` tells whether that was before the last row. */
  | {
      readonly kind: 'ended';
      readonly end: Trailer;
      readonly bytes: number;
      readonly sha256: string;
    }
  /** The run was paused and can continue from its last checkpoint. */
  | { readonly kind: 'paused' }
  /** Workers failed or are unavailable; the run can continue from its last checkpoint. */
  | { readonly kind: 'broken'; readonly message: string }
  /** The body cannot be read as rows. */
  | { readonly kind: 'refused'; readonly refused: Problem };

/** The beginning of a CSV body; null for NDJSON, which has none. */
export async function readBeginning(
  input: ByteSource,
  request: RunRequest,
): Promise<Begun | Problem | null> {
  if (request.input === 'ndjson') return null;
  const beginning = beginningOf(request);
  for await (const piece of input(0)) {
    const found = beginning.push(piece, false);
    if (found !== null) return found;
  }
  return beginning.push(NO_BYTES, true);
}

export class FileRun {
  readonly #options: FileRunOptions;
  #at = 0;
  #run: RowRun | null = null;
  #pausing = false;
  #tellPaused: () => void = () => undefined;
  readonly #paused = new Promise<'paused'>((resolve) => {
    this.#tellPaused = () => resolve('paused');
  });
  #resting = false;
  #wake: () => void = () => undefined;

  constructor(options: FileRunOptions) {
    this.#options = options;
  }

  /** How many rows were answered so far. */
  get rows(): number {
    return this.#run?.rows ?? this.#options.from?.rows ?? 0;
  }

  /** How many bytes of the body precede the first row without an answer. */
  get at(): number {
    return this.#at;
  }

  /**
   * Runs to the end. Call it once. All output is on the disk when it resolves.
   * @throws whatever reading, writing or saving a checkpoint throws.
   */
  async run(): Promise<FileRunEnd> {
    const { input, request, from, output } = this.#options;
    const begun = await Promise.race([readBeginning(input, request), this.#paused]);
    if (begun === 'paused') return { kind: 'paused' };
    if (begun !== null && isProblem(begun)) return { kind: 'refused', refused: begun };
    const totals = await this.#earlier();
    const over = new Promise<RunEnd>((resolve, reject) => {
      const run = this.#open(totals, resolve);
      const failed = (error: unknown): void => {
        run.abort('internal', '');
        this.#wake();
        reject(error);
      };
      output.listen({ drained: () => run.drained(), failed });
      if (begun !== null) run.begin(begun);
      this.#run = run;
      if (this.#pausing) this.pause();
      this.#feed(run, from?.position.at ?? begun?.head.bytes ?? 0).catch(failed);
    });
    return this.#finish(await over);
  }

  /** Stops after the chunks that are under way; `run` then resolves. */
  pause(): void {
    this.#pausing = true;
    this.#tellPaused();
    this.#run?.pause();
    this.#options.paused?.();
    this.#wake();
  }

  #open(totals: RunTotals, done: (end: RunEnd) => void): RowRun {
    const { run, request, schedule, admit, errors, inFlight, limits, from, output } = this.#options;
    return new RowRun({
      run,
      request,
      schedule,
      admit,
      limits,
      totals,
      sink: output,
      done,
      ...(errors === undefined ? {} : { errors }),
      ...(inFlight === undefined ? {} : { inFlight }),
      ...(from === null ? {} : { from }),
      body: {
        pause: () => {
          this.#resting = true;
        },
        resume: () => {
          this.#resting = false;
          this.#wake();
        },
      },
      reached: (checkpoint) => {
        this.#at = checkpoint.position.at;
        output.reached(checkpoint);
      },
      refused: ({ detail }) => {
        throw new Error(`the header line was read before: ${detail}`);
      },
    });
  }

  async #earlier(): Promise<RunTotals> {
    const { from, earlier } = this.#options;
    const totals = new RunTotals();
    if (from === null) return totals;
    totals.errorBytes = from.errorBytes;
    totals.add({ rows: from.rows, codes: from.codes, ...from.counts, refusals: [] });
    for await (const piece of earlier()) totals.write(piece);
    if (totals.bytes !== from.bytes) {
      throw new Error('the output on the disk is not as long as its checkpoint says');
    }
    return totals;
  }

  async #feed(run: RowRun, at: number): Promise<void> {
    for await (const piece of this.#options.input(at)) {
      if (run.over || this.#pausing) return;
      run.push(piece);
      while (this.#resting && !run.over && !this.#pausing) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
    run.end();
  }

  async #finish({ kind, end }: RunEnd): Promise<FileRunEnd> {
    const { output } = this.#options;
    this.#wake();
    if (kind === 'paused' || kind === 'broken') {
      await output.flush();
      return kind === 'paused' ? { kind } : { kind, message: end.stopped?.message ?? '' };
    }
    const trailer = this.#run?.trailer(end) ?? NO_BYTES;
    if (trailer.length > 0) output.write(trailer);
    await output.flush();
    return {
      kind: 'ended',
      end,
      bytes: end.bytes + trailer.length,
      sha256: this.#run?.sha256With(trailer) ?? '',
    };
  }
}
