/**
 * One request and its answer, both open at the same time. Like `Exchange` it gives up the native
 * response when that has ended or was aborted, so that it is never touched afterwards.
 *
 * The native server keeps what a client does not take in its memory, reports that with `false`, and
 * does not report when that is empty. Besides, pausing and resuming an upload hides that a client
 * has caught up, and a write that is not taken resumes a paused upload. So while a client is
 * behind, a few bytes are tried at intervals, large pieces follow once they are taken, and the
 * upload is paused again where it should be.
 */
import { DRAIN_BYTES_MAX } from './body.js';
import { Drain, drainLimits } from './drain.js';
import type { Traffic } from './exchange.js';
import type { DuplexSurroundings } from './front.js';
import { NUDGE_MS } from './idle-timer.js';
import { PacedUpload, PendingPieces } from './pacing.js';
import type { Answered, Answerer, DuplexEvents, DuplexLimits, Head, Reply } from './reply.js';
import type { RawResponse } from './transport.js';
import { writeHead, writeReply } from './write-reply.js';

const PROBE_MS = 20;

export class DuplexExchange implements Answerer {
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #limits: DuplexLimits;
  /** The answer to an exception of the handler, if one can still be sent. */
  readonly #faultReply: (error: unknown) => Reply;
  readonly #around: DuplexSurroundings;
  /** The answer so far; its status is 0 until it begins. */
  #answered: Answered = { status: 0 };
  readonly #tickMs: number;
  readonly #tick: NodeJS.Timeout;
  #probe: NodeJS.Timeout | null = null;
  #events: DuplexEvents | null = null;
  readonly #pending = new PendingPieces();
  #blocked = false;
  #behind = false;
  readonly #upload: PacedUpload;
  #ending = false;
  #received = false;
  /** A refusal that is sent after the client has sent everything, and what it sent meanwhile. */
  #refusal: Reply | null = null;
  #drain: Drain | null = null;
  #drainedBytes = 0;
  /** Whether the end of an answer waits for the rest of the upload. */
  #patient: boolean;
  /** For how long neither side has sent anything, in whole ticks. */
  #quietMs = 0;

