/**
 * Windows that several processes ask: what is asked and answered, whoever keeps them. `SharedRates`
 * asks once a turn of the event loop, about each key once, and minds time limits, failures and the
 * share of a process that gets no answer; who keeps the windows does nothing but count.
 */
import { type Rated, REFUSED } from '../http/rate-limit.js';

/** About one key: how many places are asked for in its rolling minute. */
export interface WindowQuestion {
  readonly id: string;
  /** Requests a minute. */
  readonly rate: number;
  /** Zero only looks. */
  readonly count: number;
  /** Where none are held nor wanted, nothing. */
  readonly ahead?: AheadQuestion;
}

/** Of the places that are held ahead: for requests of the next fraction of a second. */
interface AheadQuestion {
  /** Used since that was told last. */
  readonly used: number;
  /** Kept; the others are given back. */
  readonly keep: number;
  /** Wanted, with what is kept. */
  readonly want: number;
}

export interface WindowAnswer {
  /** How many of the places asked for are had: the first ones. */
  readonly admitted: number;
  /** Places that are left after them and after what is held. */
  readonly left: number;
  /** Places held ahead now; whoever keeps the windows need not know how, and says nothing. */
  readonly held?: number;
}

/** Of a rate, all processes together hold this part ahead at most: one of so many. */
export const HELD_OF_RATE = 32;
/** Of what is left, one process is given this part at a time: one of so many. */
export const HELD_OF_LEFT = 8;

/** What a process admitted by itself and has to tell. */
export interface WindowDebt {
  readonly id: string;
  /** Requests and how many milliseconds ago they were; never older than they are. */
  readonly admitted: readonly (readonly [ageMs: number, count: number])[];
}

/**
 * The windows were lost (a restart without their memory): nothing was admitted, and whoever asked
 * tells what it has admitted within the last minute before it asks again.
 */
export class WindowsLost extends Error {
  /** A name of the windows that there are now, other than the one of those before. */
  readonly memory: string;

  constructor(memory: string) {
    super('the windows were lost');
    this.memory = memory;
  }
}

/** Calls are carried out in the order in which they are made. */
export interface SharedWindows {
  /**
   * One answer for each question; `holder` is a name of the process, for what is held ahead. It may
   * take as long as it likes: whoever asks does not wait.
   * @throws WindowsLost, or any other error when there is no answer; both as a rejection.
   */
  ask(questions: readonly WindowQuestion[], holder?: string): Promise<readonly WindowAnswer[]>;
  /** Counts what was admitted, whatever the rate of its key. */
  settle(debts: readonly WindowDebt[]): Promise<void>;
  close(): Promise<void>;
}

// What was asked in one turn of the event loop.

interface Waiter {
  readonly takes: boolean;
  readonly resolve: (remaining: number) => void;
}

interface Asked {
  readonly key: Rated;
  count: number;
  readonly waiters: Waiter[];
}

export class TurnBatch {
  readonly #asked = new Map<string, Asked>();
  #open = true;
  #timer: NodeJS.Timeout | null = null;
  #waits = Number.POSITIVE_INFINITY;

  /** Whether somebody waits still. */
  get open(): boolean {
    return this.#open;
  }

  /** Calls `late` after so many milliseconds, unless it is closed or called before. */
  wait(milliseconds: number, late: () => void): void {
    if (milliseconds >= this.#waits) return;
    this.#waits = milliseconds;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(late, milliseconds);
  }

  /** A question about a key, which somebody waits for. */
  add(key: Rated, takes: boolean, resolve: Waiter['resolve']): void {
    const asked = this.#of(key);
    if (takes) asked.count += 1;
    asked.waiters.push({ takes, resolve });
  }

  /** A question about a key, which nobody waits for. */
  include(key: Rated): void {
    this.#of(key);
  }

  /** The questions, made of each key and how many places are waited for. */
  questions(make: (key: Rated, count: number) => WindowQuestion): readonly WindowQuestion[] {
    return Array.from(this.#asked.values(), ({ key, count }) => make(key, count));
  }

  /**
   * Gives the answers out: places go to those who asked first. `told` hears of each key, and tells
   * what remains of its rate.
   * @throws RangeError when an answer is missing.
   */
  answered(
    answers: readonly WindowAnswer[],
    told: (key: Rated, answer: WindowAnswer) => number,
  ): void {
    if (answers.length !== this.#asked.size) throw new RangeError('answers are missing');
    this.#close();
    let at = 0;
    for (const { key, waiters } of this.#asked.values()) {
      const answer = answers[at]!;
      at += 1;
      const left = told(key, answer);
      let after = answer.admitted;
      for (const { takes, resolve } of waiters) {
        if (!takes) resolve(left);
        else if (after === 0) resolve(REFUSED);
        else {
          after -= 1;
          resolve(left + after);
        }
      }
    }
  }

  /** Nobody answered: each is decided about here. */
  decide(take: (key: Rated) => number, remaining: (key: Rated) => number): void {
    this.#close();
    for (const { key, waiters } of this.#asked.values()) {
      for (const { takes, resolve } of waiters) resolve(takes ? take(key) : remaining(key));
    }
  }

  #of(key: Rated): Asked {
    let asked = this.#asked.get(key.id);
    if (asked === undefined) {
      asked = { key, count: 0, waiters: [] };
      this.#asked.set(key.id, asked);
    }
    return asked;
  }

  #close(): void {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
