/** Rates of keys over all listeners of one supervisor, which keeps their windows. */
import { performance } from 'node:perf_hooks';
import { KeyWindows } from '../http/rate-limit.js';
import { BucketWindow, EXACT_MAX, ExactWindow, REFUSED } from '../http/rate-window.js';
import type { SharedWindows, WindowAnswer, WindowDebt, WindowQuestion } from './port.js';
import { SharedRates } from './shared-rates.js';

/** How long a start waits for the first answer before it goes on without. */
const START_MS_MAX = 1_000;

/** How long a request waits: the supervisor is on the same machine and has little else to do. */
const ANSWER_MS_MAX = 1_000;

/** What a listener knows of its supervisor. */
export interface WindowsOfAll {
  readonly windows: SharedWindows;
  readonly order: { readonly count: number };
}

/**
 * The windows that a supervisor keeps for its listeners; null where there is no supervisor. While
 * it does not answer, a listener admits its own share of each limit.
 */
export async function listenerRates(supervised: WindowsOfAll | null): Promise<SharedRates | null> {
  if (supervised === null) return null;
  const {
    windows,
    order: { count },
  } = supervised;
  const sharePercent = Math.max(1, Math.floor(100 / count));
  const rates = new SharedRates({ windows, sharePercent, answerMs: ANSWER_MS_MAX });
  await rates.started(START_MS_MAX);
  return rates;
}

/* Keeps the windows of all keys in the supervisor, so that they outlive each listener. */

export class WindowKeeper {
  readonly #now: () => number;
  readonly #windows: KeyWindows;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#windows = new KeyWindows(now());
  }

  /** Takes places in the windows of keys, in the order of the questions. */
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
