/**
 * How much of all that arrives is worked on in one turn of the event loop. The system hands over
 * up to 2 MiB of a connection at once; all of that read in one turn would keep every other request
 * waiting.
 */

/** What is over is worked on in later turns, one after the other. */
export const TURN_BYTES_MAX = 65_536;

/** Something with bytes to work on. */
export interface Waiter {
  /** Works on at most so many bytes, tells how many, and waits again where there are more. */
  turn(bytesMax: number): number;
}

export class Turns {
  #left = TURN_BYTES_MAX;
  #isSet = false;
  readonly #waiting = new Set<Waiter>();

  /** Whether bytes may be worked on at once; they are counted then. */
  take(bytes: number): boolean {
    this.#set();
    if (this.#waiting.size > 0 || bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /** Calls it when it is its turn, behind those that wait already. */
  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#set();
  }

  /** Calls it no more. */
  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  #set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#left = TURN_BYTES_MAX;
    this.#isSet = false;
    // Those that wait once more come behind the others.
    for (let count = this.#waiting.size; count > 0 && this.#left > 0; count -= 1) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      this.#waiting.delete(first);
      this.#left -= first.turn(this.#left);
    }
    if (this.#waiting.size > 0) this.#set();
  }
}

/** All connections of this process. */
const TURNS = new Turns();

/** Bytes of one connection on their way to who works on them, so many a turn. */
export class PacedBytes implements Waiter {
  readonly #deliver: (bytes: Uint8Array, isLast: boolean) => void;
  readonly #emptied: () => void;
  readonly #turns: Turns;
  #held: Uint8Array[] = [];
  /** Bytes of the first one that were delivered. */
  #at = 0;
  #isLast = false;
  #resting = false;

  /** `emptied` is called when nothing is held any more that was. */
  constructor(
    deliver: (bytes: Uint8Array, isLast: boolean) => void,
    emptied: () => void,
    turns = TURNS,
  ) {
    this.#deliver = deliver;
    this.#emptied = emptied;
    this.#turns = turns;
  }

  /** Whether bytes wait for their turn. */
  get holds(): boolean {
    return this.#held.length > 0;
  }

  /**
   * Delivers a piece at once where a turn has room for it, and holds it otherwise. What is held is
   * a copy where `shared` memory is written again.
   */
  push(piece: Uint8Array, isLast: boolean, shared: boolean): void {
    if (!this.holds && !this.#resting && this.#turns.take(piece.length)) {
      this.#deliver(piece, isLast);
      return;
    }
    this.#isLast = isLast;
    this.#held.push(shared ? Buffer.from(piece) : piece);
    if (!this.#resting) this.#turns.wait(this);
  }

  /** Delivers nothing until `go`. */
  rest(): void {
    this.#resting = true;
    this.#turns.leave(this);
  }

  go(): void {
    this.#resting = false;
    if (this.holds) this.#turns.wait(this);
  }

  /** Drops what is held; how many bytes that were. */
  clear(): number {
    const bytes = this.#held.reduce((sum, { length }) => sum + length, 0) - this.#at;
    this.#held = [];
    this.#at = 0;
    this.#turns.leave(this);
    return bytes;
  }

  turn(bytesMax: number): number {
    const [first] = this.#held;
    if (first === undefined) return 0;
    const part = first.subarray(this.#at, this.#at + bytesMax);
    this.#at += part.length;
    if (this.#at === first.length) {
      this.#held.shift();
      this.#at = 0;
    }
    this.#deliver(part, this.#isLast && !this.holds);
    if (!this.holds) this.#emptied();
    else if (!this.#resting) this.#turns.wait(this);
    return part.length;
  }
}
