/** Sends records of one kind from the outbox, while this server holds the right to send them. */
import { type Log, messageOf } from '../log.js';
import { bury, lastOutbox, listOutbox, postpone, settle } from '../store/outbox.js';
import type { Lease } from '../store/membership.js';
import type { Store, StoreTransaction } from '../store/store.js';
import type { OutboxKind, OutboxRecord } from '../store/outbox-record.js';
import {
  codeOf,
  failed,
  type FailedOutcome,
  isLater,
  nextAttempt,
  type Outcome,
} from './attempt.js';

/** Interval at which the outbox is checked when nothing else causes a check. */
const LOOK_MS = 250;
/** Most attempts of one kind at the same time. */
export const UNDER_WAY_MAX = 4;
/** An overloaded receiver is left alone for this long, and then gets one attempt at a time. */
export const SLOW_MS = 30_000;
/**
 * Longest pause for an overloaded receiver. The record that it refused still waits as long as it
 * asked.
 */
export const SLOW_MS_MAX = 3_600_000;
/** Pause after an outcome could not be stored. */
const STORE_FAILED_MS = 60_000;

/** A way to send records of one kind. */
interface Sender<K extends OutboxKind> {
  readonly kind: K;
  /** Makes one attempt; `stop` cuts it short. */
  send(
    record: Extract<OutboxRecord, { kind: K }>,
    now: number,
    stop: AbortSignal,
  ): Promise<Outcome>;
  close(): Promise<void>;
}

interface DelivererOptions<K extends OutboxKind> {
  readonly store: Store;
  readonly log: Log;
  readonly sender: Sender<K>;
  /** Asked before each check of the outbox. While false, nothing is sent, and other servers may. */
  readonly ready?: () => boolean;
  /** Called when the receiver answered that it is gone. */
  readonly gone?: (transaction: StoreTransaction, now: number) => void;
  /** Gives the lease by which one of the servers on a store sends. */
  readonly lease?: (name: string) => Lease;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** A random number from 0 to below 1. */
  readonly random?: () => number;
}

/** Attempts the records of one kind that are due, postpones them or gives them up. */
export class Deliverer<K extends OutboxKind> {
  readonly #options: DelivererOptions<K>;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  readonly #underWay = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #closing = false;
  #pausedUntil = 0;
  #slow = false;
  #unreadable = false;
  #lease: Lease | null = null;

  constructor(options: DelivererOptions<K>) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
  }

  /** Begins to send. */
  start(): void {
    this.#options.store.watch(() => this.look());
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.look();
  }

  /** Starts attempts of records that are due, as far as the limit allows. */
  look(): void {
    const { sender, log, ready } = this.#options;
    try {
      if (this.#closing) return;
      if (ready?.() === false) this.#leave();
      else if (this.#mayStart() && !isLater(this.#pausedUntil, this.#now())) this.#startDue();
      this.#unreadable = false;
    } catch (error) {
      if (!this.#unreadable) {
        log.error('outbox unreadable', { kind: sender.kind, message: messageOf(error) });
      }
      this.#unreadable = true;
    }
  }

  /**
   * Resolves when no attempt is under way, including those of records that become due meanwhile.
   */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  /** Waits up to `graceMs` for attempts under way, cuts the others short, and closes the sender. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const grace = setTimeout(() => this.#stop.abort(), graceMs);
    await this.idle();
    clearTimeout(grace);
    await this.#options.sender.close();
    await this.#lease?.release();
  }

  /** Whether this server may send. Asks for the lease if there is one. */
  #mayStart(): boolean {
    const {
      lease,
      sender: { kind },
    } = this.#options;
    this.#lease ??= lease?.(`send-${kind}`) ?? null;
    return this.#lease?.held() !== false;
  }

  /** Gives up the lease once nothing is under way, so that another server can send. */
  #leave(): void {
    if (this.#underWay.size > 0) return;
    void this.#lease?.release();
    this.#lease = null;
  }

  #startDue(): void {
    const { store, sender } = this.#options;
    const now = this.#now();
    const most = this.#slow ? 1 : UNDER_WAY_MAX;
    let free = most - this.#underWay.size;
    if (free <= 0) return;
    // Records under way are still in the list, and those due first come first. The last record is
    // looked at too: a wrong clock may have put off one that is due.
    const last = lastOutbox(store, 'waiting', sender.kind);
    for (const record of [
      ...listOutbox(store, 'waiting', sender.kind, most + UNDER_WAY_MAX),
      ...(last === null ? [] : [last]),
    ]) {
      if (free === 0) return;
      if (isLater(record.dueAt, now) || this.#underWay.has(record.id)) continue;
      free -= 1;
      this.#underWay.set(record.id, this.#deliver(record));
    }
  }

  async #deliver(record: Extract<OutboxRecord, { kind: K }>): Promise<void> {
    const { store, sender, log } = this.#options;
    const outcome = await sender
      .send(record, this.#now(), this.#stop.signal)
      .catch((error: unknown) => failed(codeOf(error)));
    try {
      if (outcome.result === 'sent') await this.#sent(record, outcome.status);
      else if (outcome.result === 'dropped') await this.#dropped(record);
      else if (outcome.result !== 'interrupted') await this.#failed(record, outcome);
      store.refresh();
    } catch (error) {
      log.error('outcome not stored', {
        kind: sender.kind,
        id: record.id,
        message: messageOf(error),
      });
      this.#pausedUntil = this.#now() + STORE_FAILED_MS;
    }
    this.#underWay.delete(record.id);
    this.look();
  }

  /**
   * Stores an outcome. Quiet, because nothing keeps a copy of the outbox that a notice would
   * update.
   */
  #write(action: (transaction: StoreTransaction) => void): Promise<void> {
    return this.#options.store.write(action, { quiet: true });
  }

  async #sent(record: OutboxRecord, status: number): Promise<void> {
    const { kind, id, attempts } = record;
    this.#slow = false;
    await this.#write((transaction) => {
      settle(transaction, record);
    });
    this.#options.log.info('delivered', { kind, id, attempt: attempts + 1, status });
  }

  async #dropped(record: OutboxRecord): Promise<void> {
    const { kind, id } = record;
    await this.#write((transaction) => {
      settle(transaction, record);
    });
    this.#options.log.info('no longer to be sent', { kind, id });
  }

  async #failed(record: OutboxRecord, outcome: FailedOutcome): Promise<void> {
    const { log } = this.#options;
    const { kind, id } = record;
    const { result, retryAfterMs, slow, status, error } = outcome;
    const now = this.#now();
    const attempts = record.attempts + 1;
    if (slow) {
      this.#slow = true;
      const wait = Math.min(Math.max(SLOW_MS, retryAfterMs), SLOW_MS_MAX);
      this.#pausedUntil = Math.max(this.#pausedUntil, now + wait);
    }
    const due =
      result === 'refused'
        ? null
        : nextAttempt({ attempts, now, random: this.#random(), retryAfterMs });
    await this.#write((transaction) => {
      if (result === 'gone') this.#options.gone?.(transaction, now);
      if (due === null) bury(transaction, record, outcome, now);
      else postpone(transaction, record, outcome, due);
    });
    if (result === 'gone') log.error('the endpoint is gone and was disabled', { id });
    log.warn(due === null ? 'given up' : 'not delivered', {
      kind,
      id,
      attempt: attempts,
      status,
      error,
      next: due === null ? null : new Date(due).toISOString(),
    });
  }
}
