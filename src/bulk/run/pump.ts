/**
 * Answers rows in order, in bounded memory however fast the body, the workers and the client are.
 * It knows no sockets: `push` and `end` bring the body, `sink` takes the output, and `body` is
 * paused while there is enough to do.
 *
 * For each run it keeps at most two chunks of body and a piece, `CHUNKS_IN_FLIGHT_MAX` chunks
 * (`inFlight` where a fleet answers) that are with the workers or wait to be written, and the
 * output that the sink has not taken.
 */
import type { FailureKind } from '../../failure.js';
import type { AnswerSlice, PoolFailure, RowsRequest } from '../../pool/types.js';
import type { Trailer, Stopped } from '../row/envelope.js';
import { decodeResult, encodeChunk, encodeRun } from '../row/chunk-payload.js';
import { CHUNK_BYTES_MAX, CHUNK_ROWS_MAX } from '../row/record-form.js';
import { RESPONSE_CODES, responseOf } from '../../wire/response-code.js';
import {
  type AdmittedRows,
  BROKEN,
  type Flight,
  LACKING,
  type PumpOptions,
  QUOTA,
  UNAVAILABLE,
} from './pump-options.js';
import { firstLineOf } from './csv-beginning.js';
import type { ChunkSource } from './schedule.js';
import { OutputMemory } from './output.js';
import { errorBytesOf, RunTotals } from './run-totals.js';

/** How many chunks of one run may be under way, from the body to the output. */
export const CHUNKS_IN_FLIGHT_MAX = 4;

/** The body is paused while so many bytes or rows wait. */
const HELD_BYTES_MAX = 2 * CHUNK_BYTES_MAX;
const HELD_ROWS_MAX = 2 * CHUNK_ROWS_MAX;

