/** A write that waits: for its turn, or for the word that it is durable. */
import type { Outcome } from '../batch.js';
import { StoreFault } from '../fault.js';

/**
 * A wait that ends. Only time in which the process could have heard an answer counts: what came
 * while it stood still (stopped, starved of its processor, in a long calculation) is read before
 * anything is given up, since timers come before what lies in a socket.
 */

/** A timer that comes so much too late was kept from coming. */
const LATE_MS = 200;

interface PatienceOptions {
  readonly ms: number;
  /** Called once, when the wait is over. */
  readonly out: () => void;
  /** Asked when it would be over: whether it goes on as long again, up to `longestMs` in all. */
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

  /** Nothing is waited for any more. */
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

/** Longest wait for the turn; nothing was done then. */
export const TURN_MS_MAX = 8_000;
/** Longest wait for what became of a commit whose connection was cut. */
const UNKNOWN_MS_MAX = 8_000;

export class Pending {
  readonly action: () => unknown;
  readonly promise: Promise<unknown>;
  /** Whether it waits for what became of it, however long that takes. */
  #certain: boolean;
  #resolve: (result: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #patience: Patience;
  #ended = false;

  /** @param late is called when it is refused because its turn did not come. */
  constructor(action: () => unknown, certain: boolean, late: (pending: Pending) => void) {
    this.action = action;
    this.#certain = certain;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#patience = new Patience({ ms: TURN_MS_MAX, out: () => late(this) });
  }

  /** Its turn has come: it is not refused any more because it waits. */
  begin(): void {
    this.#patience.cancel();
  }

  /** It does not wait for ever. */
  hasten(): void {
    this.#certain = false;
  }

  /** Nobody knows what became of it. */
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

/** Tells those who wait for a write what became of it. */
export function settlePending(pending: Pending, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'done') pending.done(outcome.result);
  else pending.fail(outcome.error);
}
