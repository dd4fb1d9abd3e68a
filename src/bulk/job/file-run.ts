/**
 * A stored body to stored output, in one go or in several: a run that is stopped or killed goes on
 * from its last checkpoint, and the output is the same bytes as of one that was never disturbed.
 */
import { trailerLine, type StreamEnd } from '../row/envelope.js';
import type { FramerPosition } from '../row/framing.js';
import type { BulkJob, RowRefusal } from '../row/job.js';
import { isProblem } from '../../base/problem.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import type { Begun, Refused } from '../run/csv-beginning.js';
import type { BulkLimits } from '../run/uploads.js';
import { BulkPump, type AdmittedRows } from '../run/pump.js';
import { beginningOf, firstLineOf, pumpOf } from '../run/run.js';
import type { BulkRequest } from '../run/request.js';
import type { ChunkSchedule } from '../run/schedule.js';
import { StreamTotals } from '../run/totals.js';
import type { ByteSource } from './byte-source.js';
import type { Checkpoint } from './checkpoint.js';
import type { RunOutput } from './durable-output.js';

/** What of a request says how rows are read and written. */
export type RunRequest = Pick<
  BulkRequest, 'kind' | 'input' | 'output' | 'strict' | 'map' | 'delimiter' | 'defaults'
>;

export interface FileRunOptions {
  /** Without its table, which the body tells. */
  readonly job: Omit<BulkJob, 'table' | 'output'>;
  readonly request: RunRequest;
  readonly input: ByteSource;
  readonly output: RunOutput;
  readonly schedule: ChunkSchedule;
  readonly admit: (rows: number) => AdmittedRows;
  /** Takes room for refused rows, as PumpOptions says; without limit unless given. */
  readonly errors?: (bytes: number) => number | null;
  readonly limits: BulkLimits;
  /** Null for a run from the beginning. */
  readonly from: Checkpoint | null;
  /** The output before `from`, read for its hash. */
  readonly earlier: () => AsyncIterable<Uint8Array>;
}

/** What became of a run. */
export type RunEnd =
  /** It came to its end; `stopped` in it tells of one before the last row. */
  | { readonly kind: 'ended'; readonly end: StreamEnd; readonly bytes: number;
    readonly sha256: string }
  /** It was paused and can go on from its last checkpoint. */
  | { readonly kind: 'paused' }
  /** Workers failed it or there are none; it can go on from its last checkpoint. */
  | { readonly kind: 'broken'; readonly message: string }
  /** The body is none that can be read. */
  | { readonly kind: 'refused'; readonly refused: Refused };

const NOTHING = new Uint8Array(0);
const PAUSED = 'The job was paused.';

/** The beginning of a CSV body; null where rows begin at once. */
export async function readBeginning(
  input: ByteSource, request: RunRequest,
): Promise<Begun | Refused | null> {
  if (request.input === 'ndjson') return null;
  const beginning = beginningOf(request);
  for await (const piece of input(0)) {
    const found = beginning.push(piece, false);
    if (found !== null) return found;
  }
  return beginning.push(NOTHING, true);
}

export class FileRun {
  readonly #options: FileRunOptions;
  #at = 0;
  #pump: BulkPump | null = null;
  #pausing = false;
  #resting = false;
  #wake: () => void = () => undefined;
  #ended: (end: StreamEnd) => void = () => undefined;
  #failed: (error: unknown) => void = () => undefined;

  constructor(options: FileRunOptions) {
    this.#options = options;
  }

  /** Rows that were answered so far. */
  get rows(): number {
    return this.#pump?.totals.rows ?? this.#options.from?.rows ?? 0;
  }

  /** Bytes of the body up to the last row that was answered. */
  get at(): number {
    return this.#at;
  }

  /** What stopped or refused rows first, for a message; null when nothing did. */
  get refusal(): RowRefusal | null {
    return this.#pump?.totals.refusal ?? null;
  }

