/**
 * What this process itself has admitted within the last minute: asked for its share while nobody
 * else answers, and told to those who keep the windows afterwards.
 */
import { KeyWindows, type Rated } from '../http/rate-limit.js';
import { BucketWindow } from '../http/rate-window.js';
import type { WindowDebt } from './port.js';

/** Ages are told in steps, each as its younger end: a debt stands a little longer than it must. */
export const AGE_STEP_MS = 250;

export class OwnWindows {
  readonly #windows: KeyWindows;
  readonly #now: () => number;
  readonly #share: number;

  /** `percent` of each limit is this process's own. */
  constructor(now: () => number, percent: number) {
    this.#now = now;
    this.#share = percent;
    this.#windows = new KeyWindows(now());
  }

  /** Requests a minute of a key that this process admits by itself: one at least. */
  shareOf(rate: number): number {
    return Math.max(1, Math.floor((rate * this.#share) / 100));
  }

  /** Admits a request within the share: how many remain of it, or REFUSED. */
  take(key: Rated): number {
    return this.#windows.take(key, this.#now(), this.shareOf(key.rate));
  }

  /** How many requests of a key remain of a limit. */
  remaining({ id, rate }: Rated, limit = this.shareOf(rate)): number {
    return this.#windows.find(id)?.remaining(this.#now(), limit) ?? limit;
  }

  /** Remembers what others admitted for this process. */
  note(key: Rated, count: number): void {
    const now = this.#now();
    const window = this.#windows.of(key, now);
    if (window instanceof BucketWindow) {
      // Up to now first: of what comes later it knows nothing.
      window.remaining(now, 0);
      window.add(now, count);
      return;
    }
    for (let index = 0; index < count; index += 1) window.take(now, Number.MAX_SAFE_INTEGER);
  }

  /** What was admitted after a moment of the clock, key by key. */
  debts(since: number): readonly WindowDebt[] {
    const now = this.#now();
    const debts: WindowDebt[] = [];
    for (const id of this.#windows.ids) {
      const admitted = this.#admitted(id, since, now);
      if (admitted.length > 0) debts.push({ id, admitted });
    }
    return debts;
  }

  #admitted(id: string, since: number, now: number): WindowDebt['admitted'] {
    const steps = new Map<number, number>();
    const window = this.#windows.find(id);
    window?.remaining(now, 0);
    // Buckets know the millisecond alone.
    const from = window instanceof BucketWindow ? Math.floor(since) : since;
    window?.each((at, count) => {
      if (at < from) return;
      const ageMs = Math.floor(Math.max(0, now - at) / AGE_STEP_MS) * AGE_STEP_MS;
      steps.set(ageMs, (steps.get(ageMs) ?? 0) + count);
    });
    return [...steps];
  }
}
