/**
 * What this process itself has admitted within the last minute: asked for its share while nobody
 * else answers, and told to those who keep the windows afterwards, on the way back to them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyWindows, type Rated } from '../http/rate-limit.js';
import { BucketWindow } from '../http/rate-window.js';
import { type SharedWindows, type WindowDebt, WindowsLost } from './port.js';

/** Ages are told in steps, each as its younger end: a debt stands a little longer than it must. */
const AGE_STEP_MS = 250;

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

/*
 * The way back to shared windows: asks whether there is an answer again, tells what was admitted
 * meanwhile, and ends. Most is told while requests are still decided about here; what is left goes
 * in front of the first question on the same way, so that nothing is asked before it is known.
 */

/** First pause before it is asked again; it doubles each time. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 1_000;
/** Whoever left again so soon waits longer than the last time. */
const CALM_MS = 10_000;
/** Longest wait for an answer to the question whether there is one. */
const PROBE_MS_MAX = 2_000;
/** Debts told at a time, and how many may be left for the end. */
const DEBTS_MAX = 64;
/** How often what came meanwhile is told before the rest is left for the end. */
const ROUNDS_MAX = 5;

interface RecoveryOptions {
  readonly windows: SharedWindows;
  readonly own: OwnWindows;
  readonly now: () => number;
  /** An answer that takes longer is none. */
  readonly answerMs: number;
  /** Called when questions can be asked again. */
  readonly back: () => void;
  /** Called when what was left could not be told; it has to begin anew from that moment on. */
  readonly failed: (error: unknown, since: number) => void;
}

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #closed = new AbortController();
  /** From when on is not told what was admitted here; null when questions are asked. */
  #since: number | null = null;
  #pauseMs = PAUSE_MS_MIN;
  #backAt = Number.NEGATIVE_INFINITY;
  #waiters: (() => void)[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Whether nothing is asked now. */
  get away(): boolean {
    return this.#since !== null;
  }

  /** Begins; what was admitted from a moment on is to be told. */
  begin(since: number): void {
    const running = this.#since !== null;
    this.#since = Math.min(this.#since ?? since, since);
    if (running || this.#closed.signal.aborted) return;
    const soon = this.#options.now() - this.#backAt < CALM_MS;
    this.#pauseMs = soon ? this.#pauseMs : PAUSE_MS_MIN;
    void this.#run();
  }

  /** Waits until questions are asked, so many milliseconds at most. */
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
    // The first look is at once: most of what is late is just late.
    while (!signal.aborted && !(await this.#settled())) {
      await sleep(this.#pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
    }
    if (signal.aborted) return;
    this.#backAt = this.#options.now();
    this.#options.back();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Whether there is an answer in time, and everything was told. */
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

  /** Tells the rest; what is asked from now on is behind it. */
  #end(): void {
    const { windows, own, now, failed } = this.#options;
    const since = this.#since ?? now();
    const debts = own.debts(since);
    this.#since = null;
    if (debts.length > 0) windows.settle(debts).catch((error: unknown) => failed(error, since));
  }
}

/** A promise, or an error when it takes longer. */
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
