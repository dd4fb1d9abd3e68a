/** Sends records of one kind from the outbox, as far as it is this server that does. */
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

/** How often the outbox is looked at when nothing else says so. */
const LOOK_MS = 250;
/** Attempts of a kind under way at once. */
export const UNDER_WAY_MAX = 4;
/** An overloaded receiver is left alone for this long, then asked by one attempt at a time. */
export const SLOW_MS = 30_000;
/** However long it asks for; what it refused waits as long as it said. */
export const SLOW_MS_MAX = 3_600_000;
/** After an outcome could not be stored. */
const STORE_FAILED_MS = 60_000;

/** One way of sending. */
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
  /** Asked before each look: false leaves everything where it is, and to other servers. */
  readonly ready?: () => boolean;
  /** The receiver answered that it is gone. */
  readonly gone?: (transaction: StoreTransaction, now: number) => void;
  /** Of servers on a store one sends: what tells whether it is this one. */
  readonly lease?: (name: string) => Lease;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

/** One kind's records: what is due is attempted, put off, or given up. */
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

  /** Starts what is due, as far as there is room. */
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

  /** Resolves when nothing is under way; what became due meanwhile is waited for too. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  /** Lets attempts under way end for so long, cuts the others short, and closes the sender. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const grace = setTimeout(() => this.#stop.abort(), graceMs);
    await this.idle();
    clearTimeout(grace);
    await this.#options.sender.close();
    await this.#lease?.release();
  }

  /** Whether this server is the one that sends, which it asks to be. */
  #mayStart(): boolean {
    const {
      lease,
      sender: { kind },
    } = this.#options;
    this.#lease ??= lease?.(`send-${kind}`) ?? null;
    return this.#lease?.held() !== false;
  }

  /** Leaves sending to a server that may, once nothing is under way. */
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
    // Those under way are still listed, and nothing else comes before them. What a wrong clock put
    // off for years is at the end.
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

  /** Stores an outcome; nobody keeps a copy of the outbox, so nobody is told. */
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
