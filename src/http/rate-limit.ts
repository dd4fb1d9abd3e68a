/**
 * Limits the rate of each key, by one rolling window over all versions and operations. A window
 * takes at most 1 MiB (see rate-window.ts), and one that was empty for a minute or two is dropped,
 * so that memory depends on the keys in use.
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

/** A key and how many requests it may make a minute. */
export interface Rated {
  readonly id: string;
  readonly rate: number;
  /** Where to look for its window first; keys without a slot share the first one. */
  readonly slot?: number;
}

export interface RateGate {
  /** Admits one request of a key, and returns how many remain in its window, or REFUSED. */
  take(key: Rated): number;
  /** How many requests a key has left; nothing is counted. */
  remaining(key: Rated): number;
  /**
   * Present where windows are shared with other processes. Takes a place in a window, or only
   * looks, and returns what `take` or `remaining` would, at once where possible. Never rejects;
   * null where `take` or `remaining` has to be called instead.
   */
  ask?(key: Rated, takes: boolean): Promise<number> | number | null;
}

/** The two rate fields of every answer to a key; zeros where there is no key. */
export function rateFields(limit: number, remaining: number): Fields {
  return { [LIMIT_HEADER]: limit, [REMAINING_HEADER]: remaining };
}

/** The beginning of the last head and the rate in it, since most keys have the same rate. */
const lastHead = { rate: Number.NaN, start: '' };

/**
 * The head of a JSON answer with its rate fields, as `headOf` makes it, but mostly from the one
 * before.
 */
export function ratedHead(rate: number, remaining: number): Head {
  if (lastHead.rate !== rate) {
    lastHead.rate = rate;
    lastHead.start = `${headOf(JSON_TYPE, { [LIMIT_HEADER]: rate })}\r\n${REMAINING_HEADER}: `;
  }
  return `${lastHead.start}${remaining}` as Head;
}

/** Converts a window to the other kind, with the requests that it remembers. */
function converted(window: RateWindow, now: number, exact: boolean): RateWindow {
  if (exact) {
    const next = new ExactWindow();
    let total = 0;
    window.each((_at, count) => {
      total += count;
    });
    // Only the last EXACT_MAX can matter, and there may be millions.
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

/** A window, and the key object that last asked for it, whose rate decides the kind of window. */
interface Held {
  key: Rated;
  window: RateWindow;
}

const NONE: Held = { key: { id: '', rate: 0 }, window: new ExactWindow() };

/** The windows of keys in the memory of this process. Times are milliseconds of one clock. */
export class KeyWindows {
  readonly #windows = new Map<string, Held>();
  /** The windows that were asked for last, by the slots of their keys. */
  readonly #recent: Held[] = new Array<Held>(KEY_SLOTS).fill(NONE);
  #sweptAt: number;

  constructor(now: number) {
    this.#sweptAt = now;
  }

  /** The ids of keys that have a window. */
  get ids(): Iterable<string> {
    return this.#windows.keys();
  }

  /** Admits one request of a key within a limit, and returns how many remain, or REFUSED. */
  take(key: Rated, now: number, limit: number): number {
    return this.of(key, now).take(now, limit);
  }

  /** The window of a key, which is made where there is none. */
  of(key: Rated, now: number): RateWindow {
    if (now - this.#sweptAt >= WINDOW_MS) this.#sweep(now);
    const held = this.#recent[key.slot ?? 0]!;
    // Key objects never change; a key with a new rate is another object.
    return held.key === key ? held.window : this.#search(key, now);
  }

  /** Finds the window of a key that is not in its slot, and puts it there. */
  #search(key: Rated, now: number): RateWindow {
    let held = this.#windows.get(key.id) ?? NONE;
    if (held.key !== key) held = this.#fit(key, now);
    this.#recent[key.slot ?? 0] = held;
    return held.window;
  }

  /** Drops empty windows. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    this.#recent.fill(NONE);
    for (const [id, { window }] of this.#windows) {
      if (window.remaining(now, 1) === 1) this.#windows.delete(id);
    }
  }

  /**
   * The window for a key object that it was not asked for with last; its kind is changed to fit the
   * rate.
   */
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

  /** The window of a key; undefined where there is none. */
  find(id: string): RateWindow | undefined {
    return this.#windows.get(id)?.window;
  }
}

/** Makes a gate whose windows are in memory; `now` is a clock that never goes back. */
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
