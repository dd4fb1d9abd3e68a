/**
 * One run over rows of an upload, a job or a command: header line, rows, trailer. Its owner decides
 * where the body comes from and where the output goes.
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

/** The part of a request that says how rows are read and written. */
export type RunRequest = Pick<
  BulkRequest,
  'kind' | 'input' | 'output' | 'strict' | 'map' | 'delimiter' | 'defaults'
>;

/** How a run ended. */
export interface RunEnd {
  /**
   * `complete`: every row was answered. `stopped`: a limit or a refused row ended the run.
   * `broken`: workers failed or are unavailable. `paused`: the owner asked for it.
   */
  readonly kind: 'complete' | 'stopped' | 'broken' | 'paused';
  readonly end: Trailer;
}

export interface RowRunOptions
  extends Pick<PumpOptions, 'schedule' | 'sink' | 'body' | 'admit' | 'errors' | 'inFlight'> {
  /**
   * Facts of the run except the table, which is read from the body, and the output format, which is
   * in the request.
   */
  readonly run: Omit<RunFacts, 'table' | 'output'>;
  readonly request: RunRequest;
  readonly limits: BulkLimits;
  /** Where to continue a run that was begun before; absent for a new run. */
  readonly from?: Checkpoint;
  /** Totals of the rows and output before `from`. */
  readonly totals?: RunTotals;
  /** Called after each chunk that was written. */
  readonly reached?: (checkpoint: Checkpoint) => void;
  /** Called when the beginning of the body cannot be read; nothing else is called afterwards. */
  readonly refused: (refused: Problem) => void;
  /** Called once, unless the run was refused or aborted before. */
  readonly done: (end: RunEnd) => void;
}

const { code: INTERNAL } = RESPONSE_CODES.internal;

/** The reader of the header line of a CSV body. */
export function beginningOf({ kind, map, delimiter, defaults }: RunRequest): CsvBeginning {
  return new CsvBeginning(map, delimiter, columnRulesOf(kind, defaults));
}

/**
 * The cutter that splits a body into rows.
 * @param from where to continue in the body; null to begin with its first row
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
    // NDJSON has no header line to read first.
    if (options.request.input === 'ndjson') this.begin(null);
  }

  /** How many rows were answered so far. */
  get rows(): number {
    return this.#pump?.totals.rows ?? 0;
  }

  /** The first refused row; null while there is none. */
  get refusal(): RefusedRow | null {
    return this.#pump?.totals.refusal ?? null;
  }

  get over(): boolean {
    return this.#pump?.over === true;
  }

  /** Whether nothing can be done until more of the body comes or the output is taken. */
  get waiting(): boolean {
    return this.#pump === null || (!this.#pump.over && this.#pump.waiting);
  }

  /**
   * Begins with the rows after a header line that was read elsewhere (null for NDJSON). What is
   * pushed afterwards continues after the header line, or at `from`. Called once; the run calls it
   * itself for NDJSON.
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

  /** Adds a piece of the body, which is copied. */
  push(piece: Uint8Array): void {
    if (this.#pump === null) this.#readHead(piece, false);
    else this.#pump.push(piece);
  }

  /** Tells that the body is complete. */
  end(): void {
    if (this.#pump === null) this.#readHead(NO_BYTES, true);
    this.#pump?.end();
  }

  /** Tells that the sink can take output again. */
  drained(): void {
    this.#pump?.drained();
  }

  /**
   * Ends after the chunks that are under way, so that the run can continue from its last
   * checkpoint.
   */
  pause(): void {
    this.#pump?.pause();
  }

  /** Ends after the chunks that are under way. */
  stop(kind: FailureKind, message: string): void {
    this.#pump?.stop(kind, message);
  }

  /**
   * Frees everything; afterwards nothing is written and nothing is called. Returns the trailer of
   * what was answered so far, if rows were begun.
   */
  abort(kind: FailureKind, message: string): Trailer | null {
    this.#refused = true;
    return this.#pump?.abort(kind, message) ?? null;
  }

  /** The trailer as it follows the rows; empty in CSV, which has no place for it. */
  trailer(end: Trailer): Uint8Array {
    const { request, run } = this.#options;
    return request.output === 'ndjson' ? trailerLine(run.name, end) : NO_BYTES;
  }

  /** SHA-256, in hex, of the output with its trailer. */
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
