/**
 * The rate of each key: one rolling window over all versions and operations. A window takes at most
 * 1 MiB (see rate-window.ts), and one that stood empty for a minute or two is dropped, so that
 * memory follows the keys in use.
 */
import { performance } from 'node:perf_hooks';
import { KEY_SLOTS } from '../store/format.js';
import {
  BucketWindow,
  EXACT_MAX,
  ExactWindow,
  REFUSED,
  WINDOW_MS,
  type RateWindow,
} from './rate-window.js';
import { type Fields, type Head, headOf, JSON_TYPE } from './reply.js';

export const LIMIT_HEADER = 'X-RateLimit-Limit';
export const REMAINING_HEADER = 'X-RateLimit-Remaining';

/** What is limited: a key with its requests a minute. */
export interface Rated {
  readonly id: string;
  readonly rate: number;
  /** A hint where to look for its window first; keys without one share the first place. */
  readonly slot?: number;
}

export interface RateGate {
  /** Admits one request of a key: how many remain in its window, or REFUSED. */
  take(key: Rated): number;
  /** How many requests a key has left, without taking one. */
  remaining(key: Rated): number;
  /**
   * Where windows are shared with other processes: takes a place in one, or only looks, and says
   * what `take` and `remaining` would, at once where it can. Never rejects; null where those are to
   * be asked instead.
   */
  ask?(key: Rated, takes: boolean): Promise<number> | number | null;
}

/** The two fields of every answer to a key; zeros where there is none. */
export function rateFields(limit: number, remaining: number): Fields {
  return { [LIMIT_HEADER]: limit, [REMAINING_HEADER]: remaining };
}

/** The rate of the last head, and what it begins with: most answers are to keys of one rate. */
const lastHead = { rate: Number.NaN, start: '' };

/** What `headOf` makes of the rate fields of a JSON answer, without looking at them anew. */
export function ratedHead(rate: number, remaining: number): Head {
  if (lastHead.rate !== rate) {
    lastHead.rate = rate;
    lastHead.start = `${headOf(JSON_TYPE, { [LIMIT_HEADER]: rate })}\r\n${REMAINING_HEADER}: `;
  }
  return `${lastHead.start}${remaining}` as Head;
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

/** A window, and the key that it was last asked for with: it is of the kind for its rate. */
interface Held {
  key: Rated;
  window: RateWindow;
}

const NONE: Held = { key: { id: '', rate: 0 }, window: new ExactWindow() };

/** The windows of keys in the memory of this process; times are milliseconds of one clock. */
export class KeyWindows {
  readonly #windows = new Map<string, Held>();
  /** Those that were asked for last, by the slots of their keys. */
  readonly #recent: Held[] = new Array<Held>(KEY_SLOTS).fill(NONE);
  #sweptAt: number;

  constructor(now: number) {
    this.#sweptAt = now;
  }

  /** Keys that have one. */
  get ids(): Iterable<string> {
    return this.#windows.keys();
  }

  /** Admits one request of a key within a limit: how many remain, or REFUSED. */
  take(key: Rated, now: number, limit: number): number {
    return this.of(key, now).take(now, limit);
  }

  /** The window of a key. */
  of(key: Rated, now: number): RateWindow {
    if (now - this.#sweptAt >= WINDOW_MS) this.#sweep(now);
    const held = this.#recent[key.slot ?? 0]!;
    // Nothing of a key changes: with another rate it is another object.
    return held.key === key ? held.window : this.#search(key, now);
  }

  /** The window of a key that is not in its slot; it is from now on. */
  #search(key: Rated, now: number): RateWindow {
    let held = this.#windows.get(key.id) ?? NONE;
    if (held.key !== key) held = this.#fit(key, now);
    this.#recent[key.slot ?? 0] = held;
    return held.window;
  }

  /** Drops the windows that hold nothing. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    this.#recent.fill(NONE);
    for (const [id, { window }] of this.#windows) {
      if (window.remaining(now, 1) === 1) this.#windows.delete(id);
    }
  }

  /** The window of a key that it was not asked for with. */
  #fit(key: Rated, now: number): Held {
    const exact = key.rate <= EXACT_MAX;
    const found = this.#windows.get(key.id);
    if (found === undefined) {
      const made = { key, window: exact ? new ExactWindow() : new BucketWindow(now) };
      this.#windows.set(key.id, made);
      return made;
    }
    if (found.window instanceof ExactWindow !== exact) {
      found.window = converted(found.window, now, exact);
    }
    found.key = key;
    return found;
  }

  /** The window of a key that has one. */
  find(id: string): RateWindow | undefined {
    return this.#windows.get(id)?.window;
  }
}

/** Makes a gate whose windows live in memory; `now` is a clock that never goes back. */
export function createRateGate(now: () => number = () => performance.now()): RateGate {
  const windows = new KeyWindows(now());
  return {
    take: (key) => {
      const at = now();
      return windows.take(key, at, key.rate);
    },
    remaining: ({ id, rate }) => windows.find(id)?.remaining(now(), rate) ?? rate,
  };
}

export { REFUSED };
