/**
 * One request and its answer, both open at once. Like `Exchange` it lets go of the native response
 * when that ended or was aborted, so that none is touched afterwards.
 *
 * The native server keeps what a client does not take in memory of its own, says so with `false`,
 * and does not say when that memory is empty. Besides, pausing an upload and nudging it make it
 * deaf for a client that has caught up, and a write that does not pass wakes a paused upload. So an
 * exchange that is behind tries a few bytes every now and then, goes on with large pieces when they
 * passed, and pauses again what is to be paused.
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
  /** The answer to a fault of the handler, for where it can still be sent. */
  readonly #faultReply: (error: unknown) => Reply;
  readonly #around: DuplexSurroundings;
  /** What was answered; status 0 until then. */
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
  /** The refusal that waits until the client has sent everything, and the bytes it sent. */
  #refusal: Reply | null = null;
  #drain: Drain | null = null;
  #drainedBytes = 0;
  /** Whether an answer still waits for the rest of the upload. */
  #patient: boolean;
  /** Since when neither side moved, in whole ticks. */
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

  /** The native response while it may be touched. */
  get raw(): RawResponse | null {
    return this.#raw;
  }

  /** Whether the first byte of the answer was written: no other status can be told any more. */
  get begun(): boolean {
    return this.#answered.status !== 0;
  }

  listen(events: DuplexEvents): void {
    this.#events = events;
    if (this.#raw === null) events.closed();
  }

  /**
   * Refuses or answers as a whole. The rest of the upload is read and dropped first, since many
   * clients read the answer only then; one that sends too much of it is cut.
   */
  send(reply: Reply): void {
    if (this.#raw === null || this.begun || this.#refusal !== null) return;
    this.#refusal = reply;
    this.#dropUpload();
    if (this.#mayEnd()) this.#sendRefusal();
    else this.#drain = new Drain(drainLimits(reply.status), () => this.#sendRefusal());
  }

  /** Begins the answer; `dataset` is the release that it is of. */
  begin(status: number, head: Head, dataset = ''): void {
    const raw = this.#raw;
    if (raw === null || this.begun || this.#refusal !== null) return;
    this.#answered = { status, dataset };
    if (this.#around.bodiless === true) this.#close();
    raw.cork(() => writeHead(raw, status, head, this.#around));
  }

  /** Writes a part of the answer; false when no more should be written until `drained`. */
  write(part: Uint8Array): boolean {
    if (this.#raw === null) return true;
    this.#pending.add(part);
    this.#flush();
    return !this.#blocked;
  }

  /**
   * Ends the answer after what was written. Where the upload goes on it is read and dropped first:
   * the client has the answer by then, and would lose it if the connection were cut.
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

  /** What waits of the upload is worked on no more, and the rest is read. */
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

  /** Whether the client has sent everything, or is not waited for. */
  #mayEnd(): boolean {
    return (
      this.#received ||
      !this.#patient ||
      this.#traffic.closing ||
      this.#drainedBytes > DRAIN_BYTES_MAX
    );
  }

  /** One that reads while it sends takes its leave itself: a cut could cost it the answer. */
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

  /** Tries again in a while, since nobody else may say so. */
  #probeSoon(): void {
    this.#probe ??= setTimeout(() => {
      this.#probe = null;
      this.#writable();
      const raw = this.#raw;
      if (raw === null || !this.#blocked) return;
      // A connection that is not read does not say that its client has gone; it loses its address.
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
    // Never with the wish to close: the native server would write that field among the chunks. A
    // client that sends no more is cut by its short time limits.
    raw.cork(() => void raw.end());
  }

  /** Keeps the native server's own short limits away and applies the long one given. */
  #watch(): void {
    const raw = this.#raw;
    if (raw === null) return;
    this.#upload.nudge();
    const given = this.#refusal !== null || this.#ending;
    if (!this.#blocked && !given && this.#events?.waiting() === false) this.#quietMs = 0;
    else this.#quietMs += this.#tickMs;
    if (!this.#blocked && given) {
      // Once the upload has come to rest the answer waits no longer for its end.
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

  /** What a handler throws is a bug: it ends this exchange, and not the process. */
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
