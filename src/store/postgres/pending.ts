/** A write that waits for its turn, or for the confirmation that it is durable. */
import type { Outcome } from '../batch.js';
import { StoreFault } from '../fault.js';

/**
 * A timeout that counts only time in which the process could receive an answer. After a standstill
 * (process stopped, no processor, long calculation) timers run before sockets are read, so what has
 * arrived is read first, before anything is given up.
 */

/** A timer that is late by this much was delayed by a standstill. */
const LATE_MS = 200;

interface PatienceOptions {
  readonly ms: number;
  /** Called once, when time is up. */
  readonly out: () => void;
  /**
   * Asked when time would be up. True continues for the same time again, up to `longestMs` in all.
   */
  readonly goesOn?: (() => boolean) | undefined;
  readonly longestMs?: number;
}

export class Patience {
  readonly #options: PatienceOptions;
  readonly #from = performance.now();
  #timer: NodeJS.Timeout;

  constructor(options: PatienceOptions) {
    this.#options = options;
    this.#timer = this.#wait(options.ms, true);
  }

  /** Stops waiting. */
  cancel(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number, heedsLate: boolean): NodeJS.Timeout {
    const due = performance.now() + ms;
    return setTimeout(() => {
      const late = performance.now() - due;
      if (heedsLate && late > LATE_MS) this.#timer = this.#wait(Math.min(late, ms), false);
      else this.#over();
    }, ms);
  }

  #over(): void {
    const { ms, out, goesOn, longestMs = ms } = this.#options;
    const more = performance.now() - this.#from < longestMs && goesOn?.() === true;
    if (more) this.#timer = this.#wait(ms, true);
    else out();
  }
}

/** Longest wait for its turn; after that nothing was done. */
export const TURN_MS_MAX = 8_000;
/** Longest wait for the outcome of a commit whose connection was lost. */
const UNKNOWN_MS_MAX = 8_000;

export class Pending {
  readonly action: () => unknown;
  readonly promise: Promise<unknown>;
  /** Whether it waits for its outcome without a limit. */
  #certain: boolean;
  #resolve: (result: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #patience: Patience;
  #ended = false;

  /** @param late is called when the write is refused because its turn did not come in time */
  constructor(action: () => unknown, certain: boolean, late: (pending: Pending) => void) {
    this.action = action;
    this.#certain = certain;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#patience = new Patience({ ms: TURN_MS_MAX, out: () => late(this) });
  }

  /** Called when its turn comes; it is no longer refused for waiting. */
  begin(): void {
    this.#patience.cancel();
  }

  /** Sets a limit to the wait for its outcome. */
  hasten(): void {
    this.#certain = false;
  }

  /** Called when its outcome is unknown. */
  doubt(): void {
    if (this.#certain || this.#ended) return;
    this.#patience.cancel();
    this.#patience = new Patience({
      ms: UNKNOWN_MS_MAX,
      out: () => this.fail(new StoreFault('unknown')),
    });
  }

  done(result: unknown): void {
    this.#end();
    this.#resolve(result);
  }

  fail(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#ended = true;
    this.#patience.cancel();
  }
}

/** Passes the outcome of a write on to those who wait for it. */
export function settlePending(pending: Pending, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'done') pending.done(outcome.result);
  else pending.fail(outcome.error);
}
