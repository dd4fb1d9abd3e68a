/**
 * The servers of one store: each gives signs of life, observes those of the others by its own
 * clock, and takes over what none of them holds. No clock of another machine is trusted. A server
 * whose sign does not change for ten seconds counts as gone; one that could not give its own for
 * eight seconds acts as if it held nothing.
 */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { dropLease, findNode, listNodes, nodeKey, type NodeRecord, takeLease } from './nodes.js';
import { hasEnded, ownMark, type ProcessMark } from './process-mark.js';
import type { Store, StoreTransaction } from './store.js';

/** How often a server gives a sign of life. */
const BEAT_MS = 3_000;
/** How often it reads the signs of the others. */
const LOOK_MS = 500;
/** A server without a new sign for this long counts as gone. */
export const SILENT_MS = 10_000;
/** A server that could not give a sign for this long holds nothing any more. */
const FRESH_MS = 8_000;

const ID_BYTES = 8;

interface MembershipOptions {
  /** Name of its folder for jobs. */
  readonly place?: string;
  /** Called once when a sign cannot be given; giving it is repeated. */
  readonly failed?: (error: unknown) => void;
  /** A clock in milliseconds that nobody can set. Replaced in tests, as is `wall`. */
  readonly uptime?: () => number;
  readonly mark?: ProcessMark;
}

/** The right to something that only one server does at a time. */
export interface Lease {
  /** Whether this server has the right now. */
  held(): boolean;
  /** Gives the right up to the other servers. */
  release(): Promise<void>;
}

interface Seen {
  readonly beat: number;
  /** When this beat was first seen, by this server's clock. */
  readonly at: number;
}

export class Membership {
  readonly id = randomBytes(ID_BYTES).toString('hex');
  readonly #store: Store;
  readonly #options: MembershipOptions;
  readonly #uptime: () => number;
  readonly #mark: ProcessMark;
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout;
  readonly #seen = new Map<string, Seen>();
  /** Names of leases that are asked for, each with a mark of its own for that request. */
  readonly #wanted = new Map<string, symbol>();
  #held: ReadonlySet<string> = new Set();
  readonly #changed = new Set<() => void>();
  #others: readonly NodeRecord[] = [];
  #beat = 0;
  /** When the latest sign that is in the store was given, by this server's clock. */
  #beatAt: number;
  #leaving = false;
  #over = false;
  #failing = false;
  #beating: Promise<void> | null = null;

