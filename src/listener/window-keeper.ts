/** The windows of all keys over all listeners, in the supervisor: they outlive each of these. */
import { performance } from 'node:perf_hooks';
import { KeyWindows } from '../http/rate-limit.js';
import { BucketWindow, EXACT_MAX, ExactWindow, REFUSED } from '../http/rate-window.js';
import type { WindowAnswer, WindowDebt, WindowQuestion } from '../limit/port.js';

export class WindowKeeper {
  readonly #now: () => number;
  readonly #windows: KeyWindows;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#windows = new KeyWindows(now());
  }

  /** Takes places in the windows of keys, in order. */
  ask(questions: readonly WindowQuestion[]): readonly WindowAnswer[] {
    const now = this.#now();
    return questions.map(({ id, rate, count }) => {
      const window = this.#windows.of({ id, rate }, now);
      let admitted = 0;
      while (admitted < count && window.take(now, rate) !== REFUSED) admitted += 1;
      return { admitted, left: window.remaining(now, rate) };
    });
  }

  /** Counts what listeners admitted by themselves. */
  settle(debts: readonly WindowDebt[]): void {
    const now = this.#now();
    for (const { id, admitted } of debts) {
      const window = this.#windows.find(id) ?? this.#windows.of({ id, rate: EXACT_MAX }, now);
      for (const [ageMs, count] of admitted) {
        if (window instanceof BucketWindow) window.add(now - ageMs, count);
        else if (window instanceof ExactWindow) {
          for (let one = 0; one < count; one += 1) window.add(now - ageMs);
        }
      }
    }
  }
}
