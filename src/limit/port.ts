/**
 * Windows that several processes ask: the questions and answers, whoever keeps the windows.
 * `SharedRates` asks once in a turn of the event loop, once about each key, and deals with time
 * limits, failures and the share of a process that gets no answer. The keeper of the windows only
 * counts.
 */
import { type Rated, REFUSED } from '../http/rate-limit.js';

/** Asks for a number of places in the rolling minute of one key. */
export interface WindowQuestion {
  readonly id: string;
  /** Requests a minute. */
  readonly rate: number;
  /** How many places; zero asks only how many are left. */
  readonly count: number;
  /** Absent where no places are held ahead or wanted. */
  readonly ahead?: AheadQuestion;
}

/** The part about places held ahead, for requests of the next fraction of a second. */
interface AheadQuestion {
  /** How many held places were used since the last report. */
  readonly used: number;
  /** How many held places are kept; the others are given back. */
  readonly keep: number;
  /** How many are wanted, including the kept ones. */
  readonly want: number;
}

export interface WindowAnswer {
  /** How many of the places asked for were granted; they go to the first requests. */
  readonly admitted: number;
  /** How many places are left besides those and the held ones. */
  readonly left: number;
  /** How many places are held now. Absent where the keeper of the windows does not support this. */
  readonly held?: number;
}

/** All processes together hold at most one in this many of a rate. */
export const HELD_OF_RATE = 32;
/** One process is given at most one in this many of the places that are left. */
export const HELD_OF_LEFT = 8;

/** Requests that a process admitted by itself and has to report. */
export interface WindowDebt {
  readonly id: string;
  /**
   * Numbers of requests and their ages in milliseconds, which may be too low but never too high.
   */
  readonly admitted: readonly (readonly [ageMs: number, count: number])[];
}

/**
 * The windows were lost (a restart without their memory). Nothing was admitted, and the process
 * that asked reports what it admitted in the last minute before it asks again.
 */
export class WindowsLost extends Error {
  /** The name of the new windows, which differs from that of the lost ones. */
  readonly memory: string;

  constructor(memory: string) {
    super('the windows were lost');
    this.memory = memory;
  }
}

/** Calls are carried out in the order in which they are made. */
export interface SharedWindows {
  /**
   * Returns one answer for each question; `holder` names the process that holds places ahead. There
   * is no time limit, since the caller has its own.
   * @throws WindowsLost, or another error when there is no answer; both as a rejection.
   */
  ask(questions: readonly WindowQuestion[], holder?: string): Promise<readonly WindowAnswer[]>;
  /** Counts requests that were admitted elsewhere, even above the rate of their key. */
  settle(debts: readonly WindowDebt[]): Promise<void>;
  close(): Promise<void>;
}

// The questions of one turn of the event loop.

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

  /** Whether any request still waits. */
  get open(): boolean {
    return this.#open;
  }

  /**
   * Calls `late` after so many milliseconds, unless the batch is answered or a shorter time was
   * set.
   */
  wait(milliseconds: number, late: () => void): void {
    if (milliseconds >= this.#waits) return;
    this.#waits = milliseconds;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(late, milliseconds);
  }

  /** Adds a question about a key for a request that waits. */
  add(key: Rated, takes: boolean, resolve: Waiter['resolve']): void {
    const asked = this.#of(key);
    if (takes) asked.count += 1;
    asked.waiters.push({ takes, resolve });
  }

  /** Adds a question about a key for which no request waits. */
  include(key: Rated): void {
    this.#of(key);
  }

  /** Makes the questions, each of a key and the number of places that are waited for. */
  questions(make: (key: Rated, count: number) => WindowQuestion): readonly WindowQuestion[] {
    return Array.from(this.#asked.values(), ({ key, count }) => make(key, count));
  }

  /**
   * Distributes the answers; places go to those that asked first. `told` is called for each key,
   * and returns how many requests remain of its rate.
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

  /** Decides about each request here, because there was no answer. */
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
