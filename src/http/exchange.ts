/**
 * One request and its one answer. The native server throws when a response is used after it ended
 * or was aborted. To prevent that, every native response is wrapped first, and given up when it has
 * ended.
 */
import { TURN_END } from '../base/turn-end.js';
import { Deadlines, type Waiting } from './deadline.js';
import { microseconds, NO_EXTRA, type Front, type Noted, type RequestNote } from './front.js';
import { keepOpen } from './idle-timer.js';
import type { Answerer, Reply } from './reply.js';
import type { Staying } from './staying.js';
import type { RawRequest, RawResponse } from './transport.js';
import { writeReply } from './write-reply.js';

/** The open exchanges, and whether each answer also closes its connection. */
export interface Traffic {
  open: number;
  closing: boolean;
  /** Whether the native server answers; its responses are JoiningResponses. */
  native?: boolean;
  /** How many connections the server has; counts as 0 where it is absent. */
  connections?: () => number;
  /** What is done around every request; absent where nothing is. */
  readonly front?: Front;
  /** Made with the first exchange that has a time limit. */
  deadlines?: Deadlines;
}

interface ExchangeOptions {
  /** Whether the client asked with HEAD and must get no body. */
  readonly bodiless?: boolean;
  /**
   * Whether the native handler still runs and will call `guard` before it returns. An answer given
   * until then needs no registration for an abort, and is corked already.
   */
  readonly fresh?: boolean;
  /** Index of the operation; 0 for none. */
  readonly operation?: number;
}

const NOTHING = (): void => undefined;

/**
 * With more connections each is paused at once: after 1,024 events libuv fetches more in the same
 * turn, before what was put off to its end. Half of those events are left to other sockets.
 */
export const PAUSED_LATER_MAX = 512;

// Exchanges to pause at the end of the turn, after the workers were given their work.
const pausing: Exchange[] = [];

function pauseAll(): void {
  for (const exchange of pausing.splice(0)) exchange.pause();
}

// Passed in variables, since one answer is written at a time, to save a closure for each.
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
  /** What is kept of the request for its log line and its answer. */
  note: RequestNote | null = null;
  /** The first characters of the key; empty until it is known. */
  keyPrefix = '';
  /** Null once the answer was given or the client has left. */
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #bodiless: boolean;
  #fresh: boolean;
  /** The turn in which the whole request had arrived; -1 until then. */
  #turn = -1;
  /** Whether this answer closes the connection. */
  #last = false;
  #held = false;
  #paused = false;
  /** Set where the connection is read on because its client said that it keeps it. */
  #staying: Staying | null = null;
  #watched = false;
  /** The entry of its time limit, and what to call when that is over. */
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
   * Stops reading until the answer is given. Call it when the whole request has arrived, within a
   * callback of the server. If the native server went on reading, it would close a connection whose
   * client has ended its half or sends the next request early. It reads a connection once a turn,
   * so it is paused at the end of the turn; the server of Node.js at once.
   */
  hold(): void {
    this.arrived();
    if (this.#raw === null || this.#held || this.#watched) return;
    this.#held = true;
    const { native, connections } = this.#traffic;
    if (native !== true || (connections?.() ?? 0) > PAUSED_LATER_MAX) this.pause();
    else if (pausing.push(this) === 1) TURN_END.last(pauseAll);
  }

  /** Pauses reading if the exchange is still held. */
  pause(): void {
    if (this.#raw === null || !this.#held) return;
    this.#paused = true;
    this.#raw.pause();
  }

  /** Holds the connection unless its client keeps it; for requests that may be repeated. */
  holdUnless(staying: Staying, request: Pick<RawRequest, 'getHeader'>): void {
    if (this.#raw === null) return;
    if (staying.stays(request, this.keyPrefix)) this.#staying = staying;
    else this.hold();
    this.arrived();
  }

  /**
   * Notes that the whole request has arrived; to be called at the end of a callback of the server.
   * An answer given in a later turn is sent alone. In this turn answers of the same connection may
   * be sent together, even one that comes by a promise.
   */
  arrived(): void {
    this.#turn = TURN_END.ended;
  }

  /**
   * Whether the connection is read on although the body is complete; if not, the caller holds it.
   * `staying` is null where the client did not say that it keeps the connection.
   */
  isReadOn(staying: Staying | null): boolean {
    if (this.#raw === null || this.#watched || staying?.trusts(this.keyPrefix) !== true) {
      return false;
    }
    this.#staying = staying;
    return true;
  }

  /** What is done around the request. */
  get front(): Front | undefined {
    return this.#traffic.front;
  }

  /** The native response, while it may be used. */
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
      // An answer that closes is passed on whole, but a client's reset may leave it open.
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

  /** Answers and closes the connection, even if its client still sends. */
  sendLast(reply: Reply): void {
    this.guard();
    this.#last = true;
    this.send(reply);
  }

  /** Cuts the connection without an answer. */
  abandon(): void {
    // The cut is reported as an abort, which ends the exchange.
    this.guard();
    this.#raw?.close();
  }

  /** Ends the time limit, where the caller has one of its own. */
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

  /** Called when the time limit is over. */
  late(): void {
    this.#late?.();
  }

  /**
   * Reads on while the answer is made, so that a client that leaves is noticed at once; one that
   * has ended its half counts as gone. For work that is given up when nobody waits for it.
   */
  watch(): void {
    this.#watched = true;
    // A client that leaves here is no sign that its key's connections should be held.
    this.#staying = null;
    this.#held = false;
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#raw === null) return;
    this.#raw.resume();
    // The connection now counts as idle, and the answer may take longer than such are kept.
    const open = keepOpen(this);
    this.onClosed(() => open.remove());
  }

  /** Calls `closed` once, when the exchange was answered or aborted. */
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

  /** The client has left, or was cut, before its answer. */
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
