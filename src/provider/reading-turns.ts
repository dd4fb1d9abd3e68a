/**
 * How much of all answers is read in one turn of the event loop. The system hands over up to 2 MiB
 * of each connection at once; all of that checked in one turn would keep every other request
 * waiting.
 */

/** What is over is read in later turns, one connection after the other. */
export const TURN_BYTES_MAX = 65_536;

export class ReadingTurns {
  #bytes = 0;
  #isSet = false;
  readonly #waiting: (() => void)[] = [];

  /**
   * Counts a piece that was read. False when its connection is to be paused; `resume` is called
   * then when it is its turn again.
   */
  took(bytes: number, resume: () => void): boolean {
    this.#bytes += bytes;
    this.#set();
    if (this.#bytes < TURN_BYTES_MAX) return true;
    this.#waiting.push(resume);
    return false;
  }

  #set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#bytes = 0;
    this.#isSet = false;
    // Those that wait once more come behind the others.
    while (this.#bytes < TURN_BYTES_MAX) {
      const resume = this.#waiting.shift();
      if (resume === undefined) return;
      resume();
    }
    if (this.#waiting.length > 0) this.#set();
  }
}

/** All connections of this process. */
export const READING_TURNS = new ReadingTurns();
