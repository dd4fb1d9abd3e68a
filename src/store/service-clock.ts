/**
 * The clock that what is kept for a time is aged by. The machine's clock may jump by a year, either
 * way, and nothing may be deleted for that; so this one goes on by the time the process has run,
 * as a counter tells it that no clock setting moves, and by little for the time it was stopped.
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
/** What a stop counts at most, however long it was. */
export const STOP_MS_MAX = 3_600_000;
/** How often the clock is written down; what a kill may set it back by. */
const CLOCK_SAVE_MS = 60_000;

interface ClockRecord {
  readonly v: 1;
  /** What this clock showed. */
  readonly at: number;
  /** What the machine's clock showed then, in milliseconds since 1970. */
  readonly wall: number;
}

interface ClockOptions {
  /** Milliseconds since 1970, as the machine tells. */
  readonly wall?: () => number;
  /** Milliseconds that nobody can set. */
  readonly uptime?: () => number;
  /** Told when the clock cannot be written down; it is tried again. */
  readonly failed?: (error: unknown) => void;
  /** Whether other servers run on the store at the start: their clock goes on, nothing stopped. */
  readonly shared?: boolean;
}

function clockRecord(value: unknown): ClockRecord | null {
  if (!isObject(value)) return null;
  const { v, at, wall } = value;
  return v === 1 && typeof at === 'number' && typeof wall === 'number' ? { v, at, wall } : null;
}

/** What the service's own clock showed when it was last written down; null when it never was. */
export function savedTime(reader: Pick<Store, 'list'>): number | null {
  return clockRecord(reader.list(CLOCK_KEY, 1)[0])?.at ?? null;
}

/** The last time a store of an earlier version tells of, with that time as the machine's. */
function lastKnown(store: Store): ClockRecord | null {
  const age = store.last([AGE_PREFIX]);
  const times = listJobs(store).map(({ createdAt, endedAt }) => Math.max(createdAt, endedAt ?? 0));
  if (age !== undefined) times.push(parseAge(age).at);
  if (times.length === 0) return null;
  const at = times.reduce((latest, time) => Math.max(latest, time), 0);
  return { v: 1, at, wall: at };
}

/** Where the clock begins: at the last time known, and so much later as a stop may count. */
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

  /** Goes on where the store's clock was; on the machine's time in a new store. */
  constructor(store: Store, options: ClockOptions = {}) {
    this.#store = store;
    this.#wall = options.wall ?? Date.now;
    this.#uptime = options.uptime ?? ((): number => performance.now());
    this.#failed = options.failed ?? ((): void => undefined);
    this.#startedAt = this.#uptime();
    // Where others run it was written down a save ago at most.
    const stopMax = options.shared === true ? CLOCK_SAVE_MS : STOP_MS_MAX;
    this.#from = beginning(store, this.#wall(), stopMax);
    this.#timer = setInterval(() => void this.save(), CLOCK_SAVE_MS).unref();
  }

  /** Milliseconds, to be compared with this clock's own alone. Never less than before. */
  now(): number {
    return this.#from + Math.floor(this.#uptime() - this.#startedAt);
  }

  /** Whether the store took the clock when it was last written down. */
  get stored(): boolean {
    return this.#stored;
  }

  /** Writes the clock down, which also tells whether the store takes anything. Never throws. */
  save(): Promise<void> {
    this.#saving ??= this.#save().finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #save(): Promise<void> {
    try {
      // The clock of several servers is that of the one that is ahead.
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
      // Of a database that cannot be reached the age of what is known tells.
      if (!isOutOfReach(error)) this.#stored = false;
      this.#failed(error);
    }
  }

  /** Writes the clock down for the last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }
}
