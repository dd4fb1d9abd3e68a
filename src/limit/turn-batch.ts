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
  /** Until when somebody waits; null where that has no end. */
  timer: NodeJS.Timeout | null = null;

  /** Whether somebody waits still. */
  get open(): boolean {
    return this.#open;
  }

  add(key: Rated, takes: boolean, resolve: Waiter['resolve']): void {
    let asked = this.#asked.get(key.id);
    if (asked === undefined) {
      asked = { key, count: 0, waiters: [] };
      this.#asked.set(key.id, asked);
    }
    if (takes) asked.count += 1;
    asked.waiters.push({ takes, resolve });
  }

  get questions(): readonly WindowQuestion[] {
    return [...this.#asked.values()].map(({ key: { id, rate }, count }) => ({ id, rate, count }));
  }

  /**
   * Gives the answers out: places go to those who asked first. `told` hears of each key.
   * @throws RangeError when an answer is missing.
   */
  answered(
    answers: readonly WindowAnswer[], told: (key: Rated, answer: WindowAnswer) => void,
  ): void {
    if (answers.length !== this.#asked.size) throw new RangeError('answers are missing');
    this.#close();
    let at = 0;
    for (const { key, waiters } of this.#asked.values()) {
      const answer = answers[at]!;
      at += 1;
      told(key, answer);
      let after = answer.admitted;
      for (const { takes, resolve } of waiters) {
        if (!takes) resolve(answer.left);
        else if (after === 0) resolve(REFUSED);
        else {
          after -= 1;
          resolve(answer.left + after);
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

  #close(): void {
    this.#open = false;
    if (this.timer !== null) clearTimeout(this.timer);
  }
}
