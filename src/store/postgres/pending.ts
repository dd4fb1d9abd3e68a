/** A write that waits: for its turn, or for the word that it is durable. */
import { StoreFault } from '../fault.js';
import { Patience } from './patience.js';

/** Longest wait for the turn; nothing was done then. */
export const TURN_MS_MAX = 8_000;
/** Longest wait for what became of a commit whose connection was cut. */
export const UNKNOWN_MS_MAX = 8_000;

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
      ms: UNKNOWN_MS_MAX, out: () => this.fail(new StoreFault('unknown')),
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
