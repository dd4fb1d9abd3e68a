/** A write that waits: for its turn, or for the word that it is durable. */
import { StoreFault } from '../fault.js';

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
  #timer: NodeJS.Timeout;
  #ended = false;

  /** @param late is called when it is refused because its turn did not come. */
  constructor(action: () => unknown, certain: boolean, late: (pending: Pending) => void) {
    this.action = action;
    this.#certain = certain;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => late(this), TURN_MS_MAX);
  }

  /** Its turn has come: it is not refused any more because it waits. */
  begin(): void {
    clearTimeout(this.#timer);
  }

  /** It does not wait for ever. */
  hasten(): void {
    this.#certain = false;
  }

  /** Nobody knows what became of it. */
  doubt(): void {
    if (this.#certain || this.#ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.fail(new StoreFault('unknown')), UNKNOWN_MS_MAX);
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
    clearTimeout(this.#timer);
  }
}
