/** The rate of each key: one rolling window over all versions and families. */
import { performance } from 'node:perf_hooks';
import {
  BucketWindow, EXACT_MAX, ExactWindow, REFUSED, type RateWindow,
} from './rate-window.js';

export const LIMIT_HEADER = 'X-RateLimit-Limit';
export const REMAINING_HEADER = 'X-RateLimit-Remaining';

/** What is limited: a key with its requests a minute. */
export interface Rated {
  readonly id: string;
  readonly rate: number;
}

export interface RateGate {
  /** Admits one request of a key: how many remain in its window, or REFUSED. */
  take(key: Rated): number;
}

/** Turns the remembered requests of one kind of window into the other. */
function converted(window: RateWindow, now: number, exact: boolean): RateWindow {
  if (exact) {
    const next = new ExactWindow();
    window.each((at, count) => {
      for (let index = 0; index < count; index += 1) next.add(at);
    });
    return next;
  }
  const next = new BucketWindow(now);
  window.each((at, count) => next.add(at, count));
  return next;
}

/** Makes a gate whose windows live in memory; `now` is a clock that never goes back. */
export function createRateGate(now: () => number = () => performance.now()): RateGate {
  const windows = new Map<string, RateWindow>();
  return {
    take: ({ id, rate }) => {
      const at = now();
      const exact = rate <= EXACT_MAX;
      let window = windows.get(id);
      if (window === undefined) {
        window = exact ? new ExactWindow() : new BucketWindow(at);
        windows.set(id, window);
      } else if (window instanceof ExactWindow !== exact) {
        window = converted(window, at, exact);
        windows.set(id, window);
      }
      return window.take(at, rate);
    },
  };
}

export { REFUSED };
