/**
 * The rate of each key: one rolling window over all versions and operations. A window takes at most
 * 1 MiB (see rate-window.ts), and one that stood empty for a minute or two is dropped, so that
 * memory follows the keys in use.
 */
import { performance } from 'node:perf_hooks';
import {
  BucketWindow, EXACT_MAX, ExactWindow, REFUSED, WINDOW_MS, type RateWindow,
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
  /** How many requests a key has left, without taking one. */
  remaining(key: Rated): number;
}

/** Turns the remembered requests of one kind of window into the other. */
function converted(window: RateWindow, now: number, exact: boolean): RateWindow {
  if (exact) {
    const next = new ExactWindow();
    let total = 0;
    window.each((_at, count) => {
      total += count;
    });
    // Older ones than these can never decide, and there may be millions.
    let skipped = Math.max(0, total - EXACT_MAX);
    window.each((at, count) => {
      const kept = Math.max(0, count - skipped);
      skipped -= count - kept;
      for (let index = 0; index < kept; index += 1) next.add(at);
    });
    return next;
  }
  const next = new BucketWindow(now);
  window.each((at, count) => next.add(at, count));
  return next;
}

/** Drops the windows that hold nothing. */
function sweep(windows: Map<string, RateWindow>, now: number): void {
  for (const [id, window] of windows) {
    if (window.remaining(now, 1) === 1) windows.delete(id);
  }
}

/** Makes a gate whose windows live in memory; `now` is a clock that never goes back. */
export function createRateGate(now: () => number = () => performance.now()): RateGate {
  const windows = new Map<string, RateWindow>();
  let sweptAt = now();
  return {
    take: ({ id, rate }) => {
      const at = now();
      if (at - sweptAt >= WINDOW_MS) {
        sweptAt = at;
        sweep(windows, at);
      }
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
    remaining: ({ id, rate }) => windows.get(id)?.remaining(now(), rate) ?? rate,
  };
}

export { REFUSED };
