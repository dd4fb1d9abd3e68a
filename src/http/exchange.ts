/**
 * One request and its one answer. The native server ends the process when a handler returns without
 * having registered for an abort, and throws when a response is touched after one; both are made
 * impossible here: every native response is wrapped first, and let go of when it ended.
 */
import { fieldsOf, type Answerer, type Reply } from './reply.js';
import { statusLine } from './status.js';
import type { RawResponse } from './uws.js';

/** Exchanges that are open, and whether their connections are to be closed with the answer. */
export interface Traffic {
  open: number;
  closing: boolean;
}

export interface ExchangeOptions {
  /** The client asked with HEAD and must get no body. */
  readonly bodiless?: boolean;
  /**
   * The native handler is still running and will call `guard` before it returns: an answer that is
   * given at once needs no registration, and is corked already.
   */
  readonly fresh?: boolean;
}

/** Statuses of answers that have no content. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

// One answer is written at a time; handing it over here spares a closure per answer.
let corked: RawResponse;
let corkedReply: Reply;
let corkedClose = false;

function writeCorked(): void {
  writeReply(corked, corkedReply, corkedClose);
}

/** Writes a whole answer; to be called corked. */
export function writeReply(
  raw: RawResponse, { status, head, body }: Reply, close: boolean,
): void {
  if (status !== 200) raw.writeStatus(statusLine(status));
  if (status !== 200 && BODILESS.has(status)) {
    // Whoever reads the field closes; the native call would need a length to be told of it.
    if (close) raw.writeHeader('Connection', 'close');
    writeFields(raw, head).endWithoutBody();
  } else raw.writeHeader('Content-Type', head).end(body, close);
}

/** The fields of a head without its content type: there is no content (RFC 9110, 8.6). */
function writeFields(raw: RawResponse, head: Reply['head']): RawResponse {
  for (const [name, value] of fieldsOf(head)) {
    if (name !== 'content-type') raw.writeHeader(name, value);
  }
  return raw;
}

export class Exchange implements Answerer {
  /** Null once the answer was given or the client has gone. */
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #bodiless: boolean;
  #fresh: boolean;
  #timer: NodeJS.Timeout | null = null;
  #closed: (() => void) | null = null;

  constructor(raw: RawResponse, traffic: Traffic, options: ExchangeOptions = {}) {
    this.#fresh = options.fresh ?? false;
    if (!this.#fresh) raw.onAborted(() => this.#close());
    this.#raw = raw;
    this.#traffic = traffic;
    this.#bodiless = options.bodiless ?? false;
    traffic.open += 1;
  }

  /** Registers for an abort where that was put off, unless the answer was given. */
  guard(): void {
    if (!this.#fresh) return;
    this.#fresh = false;
    this.#raw?.onAborted(() => this.#close());
  }

  /** The native response while it may be touched. */
  get raw(): RawResponse | null {
    return this.#raw;
  }

  send(reply: Reply): void {
    const raw = this.#raw;
    if (raw === null) return;
    this.#close();
    // A length without a body cannot be told: the native server would wait for the body.
    const sent = this.#bodiless ? { ...reply, body: '' } : reply;
    if (this.#fresh) {
      writeReply(raw, sent, this.#traffic.closing);
      return;
    }
    corked = raw;
    corkedReply = sent;
    corkedClose = this.#traffic.closing;
    raw.cork(writeCorked);
  }

  /** Cuts the connection without an answer. */
  abandon(): void {
    // The cut is told as an abort, which lets go of the exchange.
    this.guard();
    this.#raw?.close();
  }

  /** Calls `late` when there is no answer after so many milliseconds. */
  deadline(milliseconds: number, late: () => void): void {
    if (this.#raw === null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(late, milliseconds);
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

  #close(): void {
    if (this.#raw === null) return;
    this.#raw = null;
    this.#traffic.open -= 1;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#closed?.();
  }
}
