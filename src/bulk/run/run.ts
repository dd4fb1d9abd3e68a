/**
 * One run over rows, be they of an upload, a job or a command: the header line, the rows, the
 * trailer. Where the body comes from and where the output goes is the affair of its owner.
 */
import { NO_BYTES } from '../../base/growing-bytes.js';
import { isProblem, type Problem } from '../../base/problem.js';
import type { FailureKind } from '../../failure.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import type { Checkpoint } from './checkpoint.js';
import { columnRulesOf } from '../row/mapping.js';
import { csvHeaderLine, headerLine, trailerLine, type Trailer } from '../row/envelope.js';
import { RecordCutter } from '../row/record-cutter.js';
import { type CutPosition, rowBytesMax } from '../row/record-form.js';
import type { RunFacts, BulkKind, RefusedRow, Table } from '../row/chunk-payload.js';
import { CsvBeginning, firstLineOf, type Begun } from './csv-beginning.js';
import { BulkPump } from './pump.js';
import type { PumpOptions } from './pump-options.js';
import type { BulkRequest } from './request.js';
import { RunTotals } from './run-totals.js';
import { limitsOf, type BulkLimits } from './uploads.js';

/** What of a request says how rows are read and written. */
export type RunRequest = Pick<
  BulkRequest,
  'kind' | 'input' | 'output' | 'strict' | 'map' | 'delimiter' | 'defaults'
>;

/** How a run came to its end. */
export interface RunEnd {
  /**
   * `complete`: every row was answered. `stopped`: a limit or a refused row ended it. `broken`:
   * workers failed it or there are none. `paused`: its owner asked for it.
   */
  readonly kind: 'complete' | 'stopped' | 'broken' | 'paused';
  readonly end: Trailer;
}

export interface RowRunOptions
  extends Pick<PumpOptions, 'schedule' | 'sink' | 'body' | 'admit' | 'errors' | 'inFlight'> {
  /** All but the table, which the body tells, and the output format, which is in the request. */
  readonly run: Omit<RunFacts, 'table' | 'output'>;
  readonly request: RunRequest;
  readonly limits: BulkLimits;
  /** Where a run goes on that was begun before; absent for one from the beginning. */
  readonly from?: Checkpoint;
  /** Of the rows and the output before `from`. */
  readonly totals?: RunTotals;
  /** Called after each chunk that was written. */
  readonly reached?: (checkpoint: Checkpoint) => void;
  /** The beginning of the body cannot be read; nothing else is called afterwards. */
  readonly refused: (refused: Problem) => void;
  /** Called once, unless the run was refused or aborted before. */
  readonly done: (end: RunEnd) => void;
}

const { code: INTERNAL } = RESPONSE_CODES.internal;

/** What reads the header line of a CSV body. */
export function beginningOf({ kind, map, delimiter, defaults }: RunRequest): CsvBeginning {
  return new CsvBeginning(map, delimiter, columnRulesOf(kind, defaults));
}

/**
 * What cuts the rows out of a body.
 * @param from where the body goes on; null for its first row
 */
export function rowCutter(
  table: Table | null,
  kind: BulkKind,
  from: CutPosition | null,
): RecordCutter {
  return new RecordCutter({
    firstLine: from?.line ?? firstLineOf(table),
    rowBytesMax: rowBytesMax(kind),
    ...(from === null ? {} : { from }),
    form:
      table === null
        ? { kind: 'ndjson' }
        : {
            kind: 'csv',
            delimiter: table.dialect.delimiter.charCodeAt(0),
            loneCr: table.dialect.newline === '\r',
          },
  });
}

export class RowRun {
  readonly #options: RowRunOptions;
  readonly #beginning: CsvBeginning;
  #pump: BulkPump | null = null;
  #refused = false;

  constructor(options: RowRunOptions) {
    this.#options = options;
    this.#beginning = beginningOf(options.request);
    // Lines begin with the first row.
    if (options.request.input === 'ndjson') this.begin(null);
  }

