/**
 * One upload over HTTP: the body passes the intake, the pump and the output, and becomes the
 * answer.
 */
import type { PinnedRelease } from '../../pool.js';
import { BULK_ENGINE, type Stopped, type Trailer } from '../row/envelope.js';
import type { FailureKind } from '../../failure.js';
import { problemReply } from '../../http/problem-reply.js';
import { type DuplexEvents, type Fields, headOf, OWN_HEADERS } from '../../http/reply.js';
import { limited, problem, type Problem } from '../../base/problem.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { limitsOf, silence, type Uploads } from './uploads.js';
import { Intake } from './intake.js';
import { openOutput, type Output } from './output.js';
import type { AdmittedRows, BulkSink } from './pump-options.js';
import { typeOf, type BulkRequest } from './request.js';
import { RowRun, type RunEnd } from './run.js';
import { Spool, type SpoolLimit } from './spool.js';

/** Who uploads, and what for. */
interface UploadAsked {
  readonly name: string;
  readonly account: string;
  readonly release: PinnedRelease;
  /** The moment that "today" is derived from; absent for the beginning of the upload. */
  readonly nowMs?: number;
  readonly instance: string;
  /** Header fields of every answer. */
  readonly fields: Fields;
  readonly request: BulkRequest;
  readonly admit: (rows: number) => AdmittedRows;
  /** Called once when the upload has ended. */
  readonly over: () => void;
}

const DISK_REFUSED = problem(507, 'The disk does not take the output.');
const GONE = 'The connection ended before the output did.';

export class Upload implements DuplexEvents {
  readonly #exchange: DuplexExchange;
  readonly #uploads: Uploads;
  readonly #asked: UploadAsked;
  readonly #intake: Intake;
  readonly #output: Output;
  readonly #spool: Spool | null;
  readonly #run: RowRun;
  #refused = false;
  #onTaken: (() => void) | null = null;
  #over = false;

