/**
 * The rates of keys in windows that several processes share. Requests of busy keys that are far
 * from their rates are admitted from places held ahead (`ahead.ts`). All questions of one turn of
 * the event loop are sent in one batch, and no request waits longer than `ANSWER_MS_MAX` for it.
 * While there is no answer, this process admits its share of each limit by itself, and nothing
 * waits; it reports what it admitted before it asks again, so that no request is forgotten.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { RateGate, Rated } from '../http/rate-limit.js';
import { messageOf } from '../log.js';
import { HeldAhead, LOOK_MS, NONE } from './ahead.js';
import { OwnWindows, Recovery } from './own-windows.js';
import { type SharedWindows, TurnBatch, type WindowAnswer, WindowsLost } from './port.js';

/** Longest wait of a request, not counting how late a timer may be. */
export const ANSWER_MS_MAX = 12;

/** Longest wait for an answer that no request waits for; held places can be used for longer. */
const UNHURRIED_MS_MAX = 100;

/** For how long the last answer about a key is relied on. */
const TOLD_MS = 1_000;
/** For how many keys the last answer is kept. */
const TOLD_MAX = 10_000;
/** The moment since which debts are reported to report all of them. */
const ALL = Number.NEGATIVE_INFINITY;

interface SharedRatesOptions {
  readonly windows: SharedWindows;
  /** The percentage of each limit that this process admits by itself while there is no answer. */
  readonly sharePercent: number;
  /** Called with the reason when the windows no longer answer, and with null when they do again. */
  readonly changed?: (reason: string | null) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  /** Longest wait of a request; `ANSWER_MS_MAX` unless given. */
  readonly answerMs?: number;
}

interface Told {
  readonly left: number;
  readonly at: number;
}

export class SharedRates implements RateGate {
  /**
   * Counts since the start: batches that were sent, requests that were asked about, those that were
   * admitted from held places, those that were decided by this process alone, and how often the
   * windows stopped answering.
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
  /** The name under which places are held; replaced each time the windows stop answering. */
  #holder = randomUUID();
  #looker: NodeJS.Timeout | null = null;
  #batch: TurnBatch | null = null;
  /** Whether the turn of `#batch` has ended. */
  #ended = false;
  /** The batch that was sent and is not answered yet. */
  #sent: TurnBatch | null = null;
  /** The name of the windows that were last told everything after a loss. */
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
    // There are no questions until the first answer.
    this.#recovery.begin(now());
  }

  /** Whether the shared windows decide. */
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
    // The request was not asked about, although it could have been.
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

  /** Begins a batch that is sent at the end of this turn. */
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

  /** Sends the batch whose turn has ended, one at a time, so that the next one grows under load. */
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
        // A process on the way back to the windows reports everything anyway.
        if (!(error instanceof WindowsLost) || this.#recovery.away) throw error;
        this.#tellAll(error.memory);
        return this.#windows.ask(questions, this.#holder);
      });
      // What is answered too late was counted there and is reported once more, so that too few are
      // admitted rather than too many.
      if (batch.open) batch.answered(answers, (key, answer) => this.#learn(key, answer));
    } catch (error) {
      this.#alone(batch, error);
    }
  }

  /** Regularly checks which keys have something to report, as long as any places are held. */
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

  /** Keeps what an answer says about a key, and returns how many requests remain of its rate. */
  #learn(key: Rated, answer: WindowAnswer): number {
    const { admitted, left } = answer;
    this.#own.note(key, admitted);
    this.#ahead.answered(key, answer);
    // Inserted again, so that the keys are in the order of their last answers.
    this.#told.delete(key.id);
    this.#told.set(key.id, { left, at: this.#now() });
    if (this.#told.size > TOLD_MAX) {
      const [oldest] = this.#told.keys();
      if (oldest !== undefined) this.#told.delete(oldest);
    }
    return left + this.#ahead.inHand(key.id);
  }

  /** Reports everything to windows that were lost, once for each loss. */
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
    // Its answer may have arrived without being read, if this process was too busy.
    setImmediate(() => this.#alone(batch, new Error(`no answer within ${this.#answerMs} ms`)));
  }

  /** Decides about a batch that is not answered, and asks no more questions for now. */
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
    // Places held under the old name count as used after a while; none of them is used any more.
    this.#ahead.drop(this.#used);
    this.#holder = randomUUID();
    this.#recovery.begin(error instanceof WindowsLost ? ALL : since);
    if (wasAway) return;
    this.counts.away += 1;
    this.#changed(messageOf(error));
  }
}
