/**
 * The rest of a refused upload is read and dropped, since many clients read the answer only when
 * they have sent everything, and lose it when the connection is cut before. That is done for a
 * while only: whoever sends more, longer or nothing gets the answer then and is cut.
 */

interface DrainLimits {
  readonly bytesMax: number;
  readonly totalMs: number;
  /** Longest pause between two pieces. */
  readonly quietMs: number;
}

/**
 * Of clients without a usable key or over their rate: enough for the longest body of any route but
 * those that answer while they read.
 */
export const KEYLESS_DRAIN: DrainLimits = {
  bytesMax: 16_777_216,
  totalMs: 2_000,
  quietMs: 300,
};

/** Of all others. */
export const KEYED_DRAIN: DrainLimits = {
  bytesMax: 67_108_864,
  totalMs: 30_000,
  quietMs: 5_000,
};

/** The limits for the client that gets an answer of this status. */
export function drainLimits(status: number): DrainLimits {
  return status === 401 || status === 429 ? KEYLESS_DRAIN : KEYED_DRAIN;
}

/** Counts what is dropped; calls `over` once when it is enough, unless ended before. */
export class Drain {
  readonly #limits: DrainLimits;
  readonly #over: () => void;
  readonly #until: number;
  #timer: NodeJS.Timeout;
  #bytes = 0;
  #ended = false;

  constructor(limits: DrainLimits, over: () => void) {
    this.#limits = limits;
    this.#over = over;
    this.#until = performance.now() + limits.totalMs;
    this.#timer = this.#soon();
  }

  /** A piece was dropped. */
  took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#ended) return;
    clearTimeout(this.#timer);
    if (this.#bytes > this.#limits.bytesMax || performance.now() >= this.#until) this.#enough();
    else this.#timer = this.#soon();
  }

  /** The upload is complete, or its client has gone. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #soon(): NodeJS.Timeout {
    return setTimeout(() => this.#enough(), this.#limits.quietMs);
  }

  #enough(): void {
    if (this.#ended) return;
    this.end();
    this.#over();
  }
}
