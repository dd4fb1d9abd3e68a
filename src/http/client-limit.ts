/**
 * Limits by client address. Each table is of a fixed size: an address takes up to about 1 KiB and
 * 10,000 are remembered, so that each stays below 16 MiB. When more come, the one that asked
 * longest ago is forgotten: they guard against haste, not against a crowd.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { Log } from '../log.js';
import { ExactWindow } from './rate-window.js';

/** Addresses that a table remembers. */
export const CLIENTS_MAX = 10_000;

/** Requests of one address to the public catalogue in a rolling minute. */
export const CATALOGUE_RATE = 100;

/** Requests with unusable keys of one address in a window that are still told so. */
export const FAILED_KEYS_MAX = 100;
/** From the first failure on. */
export const FAILED_KEYS_WINDOW_MS = 60_000;

/** Groups of an IPv6 address that name a network: whoever has one has all addresses in it. */
const NETWORK_GROUPS = 4;
const MAPPED = /^(?:0{1,4}:){5}ffff:|^::ffff:/i;

/**
 * Whom an address counts for: the IPv4 address, or the /64 network of an IPv6 address. The native
 * server writes IPv6 in full.
 */
export function clientOf(address: string): string {
  if (!address.includes(':') || MAPPED.test(address)) return address;
  return address.split(':').slice(0, NETWORK_GROUPS).join(':');
}

/** What is remembered of clients. */
class ClientTable<T extends object> {
  readonly #clients = new LRUCache<string, T>({ max: CLIENTS_MAX });

  get size(): number {
    return this.#clients.size;
  }

  /** What is known of an address, replaced by `next` of it, as the one that asked last. */
  replace(address: string, next: (known: T | undefined) => T): T {
    const client = clientOf(address);
    const known = this.#clients.get(client);
    const value = next(known);
    if (value !== known) this.#clients.set(client, value);
    return value;
  }
}

/** Where several processes have one address and one limit: whoever counts for all of them. */
export interface SharedClients {
  /** How many processes there are. */
  readonly count: number;
  /** What `ClientGate.take` says for all of them; null when nobody answers. */
  take(client: string): Promise<number | null>;
  /** What `GuessGuard.refusedMs` says for all of them; null when nobody answers. */
  refusedMs(client: string): Promise<number | null>;
}

/** The rate of each client address on the public catalogue. */
export class ClientGate {
  readonly #windows = new ClientTable<ExactWindow>();
  readonly #now: () => number;
  readonly #shared: SharedClients | null;
  /** What this process admits by itself: its part, where there are others. */
  readonly #limit: number;

  constructor(now: () => number = () => performance.now(), shared: SharedClients | null = null) {
    this.#now = now;
    this.#shared = shared;
    this.#limit = Math.max(1, Math.floor(CATALOGUE_RATE / (shared?.count ?? 1)));
  }

  /** Addresses remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** Admits one request of an address: how many remain, or REFUSED. */
  take(address: string): number {
    const window = this.#windows.replace(address, (known) => known ?? new ExactWindow());
    return window.take(this.#now(), this.#limit);
  }

  /**
   * Admits one request of an address among all processes that share the limit: how many remain, or
   * REFUSED. Null where this is the only process.
   */
  ask(address: string): Promise<number> | null {
    if (this.#shared === null) return null;
    return this.#shared.take(clientOf(address)).then((left) => left ?? this.take(address));
  }
}

interface Failures {
  readonly since: number;
  count: number;
  /** Until when others say that it has had more than it may. */
  until: number;
}

/** How many requests with keys that are none each client address made lately. */
export class GuessGuard {
  readonly #failures = new ClientTable<Failures>();
  #refused = 0;
  readonly #now: () => number;
  readonly #shared: SharedClients | null;

  constructor(now: () => number = () => performance.now(), shared: SharedClients | null = null) {
    this.#now = now;
    this.#shared = shared;
  }

  /** Addresses remembered. */
  get size(): number {
    return this.#failures.size;
  }

  /** Requests with keys that are none since this was last asked. */
  take(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }

  /** Counts one failure of an address; true when it has had more than it may. */
  failed(address: string): boolean {
    this.#refused += 1;
    // Nobody in particular: the client has gone.
    if (address === '') return false;
    const now = this.#now();
    const failures = this.#counted(address, now);
    if (failures.count > FAILED_KEYS_MAX || now < failures.until) return true;
    // Nothing waits for the others: what they know is known from the next failure on.
    void this.#shared?.refusedMs(clientOf(address)).then((milliseconds) => {
      if (milliseconds !== null && milliseconds > 0) failures.until = now + milliseconds;
    });
    return false;
  }

  /** Counts one failure: for how many milliseconds the address has had more than it may. */
  refusedMs(address: string): number {
    const now = this.#now();
    const { since, count } = this.#counted(address, now);
    return count > FAILED_KEYS_MAX ? since + FAILED_KEYS_WINDOW_MS - now : 0;
  }

  #counted(address: string, now: number): Failures {
    const failures = this.#failures.replace(address, (known) =>
      known === undefined || now - known.since >= FAILED_KEYS_WINDOW_MS
        ? { since: now, count: 0, until: known?.until ?? Number.NEGATIVE_INFINITY }
        : known,
    );
    failures.count += 1;
    return failures;
  }
}

/** How often the log is told of refused keys. */
const TELL_MS = 60_000;

/** Tells the log how many keys were refused, a line a minute at most: guessing leaves a trace. */
export class GuessWatch {
  readonly #guard: GuessGuard;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;

  constructor(guard: GuessGuard, log: Log) {
    this.#guard = guard;
    this.#log = log;
    this.#timer = setInterval(() => this.tell(), TELL_MS).unref();
  }

  /** Tells of those since it last did. */
  tell(): void {
    const refused = this.#guard.take();
    if (refused > 0) this.#log.warn('keys refused', { refused });
  }

  close(): void {
    clearInterval(this.#timer);
    this.tell();
  }
}
