/**
 * One request and its one answer. The native server throws when a response is touched after it
 * ended or was aborted; that is made impossible here: every native response is wrapped first, and
 * let go of when it ended.
 */
import { TURN_END } from '../base/turn-end.js';
import { Deadlines, type Waiting } from './deadline.js';
import { microseconds, NO_EXTRA, type Front, type Noted, type RequestNote } from './front.js';
import { keepOpen } from './idle-timer.js';
import type { Answerer, Reply } from './reply.js';
import type { Staying } from './staying.js';
import type { RawRequest, RawResponse } from './transport.js';
import { writeReply } from './write-reply.js';

/** Exchanges that are open, and whether their connections are to be closed with the answer. */
export interface Traffic {
  open: number;
  closing: boolean;
  /** Whether the native server has them; its responses are JoiningResponses. */
  native?: boolean;
  /** How many connections it has; none in its absence. */
  connections?: () => number;
  /** What stands around every request; nothing in its absence. */
  readonly front?: Front;
  /** Made with the first exchange that has one. */
  deadlines?: Deadlines;
}

interface ExchangeOptions {
  /** The client asked with HEAD and must get no body. */
  readonly bodiless?: boolean;
  /**
   * The native handler is still running and will call `guard` before it returns: an answer that is
   * given at once needs no registration, and is corked already.
   */
  readonly fresh?: boolean;
  /** Index of the operation; 0 for what is none. */
  readonly operation?: number;
}

const NOTHING = (): void => undefined;

/**
 * With more connections nothing is put off: where a turn begins with 1,024 events, libuv takes more
 * before its end. The rest are those of other sockets.
 */
export const PAUSED_LATER_MAX = 512;

// What is paused at the end of the turn, in which whoever works meanwhile has got its work before.
const pausing: Exchange[] = [];

function pauseAll(): void {
  for (const exchange of pausing.splice(0)) exchange.pause();
}

// One answer is written at a time; handing it over here spares a closure per answer.
let corked: RawResponse;
let corkedReply: Reply;
let corkedTraffic: Traffic;
let corkedBodiless = false;
let corkedClose = false;
let corkedExtra = NO_EXTRA;
let corkedAlone = false;

function writeCorked(): void {
  writeReply(
    corked,
    corkedReply,
    corkedTraffic,
    corkedClose,
    corkedBodiless,
    corkedExtra,
    corkedAlone,
  );
}

export class Exchange implements Answerer, Noted, Waiting {
  /** Index of the operation; 0 until it is known. */
  operation: number;
  readonly began: number;
  /** What is kept of the request for its log line and answer. */
  note: RequestNote | null = null;
  /** The first characters of the key; empty until it is known. */
  keyPrefix = '';
  /** Null once the answer was given or the client has gone. */
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #bodiless: boolean;
  #fresh: boolean;
  /** The turn in which all of the request was there; -1 until then. */
  #turn = -1;
  /** Whether the connection is closed with the answer. */
  #last = false;
  #held = false;
  #paused = false;
  /** Set where the connection is read on since its client said that it goes on with it. */
  #staying: Staying | null = null;
  #watched = false;
  /** Where its deadline waits, and who is told of it. */
  #deadline: ReturnType<Deadlines['add']> | null = null;
  #late: (() => void) | null = null;
  #closed: (() => void) | null = null;

