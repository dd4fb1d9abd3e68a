/**
 * Limits how many of the arriving bytes are processed in one turn of the event loop. The system
 * hands over up to 2 MiB of a connection at once; read in one turn, they would keep every other
 * request waiting.
 */

/** Bytes beyond this are processed in later turns, one connection after the other. */
export const TURN_BYTES_MAX = 65_536;

/** A connection with bytes to process. */
export interface Waiter {
  /**
   * Processes at most `bytesMax` bytes and returns how many. It waits again where more are left.
   */
  turn(bytesMax: number): number;
}

export class Turns {
  #left = TURN_BYTES_MAX;
  #isSet = false;
  readonly #waiting = new Set<Waiter>();

  /** Whether bytes may be processed at once; if so, they count towards this turn. */
  take(bytes: number): boolean {
    this.#set();
    if (this.#waiting.size > 0 || bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /** Gives `waiter` a turn, after those that wait already. */
  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#set();
  }

  /** Takes `waiter` off the list. */
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
    // Waiters that wait again go to the end of the list.
    for (let count = this.#waiting.size; count > 0 && this.#left > 0; count -= 1) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      this.#waiting.delete(first);
      this.#left -= first.turn(this.#left);
    }
    if (this.#waiting.size > 0) this.#set();
  }
}

/** The turns that all connections of this process share. */
const TURNS = new Turns();

/** Delivers the bytes of one connection to their reader, a limited number each turn. */
export class PacedBytes implements Waiter {
  readonly #deliver: (bytes: Uint8Array, isLast: boolean) => void;
  readonly #emptied: () => void;
  readonly #turns: Turns;
  #held: Uint8Array[] = [];
  /** How many bytes of the first piece were delivered. */
  #at = 0;
  #isLast = false;
  #resting = false;

  /** `emptied` is called when the last of the waiting bytes was delivered. */
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
   * Delivers a piece at once if this turn has room for it, and lets it wait otherwise. A waiting
   * piece is copied where its memory is `shared`, since that is overwritten.
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

  /** Delivers nothing until `go` is called. */
  rest(): void {
    this.#resting = true;
    this.#turns.leave(this);
  }

  go(): void {
    this.#resting = false;
    if (this.holds) this.#turns.wait(this);
  }

  /** Drops the waiting bytes and returns how many there were. */
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