  constructor(
    raw: RawResponse,
    traffic: Traffic,
    limits: DuplexLimits,
    faultReply: (error: unknown) => Reply,
    around: DuplexSurroundings = {},
  ) {
    this.#around = around;
    raw.onAborted(() => this.#close());
    this.#raw = raw;
    this.#upload = new PacedUpload(raw, (piece, isLast) => this.#bring(piece, isLast));
    this.#traffic = traffic;
    this.#limits = limits;
    this.#faultReply = faultReply;
    this.#patient = limits.atOnce !== true;
    traffic.open += 1;
    raw.onData((piece, isLast) => this.#receive(new Uint8Array(piece), isLast));
    raw.onWritable(() => this.#writable());
    this.#tickMs = limits.tickMs ?? Math.min(NUDGE_MS, limits.idleMs);
    this.#tick = setInterval(() => this.#watch(), this.#tickMs).unref();
  }

  /** The native response, while it may be used. */
  get raw(): RawResponse | null {
    return this.#raw;
  }

  /** Whether the first byte of the answer was written, after which no other status can be sent. */
  get begun(): boolean {
    return this.#answered.status !== 0;
  }

  listen(events: DuplexEvents): void {
    this.#events = events;
    if (this.#raw === null) events.closed();
  }

  /**
   * Sends a refusal or another whole answer. The rest of the upload is read and discarded first,
   * since many clients read the answer only then; a client that sends too much is cut.
   */
  send(reply: Reply): void {
    if (this.#raw === null || this.begun || this.#refusal !== null) return;
    this.#refusal = reply;
    this.#dropUpload();
    if (this.#mayEnd()) this.#sendRefusal();
    else this.#drain = new Drain(drainLimits(reply.status), () => this.#sendRefusal());
  }

  /** Begins the answer; `dataset` is the release that it comes from. */
  begin(status: number, head: Head, dataset = ''): void {
    const raw = this.#raw;
    if (raw === null || this.begun || this.#refusal !== null) return;
    this.#answered = { status, dataset };
    if (this.#around.bodiless === true) this.#close();
    raw.cork(() => writeHead(raw, status, head, this.#around));
  }

  /** Writes a part of the answer; false when the handler should wait for `drained`. */
  write(part: Uint8Array): boolean {
    if (this.#raw === null) return true;
    this.#pending.add(part);
    this.#flush();
    return !this.#blocked;
  }

  /**
   * Ends the answer. The rest of the upload is read and discarded first: the client would lose the
   * answer if the connection were cut.
   */
  end(): void {
    this.#ending = true;
    this.#dropUpload();
    this.#flush();
  }

  /** Cuts the connection. */
  abandon(): void {
    this.#raw?.close();
  }

  /** Stops reading; a few pieces may still arrive. */
  pause(): void {
    this.#upload.pause();
  }

  resume(): void {
    if (!this.#upload.paused || this.#raw === null) return;
    this.#quietMs = 0;
    this.#upload.resume();
  }

  /** Discards what waits of the upload, and reads the rest. */
  #dropUpload(): void {
    this.#drainedBytes += this.#upload.drop();
    this.resume();
  }

  #bring(piece: Uint8Array, isLast: boolean): void {
    this.#quietMs = 0;
    this.#tell((events) => events.data(piece, isLast));
  }

  #receive(piece: Uint8Array, isLast: boolean): void {
    if (this.#raw === null) return;
    this.#quietMs = 0;
    this.#received ||= isLast;
    this.#upload.hold();
    if (this.#refusal === null && !this.#ending) {
      return this.#upload.push(piece, isLast);
    }
    this.#drainedBytes += piece.length;
    this.#drain?.took(piece.length);
    if (!this.#mayEnd()) return;
    if (this.#ending) this.#flush();
    else this.#sendRefusal();
  }

  /** Whether the client has sent everything, or is no longer waited for. */
  #mayEnd(): boolean {
    return (
      this.#received ||
      !this.#patient ||
      this.#traffic.closing ||
      this.#drainedBytes > DRAIN_BYTES_MAX
    );
  }

  /** Whether to close after the answer; a client that reads while it sends closes by itself. */
  #closesAfter(): boolean {
    return this.#traffic.closing || (!this.#received && this.#limits.atOnce !== true);
  }

  #sendRefusal(): void {
    const raw = this.#raw;
    const reply = this.#refusal;
    if (raw === null || reply === null) return;
    this.#answered = reply;
    this.#close();
    const close = this.#closesAfter();
    const { bodiless, extra } = this.#around;
    raw.cork(() => writeReply(raw, reply, this.#traffic, close, bodiless, extra));
  }

  /** Tries whether the client has caught up. */
  #writable(): boolean {
    if (this.#raw === null || !this.#blocked) return true;
    this.#blocked = false;
    this.#behind = true;
    this.#flush();
    if (this.#raw !== null && !this.#blocked && !this.#ending) {
      this.#tell((events) => events.drained());
    }
    return !this.#blocked;
  }

  /** Tries again after a while, since the server may not report that the client has caught up. */
  #probeSoon(): void {
    this.#probe ??= setTimeout(() => {
      this.#probe = null;
      this.#writable();
      const raw = this.#raw;
      if (raw === null || !this.#blocked) return;
      // A paused connection does not report that its client has left, but it loses its address.
      if (raw.getRemoteAddressAsText().byteLength === 0) raw.close();
      else this.#probeSoon();
    }, PROBE_MS).unref();
  }

  #flush(): void {
    while (!this.#blocked) {
      const raw = this.#raw;
      const piece = this.#pending.next(this.#behind);
      if (raw === null || piece === undefined) break;
      let taken = true;
      raw.cork(() => {
        taken = raw.write(piece);
      });
      this.#blocked = !taken;
      if (taken) {
        this.#behind = false;
        this.#quietMs = 0;
        continue;
      }
      this.#upload.hold();
      this.#probeSoon();
    }
    const raw = this.#raw;
    if (raw === null || !this.#ending || this.#blocked || !this.#pending.isEmpty) return;
    if (!this.#mayEnd()) return;
    this.#close();
    // Not with `closeConnection`, because the native server would write that field among the
    // chunks. A client that sends no more is cut by its short time limits.
    raw.cork(() => void raw.end());
  }

  /**
   * Prevents the native server's own short time limits, and applies the long one of this exchange.
   */
  #watch(): void {
    const raw = this.#raw;
    if (raw === null) return;
    this.#upload.nudge();
    const given = this.#refusal !== null || this.#ending;
    if (!this.#blocked && !given && this.#events?.waiting() === false) this.#quietMs = 0;
    else this.#quietMs += this.#tickMs;
    if (!this.#blocked && given) {
      // The end of the upload is no longer waited for once nothing more of it comes.
      if (this.#quietMs <= this.#tickMs) return;
      this.#patient = false;
      if (this.#refusal !== null) this.#sendRefusal();
      else this.#flush();
      return;
    }
    if (this.#quietMs < this.#limits.idleMs) return;
    this.#quietMs = 0;
    if (this.#blocked) this.abandon();
    else {
      this.#patient = false;
      this.#tell((events) => events.idle());
    }
  }

  /** An exception of a handler is a bug: it ends this exchange, but not the process. */
  #tell(call: (events: DuplexEvents) => void): void {
    const events = this.#events;
    if (events === null) return;
    try {
      call(events);
    } catch (error) {
      const reply = this.#faultReply(error);
      if (this.begun || this.#refusal !== null) this.abandon();
      else this.send(reply);
    }
  }

  #close(): void {
    if (this.#raw === null) return;
    this.#raw = null;
    this.#traffic.open -= 1;
    this.#pending.clear();
    this.#upload.close();
    clearInterval(this.#tick);
    this.#drain?.end();
    if (this.#probe !== null) clearTimeout(this.#probe);
    this.#around.ended?.(this.#answered);
    this.#tell((events) => events.closed());
  }
}
