/**
 * Limits by client address. Each table has a fixed size: an address takes up to about 1 KiB and
 * 10,000 are remembered, so that a table stays below 16 MiB. When more addresses come, the one that
 * asked longest ago is forgotten: the limits are against single fast clients, not against a crowd.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { Log } from '../log.js';
import { ExactWindow } from './rate-window.js';

/** How many addresses a table remembers. */
export const CLIENTS_MAX = 10_000;

/** How many requests an address may make to the public catalogue in a rolling minute. */
export const CATALOGUE_RATE = 100;

/** How many requests with invalid keys an address may make in a window and still get a 401. */
export const FAILED_KEYS_MAX = 100;
/** The length of that window, which begins with the first failure. */
export const FAILED_KEYS_WINDOW_MS = 60_000;

/** Groups of an IPv6 address that name a network; whoever has one has all addresses in it. */
const NETWORK_GROUPS = 4;
const MAPPED = /^(?:0{1,4}:){5}ffff:|^::ffff:/i;

/**
 * Whom an address is counted as: the IPv4 address, or the /64 network of an IPv6 address, which the
 * native server writes in full.
 */
export function clientOf(address: string): string {
  if (!address.includes(':') || MAPPED.test(address)) return address;
  return address.split(':').slice(0, NETWORK_GROUPS).join(':');
}

/** A value for each client address that asked lately. */
class ClientTable<T extends object> {
  readonly #clients = new LRUCache<string, T>({ max: CLIENTS_MAX });

  get size(): number {
    return this.#clients.size;
  }

  /** Replaces the value of an address by `next` of it, and marks the address as the last to ask. */
  replace(address: string, next: (known: T | undefined) => T): T {
    const client = clientOf(address);
    const known = this.#clients.get(client);
    const value = next(known);
    if (value !== known) this.#clients.set(client, value);
    return value;
  }
}

/** Counts for several processes that share one address and one limit. */
export interface SharedClients {
  /** How many processes there are. */
  readonly count: number;
  /** Does what `ClientGate.take` does, for all processes; null when nobody answers. */
  take(client: string): Promise<number | null>;
  /** Does what `GuessGuard.refusedMs` does, for all processes; null when nobody answers. */
  refusedMs(client: string): Promise<number | null>;
}

/** Limits the requests of each client address to the public catalogue. */
export class ClientGate {
  readonly #windows = new ClientTable<ExactWindow>();
  readonly #now: () => number;
  readonly #shared: SharedClients | null;
  /** How many requests this process admits by itself: its share of the limit. */
  readonly #limit: number;

  constructor(now: () => number = () => performance.now(), shared: SharedClients | null = null) {
    this.#now = now;
    this.#shared = shared;
    this.#limit = Math.max(1, Math.floor(CATALOGUE_RATE / (shared?.count ?? 1)));
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** Admits one request of an address and returns how many remain, or REFUSED. */
  take(address: string): number {
    const window = this.#windows.replace(address, (known) => known ?? new ExactWindow());
    return window.take(this.#now(), this.#limit);
  }

  /**
   * Admits one request of an address under the limit that all processes share; returns how many
   * remain, or REFUSED. Null where this is the only process.
   */
  ask(address: string): Promise<number> | null {
    if (this.#shared === null) return null;
    return this.#shared.take(clientOf(address)).then((left) => left ?? this.take(address));
  }
}

interface Failures {
  readonly since: number;
  count: number;
  /** Until when the other processes refuse this address. */
  until: number;
}

/** Counts the recent requests of each client address that came with invalid keys. */
export class GuessGuard {
  readonly #failures = new ClientTable<Failures>();
  #refused = 0;
  readonly #now: () => number;
  readonly #shared: SharedClients | null;

  constructor(now: () => number = () => performance.now(), shared: SharedClients | null = null) {
    this.#now = now;
    this.#shared = shared;
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#failures.size;
  }

  /** Returns how many requests came with invalid keys since the last call. */
  take(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }

  /** Counts one failure of an address; true when it has had more than it may. */
  failed(address: string): boolean {
    this.#refused += 1;
    // The address is empty where the client has left.
    if (address === '') return false;
    const now = this.#now();
    const failures = this.#counted(address, now);
    if (failures.count > FAILED_KEYS_MAX || now < failures.until) return true;
    // The answer of the other processes is not waited for; it counts from the next failure on.
    void this.#shared?.refusedMs(clientOf(address)).then((milliseconds) => {
      if (milliseconds !== null && milliseconds > 0) failures.until = now + milliseconds;
    });
    return false;
  }

  /** Counts one failure of an address, and returns for how many milliseconds it is refused. */
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

/** How often refused keys are logged. */
const TELL_MS = 60_000;

/** Logs how many keys were refused, in a line a minute at most, so that guessing leaves a trace. */
export class GuessWatch {
  readonly #guard: GuessGuard;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;

  constructor(guard: GuessGuard, log: Log) {
    this.#guard = guard;
    this.#log = log;
    this.#timer = setInterval(() => this.tell(), TELL_MS).unref();
  }

  /** Logs the refusals since the last call. */
  tell(): void {
    const refused = this.#guard.take();
    if (refused > 0) this.#log.warn('keys refused', { refused });
  }

  close(): void {
    clearInterval(this.#timer);
    this.tell();
  }
}
