/**
 * The end of a turn of the event loop: what was gathered in it is worked on there together, so that
 * the code and memory of each step are at hand for all of it, and a call to others is made once.
 */

type Task = () => void;

/** Turns are counted up to here, and then anew: a small integer of V8. */
const COUNTED_MAX = 1_000_000_000;

export class TurnEnd {
  #first: Task[] = [];
  #last: Task[] = [];
  #isSet = false;
  #ended = 0;

  /**
   * How many turns had something to do at their end so far, the one that ends included: another
   * count than before says that the code which runs has been called from elsewhere since.
   */
  get ended(): number {
    return this.#ended;
  }

  /** Calls once, at the end of this turn; what it hands to `last` is called in this turn too. */
  first(task: Task): void {
    this.#first.push(task);
    this.#set();
  }

  /** Calls once, behind all that is called first; what says so there is called in the next turn. */
  last(task: Task): void {
    this.#last.push(task);
    this.#set();
  }

  #set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    this.#ended = (this.#ended + 1) % COUNTED_MAX;
    const first = this.#first;
    this.#first = [];
    try {
      for (const task of first) task();
    } finally {
      const last = this.#last;
      this.#last = [];
      this.#isSet = false;
      // What a task of the first ones has put off to the next turn.
      if (this.#first.length > 0) this.#set();
      for (const task of last) task();
    }
  };
}

/** That of this thread. */
export const TURN_END = new TurnEnd();