  /**
   * Runs to the end; to be called once. Whatever it resolves with is on the disk.
   * @throws what reading, writing or keeping a checkpoint throws.
   */
  async run(): Promise<RunEnd> {
    const { input, request } = this.#options;
    const begun = await readBeginning(input, request);
    if (begun !== null && isProblem(begun)) return { kind: 'refused', refused: begun };
    const pump = await this.#open(begun);
    const over = new Promise<StreamEnd>((resolve, reject) => {
      this.#ended = resolve;
      this.#failed = (error) => {
        pump.abort(RESPONSE_CODES.internal.code, '');
        this.#wake();
        reject(error);
      };
    });
    this.#options.output.listen({
      drained: () => pump.drained(), failed: (error) => this.#failed(error),
    });
    this.#pump = pump;
    if (this.#pausing) this.#stop();
    void this.#feed(pump, this.#options.from?.position.at ?? begun?.head.bytes ?? 0);
    return this.#finish(await over);
  }

  /** Stops after the chunks under way; `run` then resolves. */
  pause(): void {
    this.#pausing = true;
    this.#stop();
  }

  #stop(): void {
    this.#pump?.stop(RESPONSE_CODES.internal.code, PAUSED);
    this.#wake();
  }

  async #open(begun: Begun | null): Promise<BulkPump> {
    const { job: given, request, schedule, admit, errors, limits, from, output } = this.#options;
    const start: FramerPosition = from?.position ?? {
      line: firstLineOf(begun?.table ?? null), at: begun?.head.bytes ?? 0, rescanned: 0,
    };
    const { header, ...parts } = pumpOf({ ...given, output: request.output }, begun, limits, start);
    const totals = await this.#earlier();
    return new BulkPump({
      ...parts, schedule, admit, totals, strict: request.strict,
      ...(errors === undefined ? {} : { errors }),
      header: totals.bytes > 0 ? NOTHING : header,
      sink: output,
      body: {
        pause: () => {
          this.#resting = true;
        },
        resume: () => {
          this.#resting = false;
          this.#wake();
        },
      },
      reached: (position) => {
        this.#at = position.at;
        output.reached({
          position, bytes: totals.bytes, rows: totals.rows, codes: totals.codes,
          counts: totals.counts, errorBytes: totals.errorBytes,
        });
      },
      done: (end) => this.#ended(end),
    });
  }

  async #earlier(): Promise<StreamTotals> {
    const { from, earlier } = this.#options;
    const totals = new StreamTotals();
    if (from === null) return totals;
    totals.errorBytes = from.errorBytes;
    totals.add({ rows: from.rows, codes: from.codes, ...from.counts, refusal: null });
    for await (const piece of earlier()) totals.write(piece);
    if (totals.bytes !== from.bytes) {
      throw new Error('the output on the disk is not as long as its checkpoint says');
    }
    return totals;
  }

  async #feed(pump: BulkPump, at: number): Promise<void> {
    try {
      for await (const piece of this.#options.input(at)) {
        if (pump.over || this.#pausing) return;
        pump.push(piece);
        while (this.#resting && !pump.over && !this.#pausing) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
      pump.end();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #finish(end: StreamEnd): Promise<RunEnd> {
    const { output, job, request } = this.#options;
    const { stopped } = end;
    this.#wake();
    const refused = request.strict && this.#pump?.totals.refusal !== null;
    if (stopped !== null && !refused && stopped.code === RESPONSE_CODES.internal.code) {
      await output.flush();
      return stopped.message === PAUSED
        ? { kind: 'paused' } : { kind: 'broken', message: stopped.message };
    }
    const trailer = request.output === 'ndjson' ? trailerLine(job.job, end) : NOTHING;
    if (trailer.length > 0) output.write(trailer);
    await output.flush();
    return {
      kind: 'ended', end, bytes: end.bytes + trailer.length,
      sha256: this.#pump?.totals.sha256With(trailer) ?? '',
    };
  }
}
