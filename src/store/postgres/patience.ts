/**
 * A wait that ends. Only time in which the process could have heard an answer counts: what came
 * while it stood still (stopped, starved of its processor, in a long calculation) is read before
 * anything is given up, since timers come before what lies in a socket.
 */

/** A timer that comes so much too late was kept from coming. */
const LATE_MS = 200;

export interface PatienceOptions {
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