  constructor(raw: RawResponse, traffic: Traffic, options: ExchangeOptions = {}) {
    this.#fresh = options.fresh ?? false;
    if (!this.#fresh) raw.onAborted(() => this.#gone());
    this.operation = options.operation ?? 0;
    this.began = traffic.front?.watches === true ? microseconds() : 0;
    this.#raw = raw;
    this.#traffic = traffic;
    this.#bodiless = options.bodiless ?? false;
    traffic.open += 1;
  }

  /** Registers for an abort where that was put off, unless the answer was given. */
  guard(): void {
    if (!this.#fresh) return;
    this.#fresh = false;
    this.#raw?.onAborted(() => this.#gone());
  }

  /**
   * Reads nothing more until the answer is given; to be called when all of the request is there,
   * by what the server calls. The native server closes a connection whose client has ended its half
   * as soon as it reads that, and one that sends the next request before the answer. It reads a
   * connection once in a turn of the event loop, and is told at its end; that of Node.js reads on.
   */
  hold(): void {
    this.arrived();
    if (this.#raw === null || this.#held || this.#watched) return;
    this.#held = true;
    const { native, connections } = this.#traffic;
    if (native !== true || (connections?.() ?? 0) > PAUSED_LATER_MAX) this.pause();
    else if (pausing.push(this) === 1) TURN_END.last(pauseAll);
  }

  /** Pauses what is still held. */
  pause(): void {
    if (this.#raw === null || !this.#held) return;
    this.#paused = true;
    this.#raw.pause();
  }

  /** As `hold`, but for clients that go on with their connection; for what may be asked again. */
  holdUnless(staying: Staying, request: Pick<RawRequest, 'getHeader'>): void {
    if (this.#raw === null) return;
    if (staying.stays(request, this.keyPrefix)) this.#staying = staying;
    else this.hold();
    this.arrived();
  }

  /**
   * All of the request is there; to be called at the end of what the server calls. An answer that
   * is given when the turn is over goes out by itself: until then others of the connection may go
   * with it, also where a promise gives it.
   */
  arrived(): void {
    this.#turn = TURN_END.ended;
  }

  /**
   * The same when the body has come, for what is held otherwise: whether the connection is read on.
   * `staying` is null where its client did not say that it goes on.
   */
  isReadOn(staying: Staying | null): boolean {
    if (this.#raw === null || this.#watched || staying?.trusts(this.keyPrefix) !== true) {
      return false;
    }
    this.#staying = staying;
    return true;
  }

  /** What stands around the request. */
  get front(): Front | undefined {
    return this.#traffic.front;
  }

  /** The native response while it may be touched. */
  get raw(): RawResponse | null {
    return this.#raw;
  }

  send(reply: Reply): void {
    const raw = this.#raw;
    if (raw === null) return;
    const { front } = this.#traffic;
    if (front?.watches === true) front.answered(this, reply);
    const extra = this.note === null ? NO_EXTRA : this.note.extra;
    this.#close();
    if (this.#fresh) {
      // An answer that closes is handed over as a whole, and may be left open by a client's reset.
      if (this.#traffic.closing) raw.onAborted(NOTHING);
      writeReply(raw, reply, this.#traffic, this.#traffic.closing, false, extra);
      return;
    }
    if (this.#paused) raw.resume();
    corked = raw;
    corkedReply = reply;
    corkedTraffic = this.#traffic;
    corkedExtra = extra;
    corkedBodiless = this.#bodiless;
    corkedClose = this.#traffic.closing || this.#last;
    corkedAlone = this.#turn >= 0 && this.#turn !== TURN_END.ended;
    raw.cork(writeCorked);
  }

  /** Answers and closes the connection, whatever its client still sends. */
  sendLast(reply: Reply): void {
    this.guard();
    this.#last = true;
    this.send(reply);
  }

  /** Cuts the connection without an answer. */
  abandon(): void {
    // The cut is told as an abort, which lets go of the exchange.
    this.guard();
    this.#raw?.close();
  }

  /** Whoever waits now has a bound of its own. */
  endDeadline(): void {
    this.#deadline?.remove();
    this.#deadline = null;
  }

  /** Calls `late` when there is no answer after so many milliseconds. */
  deadline(milliseconds: number, late: () => void): void {
    if (this.#raw === null) return;
    this.endDeadline();
    const { deadlines } = this.#traffic;
    this.#late = late;
    this.#deadline = (deadlines ?? (this.#traffic.deadlines = new Deadlines())).add(
      this,
      milliseconds,
    );
  }

  /** The deadline is over. */
  late(): void {
    this.#late?.();
  }

  /**
   * Goes on reading while the answer is made, so that a client that goes is noticed at once; one
   * that has ended its half counts as gone. For work that is given up when nobody waits for it.
   */
  watch(): void {
    this.#watched = true;
    // That such a client goes is nothing to be wary of.
    this.#staying = null;
    this.#held = false;
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#raw === null) return;
    this.#raw.resume();
    // From here on it counts as idle, and the answer may take longer than such a connection has.
    const open = keepOpen(this);
    this.onClosed(() => open.remove());
  }

  /** Called once each, when the exchange was answered or aborted. */
  onClosed(closed: () => void): void {
    const before = this.#closed;
    if (this.#raw === null) closed();
    else if (before === null) this.#closed = closed;
    else {
      this.#closed = () => {
        before();
        closed();
      };
    }
  }

  /** The client has gone, or was cut, before its answer. */
  #gone(): void {
    const { front } = this.#traffic;
    if (this.#raw !== null && front?.watches === true) front.gone(this);
    if (this.#raw !== null) this.#staying?.cut(this.keyPrefix);
    this.#close();
  }

  #close(): void {
    if (this.#raw === null) return;
    this.#raw = null;
    this.#traffic.open -= 1;
    this.#deadline?.remove();
    this.#closed?.();
  }
}
