/**
 * Runs tasks together at the end of a turn of the event loop. The processor then keeps the code and
 * memory of each step in its cache, and calls to other threads or services are made once a turn.
 */

type Task = () => void;

/** The count of turns starts again here, so that it stays a small integer of V8. */
const COUNTED_MAX = 1_000_000_000;

export class TurnEnd {
  #first: Task[] = [];
  #last: Task[] = [];
  #isSet = false;
  #ended = 0;

  /**
   * How many turns with tasks have ended so far, including one that is ending. Code that finds
   * another count than before knows that it runs in a later turn.
   */
  get ended(): number {
    return this.#ended;
  }

  /** Runs a task at the end of this turn. What it passes to `last` still runs in this turn. */
  first(task: Task): void {
    this.#first.push(task);
    this.#set();
  }

  /**
   * Runs a task after all `first` ones of this turn. What it passes to either runs in the next
   * turn.
   */
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
      // A first task may have put off another one to the next turn.
      if (this.#first.length > 0) this.#set();
      for (const task of last) task();
    }
  };
}

/** The end of turns of this thread. */
export const TURN_END = new TurnEnd();