  constructor(exchange: DuplexExchange, uploads: Uploads, asked: UploadAsked) {
    this.#exchange = exchange;
    this.#uploads = uploads;
    this.#asked = asked;
    const { request, name } = asked;
    this.#intake = new Intake({
      gzip: request.gzipIn,
      bytesMax: uploads.limits.bytesMax,
      body: exchange,
      target: {
        push: (piece) => this.#run.push(piece),
        end: () => this.#run.end(),
        failed: (failure) => this.#stop('invalid-format', failure),
      },
    });
    this.#output = openOutput(request.gzipOut, exchange, () => this.#taken());
    const file = { account: asked.account, name };
    this.#spool =
      request.spool || request.strict
        ? new Spool(uploads.space, file, {
            drained: () => this.#run.drained(),
            full: (limit) => this.#spoolFull(limit),
            failed: () => this.#refuse(DISK_REFUSED),
          })
        : null;
    uploads.enter(name, {
      account: asked.account,
      stop: (message) => this.#stop('overloaded', problem(503, message)),
    });
    this.#run = this.#open();
    exchange.listen(this);
  }

  data(piece: Uint8Array, isLast: boolean): void {
    this.#intake.push(piece, isLast);
  }

  drained(): void {
    this.#output.drained();
  }

  waiting(): boolean {
    return this.#run.waiting;
  }

  idle(): void {
    this.#stop('invalid-format', problem(408, silence(this.#uploads.limits.idleMs)));
  }

  closed(): void {
    if (this.#over) return;
    this.#over = true;
    const { name, account, over } = this.#asked;
    const end = this.#run.abort('internal', GONE);
    if (end !== null) this.#uploads.keep(name, account, end);
    this.#intake.close();
    this.#output.close();
    this.#onTaken?.();
    void this.#spool?.close();
    this.#uploads.leave(name);
    over();
  }

  /** Continues after the client has taken the output: the run, or reading from the disk. */
  #taken(): void {
    const waiting = this.#onTaken;
    this.#onTaken = null;
    if (waiting === null) this.#run.drained();
    else waiting();
  }

  #open(): RowRun {
    const { name, release, request, admit } = this.#asked;
    const { limits, schedule, now } = this.#uploads;
    const { nowMs = now() } = this.#asked;
    return new RowRun({
      run: {
        name,
        kind: request.kind,
        release: { id: release.id, dir: release.dir },
        nowMs,
        defaults: request.defaults,
      },
      request,
      limits,
      schedule,
      admit,
      body: this.#intake,
      sink: this.#sink(),
      refused: (refused) => this.#refuse(refused),
      done: (end) => this.#done(end),
    });
  }

  #sink(): BulkSink {
    if (this.#spool !== null) return this.#spool;
    const output = this.#output;
    return {
      write: (bytes) => {
        this.#begin();
        return output.write(bytes);
      },
      ...(output.isPassing === true ? { isPassing: true } : {}),
    };
  }

  #begin(): void {
    if (this.#exchange.begun) return;
    const { request, name, release, fields } = this.#asked;
    this.#exchange.begin(
      200,
      headOf(typeOf(request.output), {
        ...fields,
        [OWN_HEADERS.job]: name,
        [OWN_HEADERS.dataset]: release.id,
        [OWN_HEADERS.engine]: BULK_ENGINE,
        ...(request.gzipOut ? { 'Content-Encoding': 'gzip' } : {}),
        Vary: 'Accept, Accept-Encoding',
      }),
      release.id,
    );
  }

  #done({ kind, end }: RunEnd): void {
    const { name, account, request } = this.#asked;
    this.#uploads.keep(name, account, end);
    if (request.strict && end.stopped !== null) {
      this.#refuseStrict(end.stopped, kind === 'broken' ? 503 : 422);
      return;
    }
    if (this.#spool === null) this.#finish(end);
    else void this.#replay(this.#spool, end);
  }

  #finish(end: Trailer): void {
    const trailer = this.#run.trailer(end);
    if (trailer.length > 0) this.#output.write(trailer);
    this.#output.end();
  }

  async #replay(spool: Spool, end: Trailer): Promise<void> {
    this.#begin();
    try {
      await spool.read(
        (piece) =>
          new Promise((resolve) => {
            if (this.#over || this.#output.write(piece)) resolve();
            else this.#onTaken = resolve;
          }),
      );
      if (!this.#over) this.#finish(end);
    } catch {
      // The connection is cut: from the missing end the client sees that the answer is incomplete.
      this.#exchange.abandon();
    }
  }

  /**
   * Ends the upload after what is under way, or refuses it if no row was answered and nothing was
   * sent.
   */
  #stop(kind: FailureKind, refusal: Problem): void {
    if (this.#exchange.begun || this.#run.rows > 0) {
      this.#run.stop(kind, refusal.detail);
    } else this.#refuse(refusal);
  }

  #spoolFull({ limit, own }: SpoolLimit): void {
    const whose = own ? 'of one account' : 'all together';
    const detail = `Output that waits for its end may take ${limit} bytes of disk, ${whose}.`;
    this.#refuse(limited(507, detail, limit));
  }

  #refuseStrict({ line, code, message }: Stopped, status: 422 | 503): void {
    const field = this.#run.refusal?.field ?? null;
    this.#refuse({
      ...problem(status, `Line ${line}: ${message} Nothing was answered, as strict asks.`),
      members: { line, error: { code, message, field } },
    });
  }

  /** Answers with a problem document and discards everything else. */
  #refuse({ status, detail, members }: Problem): void {
    if (this.#refused) return;
    this.#refused = true;
    const { instance, fields, name, account, request } = this.#asked;
    const end = this.#run.abort('invalid-format', detail);
    if (end !== null) this.#uploads.keep(name, account, end);
    this.#intake.close();
    void this.#spool?.close();
    const limits = limitsOf(this.#uploads.limits, request.kind);
    const told = { status, detail, members: { limits, ...members } };
    this.#exchange.send(problemReply(told, instance, fields));
  }
}
