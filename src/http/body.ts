/**
 * Reads a request body within its own limit and the limit for all bodies together, or discards a
 * refused one.
 */
import { Buffer } from 'node:buffer';
import { grown, type Growth, NO_BYTES } from '../base/growing-bytes.js';
import { REQUEST_HEAD_BYTES } from '../pool/frame.js';
import { Drain, drainLimits } from './drain.js';
import type { Exchange } from './exchange.js';
import { keepOpen } from './idle-timer.js';
import type { Reply } from './reply.js';
import type { Staying } from './staying.js';

/** Most bytes of all bodies together, unless the operator sets another limit. */
export const BODIES_BYTES_MAX = 268_435_456;

/** Bodies up to this length still find room when longer ones no longer do. */
export const SHORT_BODY_BYTES_MAX = 65_536;

/** The share of the room that is reserved for short bodies. */
const SHORT_SHARE = 1 / 8;

/**
 * Counts the memory of all request bodies together. A body counts from its first byte until its
 * request is answered or its client has left, since a body that is passed on to the compliance
 * provider is kept that long.
 */
export class BodyRoom {
  readonly #bytesMax: number;
  readonly #longBytesMax: number;
  #used = 0;

  constructor(bytesMax: number = BODIES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
    this.#longBytesMax = Math.floor(bytesMax * (1 - SHORT_SHARE));
  }

  /** How many bytes are in use. */
  get used(): number {
    return this.#used;
  }

  /**
   * Takes room for more bytes of a body whose `length` includes them; false where there is none.
   */
  take(bytes: number, length: number): boolean {
    const max = length <= SHORT_BODY_BYTES_MAX ? this.#bytesMax : this.#longBytesMax;
    if (this.#used + bytes > max) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** The longest body that is sent to the compliance provider, except for carts. */
export const BODY_BYTES_MAX = 1_048_576;

/** Most bytes that are read and discarded of an upload that goes on after a duplex answer ended. */
export const DRAIN_BYTES_MAX = 67_108_864;

/** How much memory a body in pieces takes for each byte received. */
const BODY_GROWTH = 1.25;
/** Leaves room for a head before the body, so that a worker can take it without a copy. */
const GROWTH: Growth = { factor: BODY_GROWTH, before: REQUEST_HEAD_BYTES };
/**
 * Once this many bytes have come, memory is taken for the whole announced length, so that nothing
 * is copied twice. The system uses the part that is not written yet for others.
 */
const WHOLE_FROM_BYTES = 262_144;

/**
 * A body that comes in one piece up to this length lies in the shared pool of Node.js, which costs
 * less than memory of its own. Bodies this short are never moved to a worker (`requestBytes`).
 */
const WHOLE_BODY_BYTES_MAX = 4_096;

/** Why a body is refused. */
export type Unkept = 'too-long' | 'no-room';

/** What a body leads to. One of the two functions is called, once, unless the client leaves. */
interface BodyEvents {
  readonly bytesMax: number;
  /** The length that the head announces, which is not above `bytesMax`; NaN where there is none. */
  readonly told: number;
  readonly room: BodyRoom;
  /** Set where the connection may be read on after the body. */
  readonly staying?: Staying | null;
  /**
   * Called with the whole body. `isReadOn` tells whether the connection is read on, in which case
   * the body need not be used at once.
   */
  done(body: Uint8Array, isReadOn: boolean): void;
  /**
   * Called as soon as the body has to be refused, after its memory was released. Returns the
   * answer.
   */
  refused(why: Unkept): Reply;
}

/**
 * Sends an answer when the client has sent its whole body. A client that sends too much first gets
 * the answer and is cut.
 */
class Refusal {
  readonly #exchange: Exchange;
  readonly #reply: Reply;
  readonly #drain: Drain;

  constructor(exchange: Exchange, reply: Reply) {
    this.#exchange = exchange;
    this.#reply = reply;
    // The drain has a time limit of its own, after which exactly this answer is sent.
    exchange.endDeadline();
    this.#drain = new Drain(drainLimits(reply.status), () => exchange.sendLast(reply));
    exchange.onClosed(() => this.#drain.end());
  }

  /** Notes that a piece was discarded. */
  took(bytes: number, isLast: boolean): void {
    if (isLast) this.#exchange.send(this.#reply);
    else this.#drain.took(bytes);
  }
}

/** Answers without keeping a byte of the body. Call this while the native handler runs. */
export function refuseBody(exchange: Exchange, reply: Reply): void {
  const { raw } = exchange;
  if (raw === null) return;
  const refusal = new Refusal(exchange, reply);
  const upload = keepOpen(exchange);
  exchange.onClosed(() => upload.remove());
  raw.onData((chunk, isLast) => {
    if (exchange.raw !== null) refusal.took(chunk.byteLength, isLast);
  });
}

/** Reads the body of an exchange. Call this while the native handler runs. */
export function readBody(exchange: Exchange, events: BodyEvents): void {
  const { raw } = exchange;
  if (raw === null) return;
  const { bytesMax, told, room } = events;
  let body = NO_BYTES;
  let received = 0;
  let refusal: Refusal | null = null;
  // After a head with a length, the native server hands over at once whatever has arrived of the
  // body. If that is not all, the connection is kept alive from then on; without a length, from now
  // on.
  let upload = Number.isNaN(told) ? keepOpen(exchange) : null;
  exchange.onClosed(() => {
    upload?.remove();
    body = NO_BYTES;
    if (refusal === null) room.give(received);
  });
  const refuse = (why: Unkept): Refusal => {
    body = NO_BYTES;
    room.give(received);
    refusal = new Refusal(exchange, events.refused(why));
    return refusal;
  };
  raw.onData((chunk, isLast) => {
    if (exchange.raw === null) return;
    const { byteLength } = chunk;
    if (refusal === null && received + byteLength > bytesMax) refuse('too-long');
    else if (refusal === null && !room.take(byteLength, received + byteLength)) refuse('no-room');
    if (!isLast) upload ??= keepOpen(exchange);
    if (refusal !== null) return refusal.took(byteLength, isLast);
    received += byteLength;
    const piece = new Uint8Array(chunk);
    // The chunk is emptied after this function, so it is copied. It may be one byte of millions.
    if (isLast && received === byteLength && byteLength <= WHOLE_BODY_BYTES_MAX) {
      body = Buffer.from(piece);
    } else {
      const growth =
        received < WHOLE_FROM_BYTES || Number.isNaN(told) ? GROWTH : { ...GROWTH, least: told };
      body = grown(body, piece, growth);
    }
    if (!isLast) return;
    upload?.remove();
    const whole = body;
    body = NO_BYTES;
    const isReadOn = exchange.isReadOn(events.staying ?? null);
    events.done(whole, isReadOn);
    if (isReadOn) exchange.arrived();
    else exchange.hold();
  });
}
