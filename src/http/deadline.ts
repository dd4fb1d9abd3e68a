/**
 * Time limits of requests, with one timer for all of the same length. Nearly every request is
 * answered long before its limit, and a timer of its own would cost more than all other safeguards.
 */
import { performance } from 'node:perf_hooks';
import { Chain, type Link } from '../base/chain.js';

/** Is called when its time is up. */
export interface Waiting {
  late(): void;
}

/** An entry, with the time it began in whole milliseconds of the clock of its list. */
interface Wait {
  readonly waiting: Waiting;
  readonly since: number;
}

class Alike {
  readonly #milliseconds: number;
  /** In the order in which they began. */
  readonly #waits = new Chain<Wait>();
  readonly #from = performance.now();
  /** Never behind the timers, which may run ahead of the clock by less than a millisecond. */
  #now = 0;
  #isSet = false;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  add(waiting: Waiting): Link<Wait> {
    const since = Math.max(this.#now, Math.floor(performance.now() - this.#from));
    if (!this.#isSet) this.#set(since, this.#milliseconds);
    return this.#waits.add({ waiting, since });
  }

  /** The timer does not keep the process alive: every entry has a connection, which does. */
  #set(now: number, milliseconds: number): void {
    this.#isSet = true;
    setTimeout(() => this.#look(now + milliseconds), milliseconds).unref();
  }

  #look(at: number): void {
    const now = Math.max(at, Math.floor(performance.now() - this.#from));
    this.#now = now;
    try {
      for (let { first } = this.#waits; first !== null; first = this.#waits.first) {
        if (first.item.since + this.#milliseconds > now) break;
        first.remove();
        first.item.waiting.late();
      }
    } finally {
      this.#isSet = false;
      const { first } = this.#waits;
      if (first !== null) this.#set(now, Math.max(1, first.item.since + this.#milliseconds - now));
    }
  }
}

/** All time limits, in one list for each length. */
export class Deadlines {
  readonly #alike = new Map<number, Alike>();

  /**
   * Calls `waiting.late` after so many milliseconds, unless the link returned is removed before.
   */
  add(waiting: Waiting, milliseconds: number): Pick<Link<Wait>, 'remove'> {
    let alike = this.#alike.get(milliseconds);
    if (alike === undefined) {
      alike = new Alike(milliseconds);
      this.#alike.set(milliseconds, alike);
    }
    return alike.add(waiting);
  }
}
