/**
 * The memory that bodies of requests may take together. A body counts from its first byte until its
 * request was answered or its client has gone, since what is relayed is held that long.
 */

/** Bodies of all connections together, unless the operator says otherwise. */
export const BODIES_BYTES_MAX = 268_435_456;

/** Bodies up to this length find room where longer ones do not any more. */
export const SHORT_BODY_BYTES_MAX = 65_536;

/** The part of the room that is kept for short bodies. */
const SHORT_SHARE = 1 / 8;

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
