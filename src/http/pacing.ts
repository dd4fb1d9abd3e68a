/** Slow clients: what of an answer they do not take yet, and uploads held back for them. */
import { kept } from '../base/growing-bytes.js';
import { PacedBytes } from '../base/turns.js';
import type { Traffic } from './exchange.js';
import type { RawResponse } from './transport.js';

/*
 * Answers that the system's buffers of a connection do not take at once. The native server would
 * keep any number of such answers in memory of its own, so that a client that asks again and again
 * and reads nothing makes the service hold a thousand times what it sent. Here an answer is not
 * over until the system has taken it, and the native server cuts a connection that asks for more
 * before that: a connection holds one unfinished answer, and at most 16 KiB of finished ones.
 */

const NO_BYTES = new Uint8Array(0);

/** What is left of one answer; sends it whenever the client takes some, until it has gone. */
class Unsent {
  #raw: RawResponse | null;
  readonly #traffic: Traffic;
  readonly #body: Uint8Array;
  /** The length that was told; without a body it is that of the one left out. */
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
 * Ends an answer whose head was written; to be called corked. Not with `end`, which makes no list:
 * where more than 16 KiB of answers are sent together, what a client that resets its connection
 * does not take stays open then, and where nobody was told of its abort the native server ends the
 * process.
 */
export function endWith(raw: RawResponse, body: string | Uint8Array, traffic: Traffic): void {
  if (raw.tryEnd(body)[1]) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : kept(body);
  new Unsent(raw, bytes, bytes.length, traffic);
}

/** Longer answers are always ended with what tells whether the client took them. */
export const ENDED_BYTES_MAX = 4_096;

/** Bytes of answers to a client that takes none after which that is found out, on average. */
const UNNOTICED_BYTES = 8_192;

/**
 * Whether an answer of so many bytes or characters that is sent alone is ended with `end`, which
 * takes 0.4 µs less than what says whether the client is behind. What such a client does not take
 * stays in memory then and its connection may ask for more. So chance decides, by the length: one
 * that reads nothing is found out within 8 KiB on average, and cannot know when.
 */
export function mayEnd(length: number): boolean {
  return length <= ENDED_BYTES_MAX && Math.random() * UNNOTICED_BYTES >= length;
}

/** Ends an answer to HEAD, with the length of the body that is left out; to be called corked. */
export function endWithout(raw: RawResponse, body: string | Uint8Array, traffic: Traffic): void {
  const length = Buffer.byteLength(body);
  if (length === 0) raw.end(body);
  else if (!endHead(raw, length)) new Unsent(raw, NO_BYTES, length, traffic);
}

/*
 * The upload of a duplex exchange: read on while who works on it keeps up, some bytes a turn.
 */

export class PacedUpload {
  #raw: RawResponse | null;
  readonly #pieces: PacedBytes;
  /** Who works on the upload wants no more for now. */
  #paused = false;
  /** The native response was told to read no more. */
  #still = false;

  /** `bring` is called with each piece, whose memory is only its own until it returns. */
  constructor(raw: RawResponse, bring: (piece: Uint8Array, isLast: boolean) => void) {
    this.#raw = raw;
    this.#pieces = new PacedBytes(bring, () => this.#settle());
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Brings a piece at once or when it is its turn. */
  push(piece: Uint8Array, isLast: boolean): void {
    this.#pieces.push(piece, isLast, true);
    this.#settle();
  }

  /** Brings no more until `resume`, and reads no more; a few pieces may still arrive. */
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

  /** Stops the native response again, after what may have woken it. */
  hold(): void {
    if (this.#still) this.#raw?.pause();
  }

  /** Tells the native response that it is not forgotten. */
  nudge(): void {
    this.#raw?.pause();
    if (!this.#still) this.#raw?.resume();
  }

  /** Drops what waits for its turn; how many bytes that were. */
  drop(): number {
    const bytes = this.#pieces.clear();
    this.#settle();
    return bytes;
  }

  /** The native response is touched no more. */
  close(): void {
    this.#raw = null;
    this.#pieces.clear();
  }

  /** Has the native response read or not: one that is told without need reads no more. */
  #settle(): void {
    const still = this.#paused || this.#pieces.holds;
    if (this.#raw === null || still === this.#still) return;
    this.#still = still;
    if (still) this.#raw.pause();
    else this.#raw.resume();
  }
}

/*
 * The answer of a duplex exchange: handed over in pieces, small ones to a client that was behind.
 */

/** Bytes handed over at a time to a client that keeps up. */
export const PIECE_BYTES_MAX = 65_536;
/** What a client that was behind is tried with: it adds up while the client takes nothing. */
const PROBE_BYTES = 64;

/** Pieces that were not handed over yet. */
export class PendingPieces {
  #pieces: Uint8Array[] = [];

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Adds a part of the answer, which is not copied. */
  add(part: Uint8Array): void {
    for (let at = 0; at < part.length; at += PIECE_BYTES_MAX) {
      this.#pieces.push(part.subarray(at, at + PIECE_BYTES_MAX));
    }
  }

  /** The next one, or for a client that was `behind` its beginning; undefined for none. */
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
