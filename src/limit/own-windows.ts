/**
 * What this process has admitted in the last minute. While shared windows do not answer, it decides
 * about this process's share of each limit; when they answer again, they are told what was
 * admitted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyWindows, type Rated } from '../http/rate-limit.js';
import { BucketWindow } from '../http/rate-window.js';
import { type SharedWindows, type WindowDebt, WindowsLost } from './port.js';

/**
 * Ages are reported in steps of this length, rounded down, so that a debt counts a little too long.
 */
const AGE_STEP_MS = 250;

export class OwnWindows {
  readonly #windows: KeyWindows;
  readonly #now: () => number;
  readonly #share: number;

  /** `percent` of each limit is the share of this process. */
  constructor(now: () => number, percent: number) {
    this.#now = now;
    this.#share = percent;
    this.#windows = new KeyWindows(now());
  }

  /** How many requests of a key this process may admit by itself in a minute, at least one. */
  shareOf(rate: number): number {
    return Math.max(1, Math.floor((rate * this.#share) / 100));
  }

  /** Admits a request within the share, and returns how many remain of it, or REFUSED. */
  take(key: Rated): number {
    return this.#windows.take(key, this.#now(), this.shareOf(key.rate));
  }

  /** How many requests of a key remain of a limit. */
  remaining({ id, rate }: Rated, limit = this.shareOf(rate)): number {
    return this.#windows.find(id)?.remaining(this.#now(), limit) ?? limit;
  }

  /** Counts requests that the shared windows have admitted for this process. */
  note(key: Rated, count: number): void {
    const now = this.#now();
    const window = this.#windows.of(key, now);
    if (window instanceof BucketWindow) {
      // Advances the window to `now`, because `add` ignores times that the window has not reached.
      window.remaining(now, 0);
      window.add(now, count);
      return;
    }
    for (let index = 0; index < count; index += 1) window.take(now, Number.MAX_SAFE_INTEGER);
  }

  /** The requests that were admitted since a moment, for each key. */
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
    // Buckets know only the millisecond of a request.
    const from = window instanceof BucketWindow ? Math.floor(since) : since;
    window?.each((at, count) => {
      if (at < from) return;
      const ageMs = Math.floor(Math.max(0, now - at) / AGE_STEP_MS) * AGE_STEP_MS;
      steps.set(ageMs, (steps.get(ageMs) ?? 0) + count);
    });
    return [...steps];
  }
}

/*
 * The way back to shared windows: checks whether they answer again, reports what was admitted
 * meanwhile, and ends. Most is reported while this process still decides by itself. The rest is
 * sent just before the first question on the same connection, so that no question is answered
 * without it.
 */

/** First pause before the next check; it doubles each time. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 1_000;
/** After a failure so soon after the last one, pauses go on from their last length. */
const CALM_MS = 10_000;
/** How long a check waits for its answer. */
const PROBE_MS_MAX = 2_000;
/** How many debts are reported at a time, and how many may be left for the end. */
const DEBTS_MAX = 64;
/** How often new debts are reported before the rest is left for the end. */
const ROUNDS_MAX = 5;

interface RecoveryOptions {
  readonly windows: SharedWindows;
  readonly own: OwnWindows;
  readonly now: () => number;
  /** An answer that takes longer does not count. */
  readonly answerMs: number;
  /** Called when questions can be asked again. */
  readonly back: () => void;
  /**
   * Called when the rest could not be reported; everything since that moment is then to be reported
   * again.
   */
  readonly failed: (error: unknown, since: number) => void;
}

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #closed = new AbortController();
  /** The moment since which admitted requests are not reported; null while questions are asked. */
  #since: number | null = null;
  #pauseMs = PAUSE_MS_MIN;
  #backAt = Number.NEGATIVE_INFINITY;
  #waiters: (() => void)[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Whether no questions are asked at present. */
  get away(): boolean {
    return this.#since !== null;
  }

  /** Begins; requests admitted since a moment have to be reported. */
  begin(since: number): void {
    const running = this.#since !== null;
    this.#since = Math.min(this.#since ?? since, since);
    if (running || this.#closed.signal.aborted) return;
    const soon = this.#options.now() - this.#backAt < CALM_MS;
    this.#pauseMs = soon ? this.#pauseMs : PAUSE_MS_MIN;
    void this.#run();
  }

  /** Waits until questions are asked again, for so many milliseconds at most. */
  async ended(milliseconds: number): Promise<void> {
    if (!this.away) return;
    const timer = new AbortController();
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      }),
      sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    // The first check is at once, since most late answers are merely late.
    while (!signal.aborted && !(await this.#settled())) {
      await sleep(this.#pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
    }
    if (signal.aborted) return;
    this.#backAt = this.#options.now();
    this.#options.back();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Checks for an answer in time, and reports; returns whether all of that succeeded. */
  async #settled(): Promise<boolean> {
    const { windows, own, now, answerMs } = this.#options;
    try {
      const asked = now();
      await within(PROBE_MS_MAX, windows.ask([]));
      if (now() - asked > answerMs) return false;
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const upTo = now();
        const debts = own.debts(this.#since ?? upTo);
        if (debts.length <= DEBTS_MAX) break;
        await within(PROBE_MS_MAX, this.#tell(debts));
        this.#since = upTo;
      }
      this.#end();
      return true;
    } catch (error) {
      if (error instanceof WindowsLost) this.#since = Number.NEGATIVE_INFINITY;
      return false;
    }
  }

  async #tell(debts: readonly WindowDebt[]): Promise<void> {
    for (let at = 0; at < debts.length; at += DEBTS_MAX) {
      await this.#options.windows.settle(debts.slice(at, at + DEBTS_MAX));
    }
  }

  /** Reports the rest, before any question that is asked from now on. */
  #end(): void {
    const { windows, own, now, failed } = this.#options;
    const since = this.#since ?? now();
    const debts = own.debts(since);
    this.#since = null;
    if (debts.length > 0) windows.settle(debts).catch((error: unknown) => failed(error, since));
  }
}

/** The result of a promise, or an error when it takes longer. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      promise,
      sleep(milliseconds, undefined, { signal: timer.signal, ref: false }).then(() => {
        throw new Error(`no answer within ${milliseconds} ms`);
      }),
    ]);
  } finally {
    timer.abort();
  }
}
