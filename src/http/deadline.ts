/**
 * Longest times of many that wait alike, by one timer for all of a length: nearly every request is
 * answered long before, and a timer of its own costs it more than anything else that guards it.
 */
import { performance } from 'node:perf_hooks';

/** Told that its time is up. */
export interface Waiting {
  late(): void;
}

class Alike {
  readonly #milliseconds: number;
  /** In the order in which they began to wait; with whole milliseconds since `#from`. */
  readonly #waiting = new Map<Waiting, number>();
  readonly #from = performance.now();
  /** Never behind the timers, which may be ahead of the clock by less than a millisecond. */
  #now = 0;
  #isSet = false;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  add(waiting: Waiting): void {
    const now = Math.max(this.#now, Math.floor(performance.now() - this.#from));
    this.#waiting.set(waiting, now);
    if (!this.#isSet) this.#set(now, this.#milliseconds);
  }

  remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  /** Nothing of it keeps the process alive: what waits has a connection, which does. */
  #set(now: number, milliseconds: number): void {
    this.#isSet = true;
    setTimeout(() => this.#look(now + milliseconds), milliseconds).unref();
  }

  #look(at: number): void {
    const now = Math.max(at, Math.floor(performance.now() - this.#from));
    this.#now = now;
    try {
      for (const [waiting, since] of this.#waiting) {
        if (since + this.#milliseconds > now) break;
        this.#waiting.delete(waiting);
        waiting.late();
      }
    } finally {
      this.#isSet = false;
      const [first] = this.#waiting.values();
      if (first !== undefined) this.#set(now, Math.max(1, first + this.#milliseconds - now));
    }
  }
}

/** All that wait, by how long they may. */
export class Deadlines {
  readonly #alike = new Map<number, Alike>();

  /** Tells `waiting` after so many milliseconds, unless it is removed from what this returns. */
  add(waiting: Waiting, milliseconds: number): Pick<Alike, 'remove'> {
    let alike = this.#alike.get(milliseconds);
    if (alike === undefined) {
      alike = new Alike(milliseconds);
      this.#alike.set(milliseconds, alike);
    }
    alike.add(waiting);
    return alike;
  }
}
