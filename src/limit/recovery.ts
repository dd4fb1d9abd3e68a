/**
 * The way back to shared windows: asks whether there is an answer again, tells what was admitted
 * meanwhile, and ends. Most is told while requests are still decided about here; what is left goes
 * in front of the first question on the same way, so that nothing is asked before it is known.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnWindows } from './own-windows.js';
import { type SharedWindows, type WindowDebt, WindowsLost } from './port.js';

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

export interface RecoveryOptions {
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
    while (!signal.aborted && !await this.#settled()) {
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
