/** What was asked in one turn of the event loop: one question a key, and who waits for each. */
import { REFUSED, type Rated } from '../http/rate-limit.js';
import type { WindowAnswer, WindowQuestion } from './port.js';

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
    answers: readonly WindowAnswer[], told: (key: Rated, answer: WindowAnswer) => number,
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
