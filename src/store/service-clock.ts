/**
 * The clock by which the age of stored records is determined. The machine's clock may jump by a
 * year in either direction, which must not delete anything. So this clock advances by the time that
 * the process has run, on a counter that no setting changes, and only by a limited time for while
 * it was stopped.
 *
 * ["meta", "clock"]   ClockRecord
 */
import { performance } from 'node:perf_hooks';
import { isObject } from '../base/json-object.js';
import { isOutOfReach } from './fault.js';
import type { StoreKey } from './format.js';
import { AGE_PREFIX, parseAge } from './idempotency-record.js';
import { listJobs } from './jobs.js';
import type { Store } from './store.js';

/** Key of the clock. */
export const CLOCK_KEY: StoreKey = ['meta', 'clock'];
/** Most time that a stop counts for, however long it was. */
export const STOP_MS_MAX = 3_600_000;
/** How often the clock is stored; a kill may set it back by this much. */
const CLOCK_SAVE_MS = 60_000;

interface ClockRecord {
  readonly v: 1;
  /** Time of this clock. */
  readonly at: number;
  /** Time of the machine's clock at that moment, in milliseconds since 1970. */
  readonly wall: number;
}

interface ClockOptions {
  /** The machine's clock, in milliseconds since 1970. */
  readonly wall?: () => number;
  /** A counter of milliseconds that nobody can set. */
  readonly uptime?: () => number;
  /** Called when the clock cannot be stored; storing is repeated. */
  readonly failed?: (error: unknown) => void;
  /** Whether other servers run on the store at the start, so that its clock never stopped. */
  readonly shared?: boolean;
}

function clockRecord(value: unknown): ClockRecord | null {
  if (!isObject(value)) return null;
  const { v, at, wall } = value;
  return v === 1 && typeof at === 'number' && typeof wall === 'number' ? { v, at, wall } : null;
}

/** The time of this clock when it was last stored; null when it never was. */
export function savedTime(reader: Pick<Store, 'list'>): number | null {
  return clockRecord(reader.list(CLOCK_KEY, 1)[0])?.at ?? null;
}

/** The latest time that a store of an earlier version mentions, for both clocks. */
function lastKnown(store: Store): ClockRecord | null {
  const age = store.last([AGE_PREFIX]);
  const times = listJobs(store).map(({ createdAt, endedAt }) => Math.max(createdAt, endedAt ?? 0));
  if (age !== undefined) times.push(parseAge(age).at);
  if (times.length === 0) return null;
  const at = times.reduce((latest, time) => Math.max(latest, time), 0);
  return { v: 1, at, wall: at };
}

/** Where the clock begins: at the last known time, plus as much as a stop may count for. */
function beginning(store: Store, wall: number, stopMax: number): number {
  const last = clockRecord(store.getSound(CLOCK_KEY)) ?? lastKnown(store);
  if (last === null) return wall;
  return last.at + Math.min(Math.max(wall - last.wall, 0), stopMax);
}

export class ServiceClock {
  readonly #store: Store;
  readonly #wall: () => number;
  readonly #uptime: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #from: number;
  readonly #startedAt: number;
  #stored = true;
  #saving: Promise<void> | null = null;

  /** Continues the clock of the store; in a new store it begins with the machine's time. */
  constructor(store: Store, options: ClockOptions = {}) {
    this.#store = store;
    this.#wall = options.wall ?? Date.now;
    this.#uptime = options.uptime ?? ((): number => performance.now());
    this.#failed = options.failed ?? ((): void => undefined);
    this.#startedAt = this.#uptime();
    // With other servers running, the clock was stored at most one interval ago.
    const stopMax = options.shared === true ? CLOCK_SAVE_MS : STOP_MS_MAX;
    this.#from = beginning(store, this.#wall(), stopMax);
    this.#timer = setInterval(() => void this.save(), CLOCK_SAVE_MS).unref();
  }

  /** Milliseconds that can only be compared with this clock's own. Never decreases. */
  now(): number {
    return this.#from + Math.floor(this.#uptime() - this.#startedAt);
  }

  /** Whether the store accepted the clock when it was last stored. */
  get stored(): boolean {
    return this.#stored;
  }

  /** Stores the clock, which also shows whether the store accepts writes. Never throws. */
  save(): Promise<void> {
    this.#saving ??= this.#save().finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #save(): Promise<void> {
    try {
      // Of several servers, the clock that is ahead counts for all.
      const ahead = await this.#store.write(
        ({ put }) => {
          const now = this.now();
          const at = Math.max(now, clockRecord(this.#store.getSound(CLOCK_KEY))?.at ?? 0);
          const record: ClockRecord = { v: 1, at, wall: this.#wall() };
          put(CLOCK_KEY, record);
          return at - now;
        },
        { quiet: true },
      );
      this.#from += ahead;
      this.#stored = true;
    } catch (error) {
      // For a database that cannot be reached, the age of the replica already shows it.
      if (!isOutOfReach(error)) this.#stored = false;
      this.#failed(error);
    }
  }

  /** Stores the clock a last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }
}
