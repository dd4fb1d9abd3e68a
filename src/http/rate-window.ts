/** A rolling window of 60 seconds over admitted requests. */

export const WINDOW_MS = 60_000;

/** Rates up to this many requests a minute remember each request. */
export const EXACT_MAX = 100_000;

/** Returned instead of the number that remains when a request is refused. */
export const REFUSED = -1;

/** Times are milliseconds of any clock that never goes back. */
export interface RateWindow {
  /**
   * Admits one request and returns how many remain, or REFUSED. A refused request does not count.
   */
  take(now: number, limit: number): number;
  /** How many remain; nothing is counted. */
  remaining(now: number, limit: number): number;
  /** Visits the remembered requests, oldest first. */
  each(visit: (at: number, count: number) => void): void;
}

const CAPACITY_MIN = 64;

/**
 * Remembers the time of every request in a ring, with the clock's resolution. It takes 8 bytes for
 * each request of the fullest minute, rounded up to a power of two: at most 1 MiB, since no limit
 * above EXACT_MAX is kept this way.
 */
export class ExactWindow implements RateWindow {
  #times = new Float64Array(CAPACITY_MIN);
  #head = 0;
  #count = 0;

  take(now: number, limit: number): number {
    this.#forget(now);
    if (this.#count >= limit) return REFUSED;
    this.add(now);
    return limit - this.#count;
  }

  remaining(now: number, limit: number): number {
    this.#forget(now);
    return Math.max(0, limit - this.#count);
  }

  /** Remembers a request without checking the limit. */
  add(at: number): void {
    if (this.#count === this.#times.length) this.#grow();
    const { length } = this.#times;
    const tail = this.#head + this.#count;
    this.#times[tail < length ? tail : tail - length] = at;
    this.#count += 1;
  }

  each(visit: (at: number, count: number) => void): void {
    for (let index = 0; index < this.#count; index += 1) {
      visit(this.#times[(this.#head + index) % this.#times.length]!, 1);
    }
  }

  #forget(now: number): void {
    const { length } = this.#times;
    while (this.#count > 0 && this.#times[this.#head]! <= now - WINDOW_MS) {
      this.#head = this.#head + 1 === length ? 0 : this.#head + 1;
      this.#count -= 1;
    }
  }

  #grow(): void {
    const next = new Float64Array(this.#times.length * 2);
    next.set(this.#times.subarray(this.#head));
    next.set(this.#times.subarray(0, this.#head), this.#times.length - this.#head);
    this.#times = next;
    this.#head = 0;
  }
}

/** Counts requests in buckets of one millisecond: 240 kB at any rate. */
export class BucketWindow implements RateWindow {
  readonly #counts = new Uint32Array(WINDOW_MS);
  #total = 0;
  /** The millisecond up to which buckets are current. */
  #at: number;

  constructor(now: number) {
    this.#at = Math.floor(now);
  }

  take(now: number, limit: number): number {
    this.#advance(Math.floor(now));
    if (this.#total >= limit) return REFUSED;
    this.#counts[this.#at % WINDOW_MS]! += 1;
    this.#total += 1;
    return limit - this.#total;
  }

  remaining(now: number, limit: number): number {
    this.#advance(Math.floor(now));
    return Math.max(0, limit - this.#total);
  }

  /** Remembers past requests without checking the limit. */
  add(at: number, count: number): void {
    const millisecond = Math.floor(at);
    if (millisecond > this.#at || millisecond <= this.#at - WINDOW_MS) return;
    this.#counts[millisecond % WINDOW_MS]! += count;
    this.#total += count;
  }

  each(visit: (at: number, count: number) => void): void {
    for (let at = Math.max(0, this.#at - WINDOW_MS + 1); at <= this.#at; at += 1) {
      const count = this.#counts[at % WINDOW_MS]!;
      if (count > 0) visit(at, count);
    }
  }

  #advance(now: number): void {
    if (now - this.#at >= WINDOW_MS) {
      this.#counts.fill(0);
      this.#total = 0;
      this.#at = now;
    }
    while (this.#at < now) {
      this.#at += 1;
      this.#total -= this.#counts[this.#at % WINDOW_MS]!;
      this.#counts[this.#at % WINDOW_MS] = 0;
    }
  }
}