export class BulkPump implements ChunkSource {
  readonly totals: RunTotals;
  readonly #options: PumpOptions;
  readonly #run: Buffer;
  readonly #memory: OutputMemory;
  #flights: Flight[] = [];
  #blocked = false;
  #resting = false;
  #ended = false;
  #over = false;
  #headed = false;
  /** Why no more chunks are taken; those under way are still written. */
  #stopped: Stopped | null = null;
  /** Whether the workers have the single row that is refused because the quota is used up. */
  #refusing = false;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.totals = options.totals ?? new RunTotals();
    this.#run = encodeRun(options.run);
    this.#memory = new OutputMemory(options.sink);
  }

  /** Whether nothing can be done until more of the body comes or the sink takes output. */
  get waiting(): boolean {
    return (
      this.#flights.every((flight) => flight.output !== null) &&
      (this.#blocked || this.#options.cutter.rows === 0)
    );
  }

  get over(): boolean {
    return this.#over;
  }

  /** Adds a piece of the body, which is copied. */
  push(piece: Uint8Array): void {
    if (this.#over || this.#stopped !== null) return;
    this.#options.cutter.push(piece);
    this.#turn();
  }

  /** Tells that the body is complete. */
  end(): void {
    if (this.#over || this.#ended) return;
    this.#ended = true;
    this.#options.cutter.end();
    this.#turn();
  }

  /** Tells that the sink can take output again. */
  drained(): void {
    if (!this.#blocked || this.#over) return;
    this.#blocked = false;
    this.#memory.drained();
    this.#deliver();
    this.#turn();
  }

  /** Ends the run after the chunks that are under way. */
  stop(kind: FailureKind, message: string, paused = false): void {
    if (this.#over) return;
    const { line } = this.#options.cutter;
    const { code } = RESPONSE_CODES[kind];
    this.#stopped ??= { code, message, line, ...(paused ? { paused } : {}) };
    this.#deliver();
    this.#turn();
  }

  /** Ends the run like `stop`, but marked as paused, so that it continues from there later. */
  pause(): void {
    this.stop('internal', 'The job was paused.', true);
  }

  /** Frees everything and calls nothing any more. Returns the trailer of the rows so far. */
  abort(kind: FailureKind, message: string): Trailer | null {
    if (this.#over) return null;
    this.#over = true;
    this.#options.schedule.leave(this);
    const { code } = RESPONSE_CODES[kind];
    return this.totals.end({ code, message, line: this.#options.cutter.line });
  }

  next(): RowsRequest | null {
    const { cutter, admit, rowsMax, run } = this.#options;
    if (!this.#mayTake()) return null;
    const wanted = Math.min(cutter.rows, CHUNK_ROWS_MAX);
    const left = rowsMax - (cutter.line - firstLineOf(run.table));
    if (left <= 0) {
      this.stop('rate-limited', `A file may have ${rowsMax} rows.`);
      return null;
    }
    const admitted = admit(Math.min(wanted, left));
    if (admitted.scarce && this.#flights.some(({ output }) => output === null)) {
      admitted.settle(null);
      return null;
    }
    if (admitted.rows === 0) return this.#refuse(admitted);
    const chunk = cutter.take(admitted.rows, CHUNK_BYTES_MAX);
    if (chunk === null) throw new Error(`no rows of ${run.name} where some were counted`);
    return this.#request(encodeChunk(this.#run, chunk), chunk.line, admitted);
  }

  /** With nothing under way, a small chunk is taken too; otherwise only a full or a last one. */
  #mayTake(): boolean {
    const { rows, bytes } = this.#options.cutter;
    if (this.#over || this.#stopped !== null || this.#blocked || this.#refusing || rows === 0) {
      return false;
    }
    const { inFlight = CHUNKS_IN_FLIGHT_MAX } = this.#options;
    if (this.#flights.length >= inFlight) return false;
    return (
      this.#ended ||
      this.#flights.length === 0 ||
      rows >= CHUNK_ROWS_MAX ||
      bytes >= CHUNK_BYTES_MAX
    );
  }

  /** Has one last row refused, since the quota is used up or the key has no right to such rows. */
  #refuse(admitted: AdmittedRows): RowsRequest | null {
    const { cutter, run } = this.#options;
    const line = cutter.line;
    const chunk = cutter.take(1, CHUNK_BYTES_MAX);
    if (chunk === null) return null;
    this.#refusing = true;
    const refusal = admitted.lacking === true ? LACKING : QUOTA;
    const { code, message } = responseOf(refusal);
    this.#stopped = { code, message, line };
    const refused = encodeRun({ ...run, refusal });
    return this.#request(encodeChunk(refused, chunk), line, admitted);
  }

  #request(payload: Uint8Array, line: number, admitted: AdmittedRows): RowsRequest {
    const after = this.#options.cutter.position;
    const flight: Flight = { line, after, output: null, tally: null, failure: null };
    this.#flights.push(flight);
    return {
      kind: 'rows',
      grants: admitted.grants,
      payload,
      answered: ({ status, body }: AnswerSlice) => {
        if (status !== 200) {
          admitted.settle(null);
          this.#fail(flight, 'internal');
          return;
        }
        const result = decodeResult(body, (bytes) => this.#memory.copy(bytes));
        admitted.settle(result.tally);
        if (this.#over) return;
        Object.assign(flight, result);
        this.#deliver();
        this.#turn();
      },
      failed: (failure) => {
        admitted.settle(null);
        this.#fail(flight, failure);
      },
    };
  }

  #fail(flight: Flight, failure: PoolFailure): void {
    if (this.#over) return;
    flight.failure = failure;
    flight.output = Buffer.alloc(0);
    this.#deliver();
    this.#turn();
  }

  /** Writes finished chunks in order, until the sink wants no more. */
  #deliver(): void {
    while (!this.#over && !this.#blocked) {
      const [flight] = this.#flights;
      if (flight === undefined || flight.output === null) return;
      if (flight.failure !== null) return this.#break(flight.failure, flight.line);
      this.#flights.shift();
      const stopped = this.#options.strict ? null : this.#errors(flight);
      if (stopped !== null) {
        this.#finish(stopped);
        return;
      }
      if (flight.tally !== null) this.totals.add(flight.tally);
      const { refusal } = this.totals;
      if (this.#options.strict && refusal !== null) {
        this.#finish(refusal);
        return;
      }
      this.#write(flight.output);
      this.#options.reached?.(flight.after);
    }
  }

  /** Reserves room for the refused rows of a chunk; without room, returns why the run ends. */
  #errors({ tally, output, line }: Flight): Stopped | null {
    const bytes = errorBytesOf(tally, output?.length ?? 0);
    const limit = this.#options.errors?.(bytes) ?? null;
    if (limit === null) {
      this.totals.errorBytes += bytes;
      return null;
    }
    const { code } = RESPONSE_CODES['rate-limited'];
    const message = `The refused rows in the results of an account may take ${limit} bytes.`;
    return { code, message, line };
  }

  /** Ends the run because a chunk failed, so that nothing after it can be written in order. */
  #break(failure: PoolFailure, line: number): void {
    const { code, message } = responseOf(failure === 'overloaded' ? UNAVAILABLE : BROKEN);
    this.#flights = [];
    // A run that was being paused stays paused and continues later, whatever failed.
    const { paused = false } = this.#stopped ?? {};
    this.#finish({ code, message, line, ...(paused ? { paused } : {}) });
  }

  #write(output: Uint8Array): void {
    if (!this.#headed) {
      this.#headed = true;
      this.#write(this.#options.header);
    }
    this.totals.write(output);
    if (!this.#memory.written(output, this.#options.sink.write(output))) this.#blocked = true;
  }

  #turn(): void {
    if (this.#over) return;
    const { cutter, schedule, body } = this.#options;
    if (
      this.#flights.length === 0 &&
      !this.#blocked &&
      (this.#stopped !== null || (this.#ended && cutter.rows === 0))
    ) {
      this.#finish(this.#stopped);
      return;
    }
    if (this.#mayTake()) schedule.ready(this);
    if (this.#over) return;
    const full =
      cutter.rows >= HELD_ROWS_MAX ||
      cutter.bytes >= HELD_BYTES_MAX ||
      (this.#blocked && cutter.rows > 0);
    if (full === this.#resting) return;
    this.#resting = full;
    if (full) body.pause();
    else body.resume();
  }

  #finish(stopped: Stopped | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.schedule.leave(this);
    if (!this.#headed) this.#write(Buffer.alloc(0));
    this.#options.done(this.totals.end(stopped));
  }
}
