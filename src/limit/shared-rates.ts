/**
 * The rates of keys in windows that several processes share. All questions of one turn of the event
 * loop go in one batch; none waits longer than `ANSWER_MS_MAX`. While nobody answers, this process
 * admits its share of each limit by itself, and nothing waits; what it admitted by then it tells
 * before it asks again, so that no request is forgotten.
 */
import { performance } from 'node:perf_hooks';
import type { RateGate, Rated } from '../http/rate-limit.js';
import { messageOf } from '../log.js';
import { OwnWindows } from './own-windows.js';
import { type SharedWindows, type WindowAnswer, WindowsLost } from './port.js';
import { Recovery } from './recovery.js';
import { TurnBatch } from './turn-batch.js';

/** Longest wait of a request, less what a timer may be late. */
export const ANSWER_MS_MAX = 18;

/** How long what was last told of a key is taken for true. */
const TOLD_MS = 1_000;
/** Keys of which that is known. */
const TOLD_MAX = 10_000;
/** Debts of everything that was admitted. */
const ALL = Number.NEGATIVE_INFINITY;

export interface SharedRatesOptions {
  readonly windows: SharedWindows;
  /** Of each limit, what this process admits by itself while nobody answers. */
  readonly sharePercent: number;
  /** Told when nobody answers any more, with the reason, and when somebody does again. */
  readonly changed?: (reason: string | null) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  /** Longest wait; `ANSWER_MS_MAX` unless given. */
  readonly answerMs?: number;
}

interface Told {
  readonly left: number;
  readonly at: number;
}

export class SharedRates implements RateGate {
  /** Since the start: batches sent, requests asked about, decided here alone, times it was so. */
  readonly counts = { batches: 0, asked: 0, own: 0, away: 0 };
  readonly #windows: SharedWindows;
  readonly #own: OwnWindows;
  readonly #changed: (reason: string | null) => void;
  readonly #now: () => number;
  readonly #answerMs: number;
  readonly #recovery: Recovery;
  readonly #told = new Map<string, Told>();
  #batch: TurnBatch | null = null;
  /** Whether the turn of that batch has ended. */
  #ended = false;
  /** The batch that was sent and has no answer yet. */
  #sent: TurnBatch | null = null;
  /** The loss of windows that was answered last. */
  #lost = '';

  constructor(options: SharedRatesOptions) {
    const {
      windows, sharePercent, changed = () => undefined, now = () => performance.now(),
      answerMs = ANSWER_MS_MAX,
    } = options;
    this.#windows = windows;
    this.#answerMs = answerMs;
    this.#now = now;
    this.#changed = changed;
    this.#own = new OwnWindows(now, sharePercent);
    this.#recovery = new Recovery({
      windows, own: this.#own, now, answerMs, back: () => changed(null),
      failed: (error, since) => this.#leave(error, since),
    });
    // Until the first answer.
    this.#recovery.begin(now());
  }

  /** Whether the windows are those of all. */
  get shared(): boolean {
    return !this.#recovery.away;
  }

  /** Waits for the first answer, so many milliseconds at most; false when there was none. */
  async started(milliseconds: number): Promise<boolean> {
    await this.#recovery.ended(milliseconds);
    if (this.shared) return true;
    this.counts.away += 1;
    this.#changed('no answer yet');
    return false;
  }

  ask(key: Rated, takes: boolean): Promise<number> | null {
    if (this.#recovery.away) return null;
    return new Promise((resolve) => {
      this.counts.asked += 1;
      (this.#batch ??= this.#begin()).add(key, takes, resolve);
    });
  }

  take(key: Rated): number {
    this.counts.own += 1;
    const remaining = this.#own.take(key);
    // A request that was not asked about, while it could have been.
    if (this.shared && remaining >= 0) this.#settle([{ id: key.id, admitted: [[0, 1]] }]);
    return remaining;
  }

  remaining(key: Rated): number {
    if (this.#recovery.away) return this.#own.remaining(key);
    const told = this.#told.get(key.id);
    return told !== undefined && this.#now() - told.at <= TOLD_MS
      ? told.left : this.#own.remaining(key, key.rate);
  }

  async close(): Promise<void> {
    this.#recovery.close();
    await this.#windows.close();
  }

  /** A batch that is sent at the end of this turn. */
  #begin(): TurnBatch {
    const batch = new TurnBatch();
    batch.timer = setTimeout(() => {
      // An answer may be here that this process was too busy to read.
      setImmediate(() => {
        this.#alone(batch, new Error(`no answer within ${this.#answerMs} ms`));
      });
    }, this.#answerMs);
    this.#ended = false;
    setImmediate(() => {
      if (this.#batch !== batch) return;
      this.#ended = true;
      this.#next();
    });
    return batch;
  }

  /** Sends the batch whose turn has ended, one at a time: under load the next one gathers more. */
  #next(): void {
    const batch = this.#batch;
    if (batch === null || !this.#ended || this.#sent !== null) return;
    this.#batch = null;
    this.#sent = batch;
    this.counts.batches += 1;
    void this.#send(batch).finally(() => {
      if (this.#sent !== batch) return;
      this.#sent = null;
      this.#next();
    });
  }

  async #send(batch: TurnBatch): Promise<void> {
    const { questions } = batch;
    try {
      const answers = await this.#windows.ask(questions).catch((error: unknown) => {
        // Whoever is on the way back tells everything then.
        if (!(error instanceof WindowsLost) || this.#recovery.away) throw error;
        this.#tellAll(error.memory);
        return this.#windows.ask(questions);
      });
      // What comes too late was counted there, and is told once more: no request too many.
      if (batch.open) batch.answered(answers, (key, answer) => this.#learn(key, answer));
    } catch (error) {
      this.#alone(batch, error);
    }
  }

  #learn(key: Rated, { admitted, left }: WindowAnswer): void {
    this.#own.note(key, admitted);
    // In the order of what was told last.
    this.#told.delete(key.id);
    this.#told.set(key.id, { left, at: this.#now() });
    if (this.#told.size <= TOLD_MAX) return;
    const [oldest] = this.#told.keys();
    if (oldest !== undefined) this.#told.delete(oldest);
  }

  /** Windows that were lost are told everything, once. */
  #tellAll(memory: string): void {
    if (memory === this.#lost) return;
    this.#lost = memory;
    this.#settle(this.#own.debts(ALL), ALL);
  }

  #settle(debts: Parameters<SharedWindows['settle']>[0], since = this.#now()): void {
    this.#windows.settle(debts).catch((error: unknown) => this.#leave(error, since));
  }

  /** Decides about a batch that nobody answers, and asks no more for now. */
  #alone(batch: TurnBatch, error: unknown): void {
    if (!batch.open) return;
    this.#leave(error, this.#now());
    const waiting = this.#batch;
    this.#batch = null;
    this.#sent = null;
    for (const each of [batch, waiting]) {
      if (each?.open) each.decide((key) => this.take(key), (key) => this.#own.remaining(key));
    }
  }

  #leave(error: unknown, since: number): void {
    const wasAway = this.#recovery.away;
    this.#recovery.begin(error instanceof WindowsLost ? ALL : since);
    if (wasAway) return;
    this.counts.away += 1;
    this.#changed(messageOf(error));
  }
}