  /** Rows that were answered so far. */
  get rows(): number {
    return this.#pump?.totals.rows ?? 0;
  }

  /** What refused a row first; null while nothing did. */
  get refusal(): RefusedRow | null {
    return this.#pump?.totals.refusal ?? null;
  }

  get over(): boolean {
    return this.#pump?.over === true;
  }

  /** Whether nothing can be done until more of the body comes or output is taken. */
  get waiting(): boolean {
    return this.#pump === null || (!this.#pump.over && this.#pump.waiting);
  }

  /**
   * Begins with the rows, where the header line was read before; what is pushed then comes after
   * it, or after `from`. To be called once, and by itself for a body without a header line.
   */
  begin(begun: Begun | null): void {
    const { run: given, request, limits, schedule, admit, errors, sink, body } = this.#options;
    const { from, totals = new RunTotals(), inFlight } = this.#options;
    const table = begun?.table ?? null;
    const run: RunFacts = { ...given, output: request.output, table };
    const header =
      run.output === 'csv' && begun !== null
        ? csvHeaderLine(begun.head, run.kind)
        : headerLine(run, limitsOf(limits, run.kind));
    this.#pump = new BulkPump({
      run,
      schedule,
      admit,
      totals,
      sink,
      body,
      strict: request.strict,
      rowsMax: limits.rowsMax,
      ...(errors === undefined ? {} : { errors }),
      ...(inFlight === undefined ? {} : { inFlight }),
      cutter: rowCutter(
        table,
        run.kind,
        from?.position ?? { line: firstLineOf(table), at: begun?.head.bytes ?? 0, rescanned: 0 },
      ),
      header: totals.bytes > 0 ? NO_BYTES : header,
      reached: (position) =>
        this.#options.reached?.({
          position,
          bytes: totals.bytes,
          rows: totals.rows,
          codes: totals.codes,
          counts: totals.counts,
          errorBytes: totals.errorBytes,
        }),
      done: (end) => this.#options.done({ kind: this.#kindOf(end), end }),
    });
  }

  /** Brings a piece of the body; it is copied. */
  push(piece: Uint8Array): void {
    if (this.#pump === null) this.#readHead(piece, false);
    else this.#pump.push(piece);
  }

  /** The body is complete. */
  end(): void {
    if (this.#pump === null) this.#readHead(NO_BYTES, true);
    this.#pump?.end();
  }

  /** The output has been taken. */
  drained(): void {
    this.#pump?.drained();
  }

  /** Ends after the chunks under way, so that it can go on from its last checkpoint. */
  pause(): void {
    this.#pump?.pause();
  }

  /** Ends with what was answered so far. */
  stop(kind: FailureKind, message: string): void {
    this.#pump?.stop(kind, message);
  }

  /** Frees everything; nothing is written or called any more. What was answered until then. */
  abort(kind: FailureKind, message: string): Trailer | null {
    this.#refused = true;
    return this.#pump?.abort(kind, message) ?? null;
  }

  /** What follows the rows: nothing in CSV. */
  trailer(end: Trailer): Uint8Array {
    const { request, run } = this.#options;
    return request.output === 'ndjson' ? trailerLine(run.name, end) : NO_BYTES;
  }

  /** SHA-256 of the output with its trailer, in hex. */
  sha256With(trailer: Uint8Array): string {
    return this.#pump?.totals.sha256With(trailer) ?? '';
  }

  #readHead(piece: Uint8Array, whole: boolean): void {
    if (this.#refused) return;
    const found = this.#beginning.push(piece, whole);
    if (found === null) return;
    if (isProblem(found)) {
      this.#refused = true;
      this.#options.refused(found);
      return;
    }
    this.begin(found);
    if (found.rest.length > 0) this.push(found.rest);
  }

  #kindOf({ stopped }: Trailer): RunEnd['kind'] {
    if (stopped === null) return 'complete';
    if (this.#options.request.strict && this.refusal !== null) return 'stopped';
    if (stopped.paused === true) return 'paused';
    return stopped.code === INTERNAL ? 'broken' : 'stopped';
  }
}
