/**
 * Serves slow clients: the parts of answers that they do not take yet, and uploads that are read no
 * faster than they are processed.
 */
import { kept, NO_BYTES } from '../base/growing-bytes.js';
import { PacedBytes } from '../base/turns.js';
import type { Traffic } from './exchange.js';
import type { RawResponse } from './transport.js';

/*
 * Answers that the system's buffers of a connection do not take at once. The native server would
 * keep any number of such answers in memory of its own, so that a client that sends requests and
 * reads nothing could make the service keep a thousand times what it sent. Here an answer is not
 * over until the system has taken it, and the native server cuts a connection that sends another
 * request before that: a connection has one unfinished answer, and at most 16 KiB of finished ones.
 * For short answers that are sent alone this holds on average (`mayEnd`).
 */

/** The rest of one answer; sends more of it whenever the client has taken some. */
class Unsent {
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #body: Uint8Array;
  /** The announced length; for an answer without a body, the length of the body left out. */
  readonly #length: number;

  constructor(raw: RawResponse, body: Uint8Array, length: number, traffic: Traffic) {
    this.#raw = raw;
    this.#body = body;
    this.#length = length;
    this.#traffic = traffic;
    traffic.open += 1;
    raw.onAborted(() => this.#over());
    raw.onWritable(() => this.#goOn());
  }

  #goOn(): boolean {
    const raw = this.#raw;
    if (raw === null) return true;
    let whole = false;
    raw.cork(() => {
      whole =
        this.#body.length === 0
          ? endHead(raw, this.#length)
          : raw.tryEnd(this.#body.subarray(raw.getWriteOffset()), this.#length)[1];
    });
    if (whole) this.#over();
    return whole;
  }

  #over(): void {
    if (this.#raw === null) return;
    this.#raw = null;
    this.#traffic.open -= 1;
  }
}

/** Ends an answer that has a length and no body; false when the client is behind. */
function endHead(raw: RawResponse, length: number): boolean {
  const [taken, whole] = raw.tryEnd(NO_BYTES, length);
  if (taken && !whole) raw.endWithoutBody();
  return taken;
}

/**
 * Whether the head of an answer that was not taken may have a gap. If several answers are sent
 * together, more than 16 KiB of them, and the client is behind, the native server drops the piece
 * at which it notices that, which may belong to a head. Then nothing of the body is taken either.
 * Such a client has sent another request without reading its answers, and what it reads next could
 * be anything.
 */
function isTorn(raw: RawResponse, { native }: Traffic, alone: boolean): boolean {
  return native === true && !alone && raw.getWriteOffset() === 0;
}

/** Cuts the connection after the native server has finished the corked writes. */
function cutLater(raw: RawResponse): void {
  let isOpen = true;
  raw.onAborted(() => {
    isOpen = false;
  });
  setImmediate(() => {
    if (isOpen) raw.close();
  });
}

/**
 * Ends an answer whose head was written; call it corked. `tryEnd` returns a list, which takes 0.4
 * µs longer than `end`. But where more than 16 KiB of answers are sent together, `end` loses the
 * rest of the last one and leaves its response open; without a callback for its abort, the native
 * server then ends the process. `alone`: nothing else is sent with this answer.
 */
export function endWith(
  raw: RawResponse,
  body: string | Uint8Array,
  traffic: Traffic,
  alone: boolean,
): void {
  const [taken, whole] = raw.tryEnd(body);
  if (whole) return;
  if (!taken && isTorn(raw, traffic, alone)) return cutLater(raw);
  const bytes = typeof body === 'string' ? Buffer.from(body) : kept(body);
  new Unsent(raw, bytes, bytes.length, traffic);
}

/** Longer answers are always ended with the call that tells whether the client took them. */
export const ENDED_BYTES_MAX = 4_096;

/** How many bytes of answers a client may leave unread, on average, before that is noticed. */
const UNNOTICED_BYTES = 8_192;

/** Most bytes of a UTF-16 code unit in UTF-8. */
const UTF8_BYTES_MAX = 3;

/**
 * Whether an answer that is sent alone, after a head of `headBytes`, may be ended with `end`. What
 * the client does not take of it stays in memory, its connection may send another request, and a
 * service that stops does not wait for it. So chance decides, by the length: a client that reads
 * nothing is noticed after 8 KiB of such answers on average (in one case of a thousand only after
 * 56), and cannot know when.
 */
export function mayEnd(headBytes: number, body: string | Uint8Array): boolean {
  const most = typeof body === 'string' ? body.length * UTF8_BYTES_MAX : body.length;
  const bytes = headBytes + most;
  return bytes <= ENDED_BYTES_MAX && Math.random() * UNNOTICED_BYTES >= bytes;
}

/** Ends an answer to HEAD, with the length of the body that is left out; call it corked. */
export function endWithout(
  raw: RawResponse,
  body: string | Uint8Array,
  traffic: Traffic,
  alone: boolean,
): void {
  const length = Buffer.byteLength(body);
  if (length === 0) raw.end(body);
  else if (endHead(raw, length)) return;
  else if (isTorn(raw, traffic, alone)) cutLater(raw);
  else new Unsent(raw, NO_BYTES, length, traffic);
}

/*
 * The upload of a duplex exchange: some bytes of it are passed on each turn, and it is read on only
 * while its reader keeps up.
 */

export class PacedUpload {
  #raw: RawResponse | null;
  readonly #pieces: PacedBytes;
  /** Whether the reader of the upload wants no more for now. */
  #paused = false;
  /** Whether the native response was told to stop reading. */
  #still = false;

  /** `bring` is called with each piece, whose memory is valid only during the call. */
  constructor(raw: RawResponse, bring: (piece: Uint8Array, isLast: boolean) => void) {
    this.#raw = raw;
    this.#pieces = new PacedBytes(bring, () => this.#settle());
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Passes a piece on, at once or when it is its turn. */
  push(piece: Uint8Array, isLast: boolean): void {
    this.#pieces.push(piece, isLast, true);
    this.#settle();
  }

  /** Passes nothing on until `resume`, and stops reading; a few pieces may still arrive. */
  pause(): void {
    this.#paused = true;
    this.#pieces.rest();
    this.#settle();
  }

  resume(): void {
    this.#paused = false;
    this.#pieces.go();
    this.#settle();
  }

  /** Pauses the native response again after an action that may have resumed it. */
  hold(): void {
    if (this.#still) this.#raw?.pause();
  }

  /** Restarts the idle timer of the native response. */
  nudge(): void {
    this.#raw?.pause();
    if (!this.#still) this.#raw?.resume();
  }

  /** Drops the bytes that wait for their turn, and returns how many there were. */
  drop(): number {
    const bytes = this.#pieces.clear();
    this.#settle();
    return bytes;
  }

  /** Gives up the native response. */
  close(): void {
    this.#raw = null;
    this.#pieces.clear();
  }

  /**
   * Pauses or resumes the native response, but only on a change: a needless call would stop it
   * reading.
   */
  #settle(): void {
    const still = this.#paused || this.#pieces.holds;
    if (this.#raw === null || still === this.#still) return;
    this.#still = still;
    if (still) this.#raw.pause();
    else this.#raw.resume();
  }
}

/*
 * The answer of a duplex exchange: it is written in pieces, small ones while the client is behind.
 */

/** How many bytes are written at a time to a client that keeps up. */
export const PIECE_BYTES_MAX = 65_536;
/** How many bytes are tried on a client that is behind; they add up while it takes nothing. */
const PROBE_BYTES = 64;

/** Pieces of an answer that were not written yet. */
export class PendingPieces {
  #pieces: Uint8Array[] = [];

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Adds a part of the answer without copying it. */
  add(part: Uint8Array): void {
    for (let at = 0; at < part.length; at += PIECE_BYTES_MAX) {
      this.#pieces.push(part.subarray(at, at + PIECE_BYTES_MAX));
    }
  }

  /** The next piece; its beginning if the client is `behind`; undefined where there is none. */
  next(behind: boolean): Uint8Array | undefined {
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    const now = behind ? piece.subarray(0, PROBE_BYTES) : piece;
    if (now.length < piece.length) this.#pieces.unshift(piece.subarray(now.length));
    return now;
  }

  clear(): void {
    this.#pieces = [];
  }
}
