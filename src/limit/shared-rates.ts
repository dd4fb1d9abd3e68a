/**
 * The rates of keys in windows that several processes share. Requests of busy keys that are far
 * from their rates are admitted from what is held ahead (`ahead.ts`). All questions of one turn of
 * the event loop go in one batch; no request waits longer than `ANSWER_MS_MAX` for it. While nobody
 * answers, this process admits its share of each limit by itself, and nothing waits; what it
 * admitted by then it tells before it asks again, so that no request is forgotten.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { RateGate, Rated } from '../http/rate-limit.js';
import { messageOf } from '../log.js';
import { HeldAhead, LOOK_MS, NONE } from './ahead.js';
import { OwnWindows, Recovery } from './own-windows.js';
import { type SharedWindows, TurnBatch, type WindowAnswer, WindowsLost } from './port.js';

/** Longest wait of a request, less what a timer may be late. */
export const ANSWER_MS_MAX = 12;

/** Longest wait for an answer that no request waits for: what is held lasts longer. */
const UNHURRIED_MS_MAX = 100;

/** How long what was last told of a key is taken for true. */
const TOLD_MS = 1_000;
/** Keys of which that is known. */
const TOLD_MAX = 10_000;
/** Debts of everything that was admitted. */
const ALL = Number.NEGATIVE_INFINITY;

interface SharedRatesOptions {
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
  /**
   * Since the start: batches sent, requests asked about, admitted from what was held ahead, decided
   * here alone, times it was so.
   */
  readonly counts = { batches: 0, asked: 0, ahead: 0, own: 0, away: 0 };
  readonly #windows: SharedWindows;
  readonly #own: OwnWindows;
  readonly #changed: (reason: string | null) => void;
  readonly #now: () => number;
  readonly #answerMs: number;
  readonly #recovery: Recovery;
  readonly #told = new Map<string, Told>();
  readonly #ahead = new HeldAhead((key) => (this.#batch ??= this.#begin()).include(key));
  readonly #used = (key: Rated, count: number): void => this.#own.note(key, count);
  /** A name for what is held; another one after each time that nobody answered. */
  #holder = randomUUID();
  #looker: NodeJS.Timeout | null = null;
  #batch: TurnBatch | null = null;
  /** Whether the turn of that batch has ended. */
  #ended = false;
  /** The batch that was sent and has no answer yet. */
  #sent: TurnBatch | null = null;
  /** The loss of windows that was answered last. */
  #lost = '';

  constructor(options: SharedRatesOptions) {
    const {
      windows,
      sharePercent,
      changed = () => undefined,
      now = () => performance.now(),
      answerMs = ANSWER_MS_MAX,
    } = options;
    this.#windows = windows;
    this.#answerMs = answerMs;
    this.#now = now;
    this.#changed = changed;
    this.#own = new OwnWindows(now, sharePercent);
    this.#recovery = new Recovery({
      windows,
      own: this.#own,
      now,
      answerMs,
      back: () => changed(null),
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

  ask(key: Rated, takes: boolean): Promise<number> | number | null {
    if (this.#recovery.away) return null;
    if (takes) {
      const left = this.#ahead.take(key, this.#now());
      if (left !== NONE) {
        this.counts.ahead += 1;
        return left;
      }
    }
    return new Promise((resolve) => {
      this.counts.asked += 1;
      const batch = (this.#batch ??= this.#begin());
      batch.wait(this.#answerMs, () => this.#late(batch));
      batch.add(key, takes, resolve);
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
      ? told.left + this.#ahead.inHand(key.id)
      : this.#own.remaining(key, key.rate);
  }

  async close(): Promise<void> {
    this.#recovery.close();
    this.#rest();
    await this.#windows.close();
  }

  /** A batch that is sent at the end of this turn. */
  #begin(): TurnBatch {
    const batch = new TurnBatch();
    batch.wait(Math.max(UNHURRIED_MS_MAX, this.#answerMs), () => this.#late(batch));
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
    const now = this.#now();
    const questions = batch.questions((key, count) =>
      this.#ahead.question(key, count, now, this.#used),
    );
    this.#look();
    try {
      const answers = await this.#windows.ask(questions, this.#holder).catch((error: unknown) => {
        // Whoever is on the way back tells everything then.
        if (!(error instanceof WindowsLost) || this.#recovery.away) throw error;
        this.#tellAll(error.memory);
        return this.#windows.ask(questions, this.#holder);
      });
      // What comes too late was counted there, and is told once more: no request too many.
      if (batch.open) batch.answered(answers, (key, answer) => this.#learn(key, answer));
    } catch (error) {
      this.#alone(batch, error);
    }
  }

  /** Looks now and then what is to be told of what is held, for as long as there is any. */
  #look(): void {
    if (this.#looker !== null || !this.#ahead.busy) return;
    this.#looker = setInterval(() => {
      for (const key of this.#ahead.due(this.#now())) (this.#batch ??= this.#begin()).include(key);
      if (!this.#ahead.busy) this.#rest();
    }, LOOK_MS).unref();
  }

  #rest(): void {
    if (this.#looker !== null) clearInterval(this.#looker);
    this.#looker = null;
  }

  /** What is known of a key now; tells what remains of its rate. */
  #learn(key: Rated, answer: WindowAnswer): number {
    const { admitted, left } = answer;
    this.#own.note(key, admitted);
    this.#ahead.answered(key, answer);
    // In the order of what was told last.
    this.#told.delete(key.id);
    this.#told.set(key.id, { left, at: this.#now() });
    if (this.#told.size > TOLD_MAX) {
      const [oldest] = this.#told.keys();
      if (oldest !== undefined) this.#told.delete(oldest);
    }
    return left + this.#ahead.inHand(key.id);
  }

  /** Windows that were lost are told everything, once. */
  #tellAll(memory: string): void {
    if (memory === this.#lost) return;
    this.#lost = memory;
    this.#ahead.drop(this.#used);
    this.#settle(this.#own.debts(ALL), ALL);
  }

  #settle(debts: Parameters<SharedWindows['settle']>[0], since = this.#now()): void {
    this.#windows.settle(debts).catch((error: unknown) => this.#leave(error, since));
  }

  #late(batch: TurnBatch): void {
    // An answer may be here that this process was too busy to read.
    setImmediate(() => this.#alone(batch, new Error(`no answer within ${this.#answerMs} ms`)));
  }

  /** Decides about a batch that nobody answers, and asks no more for now. */
  #alone(batch: TurnBatch, error: unknown): void {
    if (!batch.open) return;
    this.#leave(error, this.#now());
    const waiting = this.#batch;
    this.#batch = null;
    this.#sent = null;
    for (const each of [batch, waiting]) {
      if (each?.open)
        each.decide(
          (key) => this.take(key),
          (key) => this.#own.remaining(key),
        );
    }
  }

  #leave(error: unknown, since: number): void {
    const wasAway = this.#recovery.away;
    // What was used of it the windows have counted; under that name nothing more is used.
    this.#ahead.drop(this.#used);
    this.#holder = randomUUID();
    this.#recovery.begin(error instanceof WindowsLost ? ALL : since);
    if (wasAway) return;
    this.counts.away += 1;
    this.#changed(messageOf(error));
  }
}
