/** Slow clients: what of an answer they do not take yet, and uploads held back for them. */
import { kept, NO_BYTES } from '../base/growing-bytes.js';
import { PacedBytes } from '../base/turns.js';
import type { Traffic } from './exchange.js';
import type { RawResponse } from './transport.js';

/*
 * Answers that the system's buffers of a connection do not take at once. The native server would
 * keep any number of such answers in memory of its own, so that a client that asks again and again
 * and reads nothing makes the service hold a thousand times what it sent. Here an answer is not
 * over until the system has taken it, and the native server cuts a connection that asks for more
 * before that: a connection holds one unfinished answer, and at most 16 KiB of finished ones. Of
 * short answers that go out by themselves that holds on average (`mayEnd`).
 */

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
 * Whether the head of an answer that was not taken may have a gap. Where several are sent together,
 * with more than 16 KiB of them, to a client that is behind, the native server drops the piece at
 * which it finds that out, be it one of a head. None of the body is taken then either. Such a
 * client has not read what it was sent before and asks for more, and what it reads next could be
 * anything.
 */
function isTorn(raw: RawResponse, { native }: Traffic, alone: boolean): boolean {
  return native === true && !alone && raw.getWriteOffset() === 0;
}

/** Cuts the connection when the native server is done with what is corked. */
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
 * Ends an answer whose head was written; to be called corked. `tryEnd` returns a list, which takes
 * 0.4 µs; `end` does not. But where more than 16 KiB of answers are sent together, what `end`
 * leaves of the last one is lost and its response stays open, and where nobody was told of its
 * abort the native server ends the process. `alone`: nothing else is sent with it.
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

/** Longer answers are always ended with what tells whether the client took them. */
export const ENDED_BYTES_MAX = 4_096;

/** Bytes of answers to a client that takes none after which that is found out, on average. */
const UNNOTICED_BYTES = 8_192;

/** Of a character. */
const UTF8_BYTES_MAX = 3;

/**
 * Whether an answer that is sent alone, with a head of so many bytes, is ended with `end`. What a
 * client does not take of it stays in memory, its connection may ask for more, and a service that
 * stops does not wait for it. So chance decides, by the length: who reads nothing is found out
 * after 8 KiB of such answers on average (in one case of a thousand only after 56), and cannot know
 * when.
 */
export function mayEnd(headBytes: number, body: string | Uint8Array): boolean {
  const most = typeof body === 'string' ? body.length * UTF8_BYTES_MAX : body.length;
  const bytes = headBytes + most;
  return bytes <= ENDED_BYTES_MAX && Math.random() * UNNOTICED_BYTES >= bytes;
}

/** Ends an answer to HEAD, with the length of the body that is left out; to be called corked. */
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
