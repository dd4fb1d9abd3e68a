/** Collects a request body within limits and the room for all, or drops one that was refused. */
import { Buffer } from 'node:buffer';
import { grown, type Growth, NO_BYTES } from '../base/growing-bytes.js';
import { REQUEST_HEAD_BYTES } from '../pool/frame.js';
import { Drain, drainLimits } from './drain.js';
import type { Exchange } from './exchange.js';
import { keepOpen } from './idle-timer.js';
import type { Reply } from './reply.js';
import type { Staying } from './staying.js';

/** Bodies of all connections together, unless the operator says otherwise. */
export const BODIES_BYTES_MAX = 268_435_456;

/** Bodies up to this length find room where longer ones do not any more. */
export const SHORT_BODY_BYTES_MAX = 65_536;

/** The part of the room that is kept for short bodies. */
const SHORT_SHARE = 1 / 8;

/**
 * The memory that bodies of requests may take together. A body counts from its first byte until its
 * request was answered or its client has gone, since what is relayed is held that long.
 */
export class BodyRoom {
  readonly #bytesMax: number;
  readonly #longBytesMax: number;
  #used = 0;

  constructor(bytesMax: number = BODIES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
    this.#longBytesMax = Math.floor(bytesMax * (1 - SHORT_SHARE));
  }

  /** Bytes that are held. */
  get used(): number {
    return this.#used;
  }

  /** Makes room for more bytes of a body that has `length` with them; false when there is none. */
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

/** The longest body that the compliance provider is sent, but for carts. */
export const BODY_BYTES_MAX = 1_048_576;

/** What a client goes on sending after a duplex answer ended is read up to here. */
export const DRAIN_BYTES_MAX = 67_108_864;

/** Memory of a body in pieces against what was received of it. */
const BODY_GROWTH = 1.25;
/** A worker takes a body where it lies. */
const GROWTH: Growth = { factor: BODY_GROWTH, before: REQUEST_HEAD_BYTES };
/**
 * When so much has come, memory is taken for all that was told, so that nothing is copied twice.
 * The system gives what was not written yet to others.
 */
const WHOLE_FROM_BYTES = 262_144;

/**
 * A body that comes at once and is no longer lies with others in memory of Node.js; that costs less
 * than memory of its own. None so short is moved to a worker where it lies (`requestBytes`).
 */
const WHOLE_BODY_BYTES_MAX = 4_096;

/** Why a body was not kept. */
export type Unkept = 'too-long' | 'no-room';

/** What becomes of a body. One of the two is called, once, unless the client goes away. */
interface BodyEvents {
  readonly bytesMax: number;
  /** The length that its head tells; not above `bytesMax`, and no number without one. */
  readonly told: number;
  readonly room: BodyRoom;
  /** Given where the connection may be read on behind the body. */
  readonly staying?: Staying | null;
  /** The whole body; whether the connection is read on, so that it need not be taken at once. */
  done(body: Uint8Array, isReadOn: boolean): void;
  /** Told as soon as it is known; nothing is held of the body any more. Gives the answer. */
  refused(why: Unkept): Reply;
}

/** Gives an answer when the client has sent everything, or enough of it: then it is cut. */
class Refusal {
  readonly #exchange: Exchange;
  readonly #reply: Reply;
  readonly #drain: Drain;

  constructor(exchange: Exchange, reply: Reply) {
    this.#exchange = exchange;
    this.#reply = reply;
    // The drain has a bound of its own, after which this answer is given and no other.
    exchange.endDeadline();
    this.#drain = new Drain(drainLimits(reply.status), () => exchange.sendLast(reply));
    exchange.onClosed(() => this.#drain.end());
  }

  /** A piece was dropped. */
  took(bytes: number, isLast: boolean): void {
    if (isLast) this.#exchange.send(this.#reply);
    else this.#drain.took(bytes);
  }
}

/** Answers without keeping a byte of the body; must be called while the native handler runs. */
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

/** Reads the body of an exchange; must be called while the native handler runs. */
export function readBody(exchange: Exchange, events: BodyEvents): void {
  const { raw } = exchange;
  if (raw === null) return;
  const { bytesMax, told, room } = events;
  let body = NO_BYTES;
  let received = 0;
  let refusal: Refusal | null = null;
  // The native server gives the first bytes right behind a head that tells a length, none if none
  // are there: such an upload is kept alive from then on, unless that was all of it.
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
    // The chunk is emptied when this returns, hence the copy; and may be one byte of millions.
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