  private constructor(store: Store, options: MembershipOptions) {
    this.#store = store;
    this.#options = options;
    this.#uptime = options.uptime ?? ((): number => performance.now());
    this.#mark = options.mark ?? ownMark();
    this.#beatAt = this.#uptime();
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Adds this server to those of a store. @throws StoreFault where the store accepts no writes. */
  static async join(store: Store, options: MembershipOptions = {}): Promise<Membership> {
    const membership = new Membership(store, options);
    try {
      membership.#notice();
      await membership.#write();
      membership.#notice();
      return membership;
    } catch (error) {
      clearInterval(membership.#timer);
      throw error;
    }
  }

  /** The other servers, as of the last reading. */
  get others(): readonly NodeRecord[] {
    return this.#others;
  }

  /** Whether this server's signs of life reach the store, so that it may use its leases. */
  get fresh(): boolean {
    return !this.#over && this.#uptime() - this.#beatAt < FRESH_MS;
  }

  /** Calls `changed` when a server has come, has gone or is leaving. */
  watch(changed: () => void): void {
    this.#changed.add(changed);
  }

  /** Asks for a lease, which is taken as soon as it is free. */
  lease(name: string): Lease {
    if (!this.#wanted.has(name)) this.#wanted.set(name, Symbol());
    void this.beat();
    return {
      held: () => this.#held.has(name) && this.fresh,
      release: async () => {
        this.#wanted.delete(name);
        this.#held = new Set([...this.#held].filter((each) => each !== name));
        await this.#quietly((transaction) => dropLease(transaction, name, this.id));
      },
    };
  }

  /** Gives a sign of life now. Never throws. */
  async beat(): Promise<void> {
    if (this.#over) return;
    // The beat under way may have begun before what this one has to record.
    await this.#beating;
    this.#beating ??= this.#write()
      .then(
        () => {
          this.#failing = false;
        },
        (error: unknown) => this.#fail(error),
      )
      .finally(() => {
        this.#beating = null;
      });
    await this.#beating;
  }

  /** Accepts no more work; from now on other servers take over what this one held. */
  async resign(): Promise<void> {
    this.#leaving = true;
    await this.beat();
  }

  /** Removes this server; it holds nothing any more. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    this.#over = true;
    this.#held = new Set();
    await this.#quietly((transaction) => {
      this.#dropAll(transaction);
      transaction.remove(nodeKey(this.id));
    });
  }

  #dropAll(transaction: StoreTransaction): void {
    for (const name of this.#wanted.keys()) dropLease(transaction, name, this.id);
  }

  #look(): void {
    try {
      this.#notice();
    } catch (error) {
      this.#fail(error);
    }
    const due = this.#uptime() - this.#beatAt >= BEAT_MS;
    if ((due || this.#silent().length > 0) && this.#beating === null) void this.beat();
  }

  /** Records the signs of the others, and reports when one has come, has gone or is leaving. */
  #notice(): void {
    const now = this.#uptime();
    const before = this.#others;
    this.#others = listNodes(this.#store).filter(({ id }) => id !== this.id);
    for (const { id, beat } of this.#others) {
      if (this.#seen.get(id)?.beat !== beat) this.#seen.set(id, { beat, at: now });
    }
    for (const id of this.#seen.keys()) {
      if (!this.#others.some((other) => other.id === id)) this.#seen.delete(id);
    }
    const names = (nodes: readonly NodeRecord[]): string =>
      nodes.map(({ id, leaving }) => `${id}${leaving}`).join();
    if (names(before) === names(this.#others)) return;
    // The leases of a server that has gone are free.
    if (this.#wanted.size > this.#held.size) void this.beat();
    for (const changed of this.#changed) changed();
  }

  /** Servers that give no sign any more. */
  #silent(): readonly NodeRecord[] {
    const before = this.#uptime() - SILENT_MS;
    return this.#others.filter(
      (node) => (this.#seen.get(node.id)?.at ?? Infinity) <= before || hasEnded(node, this.#mark),
    );
  }

  async #write(): Promise<void> {
    // Taken before the write, since the others count from when they see its result.
    const at = this.#uptime();
    const silent = this.#silent();
    const beat = this.#beat + 1;
    const record: NodeRecord = {
      v: 1,
      id: this.id,
      beat,
      ...this.#mark,
      url: '',
      place: this.#options.place ?? '',
      leaving: this.#leaving,
      startedAt: this.#startedAt,
    };
    const wanted = [...this.#wanted];
    const taken = await this.#store.write(
      (transaction) => {
        for (const { id, beat: last } of silent) {
          if (findNode(transaction, id)?.beat === last) transaction.remove(nodeKey(id));
        }
        transaction.put(nodeKey(this.id), record);
        if (this.#leaving) this.#dropAll(transaction);
        return this.#leaving
          ? []
          : wanted.filter(([name]) => takeLease(transaction, name, this.id));
      },
      { quiet: true },
    );
    // A lease that was given up meanwhile is not held, even where it is asked for again.
    const isWanted = ([name, mark]: (typeof wanted)[number]): boolean =>
      this.#wanted.get(name) === mark;
    this.#held = new Set(taken.filter(isWanted).map(([name]) => name));
    [this.#beat, this.#beatAt] = [beat, at];
  }

  async #quietly(action: (transaction: StoreTransaction) => void): Promise<void> {
    await this.#store.write(action, { quiet: true }).catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (!this.#failing) this.#options.failed?.(error);
    this.#failing = true;
  }
}
