/**
 * Reads the rest of a refused upload and discards it. Many clients read the answer only after they
 * have sent everything, and lose it if the connection is cut before. A client that sends too much,
 * for too long or nothing for a while gets the answer then, and its connection is cut.
 */

interface DrainLimits {
  readonly bytesMax: number;
  readonly totalMs: number;
  /** Longest pause between two pieces. */
  readonly quietMs: number;
}

/**
 * Limits for clients without a valid key or over their rate. They suffice for the longest body of
 * any route except those that answer while they read.
 */
export const KEYLESS_DRAIN: DrainLimits = {
  bytesMax: 16_777_216,
  totalMs: 2_000,
  quietMs: 300,
};

/** Limits for all other clients. */
export const KEYED_DRAIN: DrainLimits = {
  bytesMax: 67_108_864,
  totalMs: 30_000,
  quietMs: 5_000,
};

/** The limits for a client whose answer has this status. */
export function drainLimits(status: number): DrainLimits {
  return status === 401 || status === 429 ? KEYLESS_DRAIN : KEYED_DRAIN;
}

/**
 * Counts discarded bytes. Calls `over` once when a limit is reached, unless `end` was called
 * before.
 */
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

  /** Notes that a piece was discarded. */
  took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#ended) return;
    clearTimeout(this.#timer);
    if (this.#bytes > this.#limits.bytesMax || performance.now() >= this.#until) this.#enough();
    else this.#timer = this.#soon();
  }

  /** To be called when the upload is complete or its client has left. */
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
