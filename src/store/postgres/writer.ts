/**
 * Writes of a node. Those that wait together are one commit: under the lock of the store the node
 * takes over what others committed, runs the actions on it, writes down what they changed, and
 * commits. So every action sees the newest state of all nodes, and no two run at once anywhere.
 *
 * A turn is two exchanges with the database: the lock with what others committed, and the changes
 * with their COMMIT. A write that comes while a commit is under way asks for the next turn behind
 * it at once, so that a node with much to write waits for one answer a turn.
 *
 * An action runs once at most. Where the connection is cut before COMMIT is sent, nothing was done
 * and its write is refused; where it is cut after it, the next turn asks under the lock, which
 * nobody gets before the earlier transaction has ended, whether the commit is there.
 */
import { randomUUID } from 'node:crypto';
import type { Outcome } from '../batch.js';
import { StoreFault } from '../fault.js';
import {
  append,
  beginLocked,
  commit,
  prune,
  type Batch,
  type Begun,
  type Position,
} from './change-log.js';
import { Connection, DatabaseError } from './connection.js';
import { Pending, settlePending } from './pending.js';
import type { WriterOptions } from './replica.js';

/** Writes in one commit at most. */
const COMMIT_WRITES_MAX = 1_000;
/** Waits after a turn that failed, doubled up to the second. */
const RETRY_MS = 50;
const RETRY_MS_MAX = 1_000;
const PRUNE_MS = 60_000;
/** Longest wait for writes under way when the store is closed. */
const CLOSE_MS_MAX = 4_000;
/** SQLSTATEs of a database that cannot write: no disk or memory, an error of the disk. */
const UNWRITABLE = /^(53|58)/;

/** A commit of which nobody knows what became. */
interface Doubtful {
  readonly batch: string;
  readonly taken: readonly Pending[];
  readonly outcomes: readonly Outcome<unknown>[];
}

/** A turn that was asked for, behind the commit that its connection has under way. */
interface Next {
  readonly connection: Connection;
  readonly position: Position;
  readonly begun: Promise<Begun>;
}

/** The fault that stands for what the database said. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  return new StoreFault(UNWRITABLE.test(error.code) ? 'unwritable' : 'unreachable', error);
}

export class Writer {
  readonly #options: WriterOptions;
  #waiting: Pending[] = [];
  #connection: Connection | null = null;
  #doubtful: Doubtful | null = null;
  #working: Promise<void> | null = null;
  #leaving = false;
  #closing = false;
  #retryMs = RETRY_MS;
  #prunedAt = performance.now();
  #failing = false;
  /** Where a commit is under way: what the next turn begins on. */
  #under: Omit<Next, 'begun'> | null = null;
  #next: Next | null = null;
  #isBeginning = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  write(action: () => unknown, certain: boolean): Promise<unknown> {
    if (this.#closing) return Promise.reject(new StoreFault('unreachable'));
    const pending = new Pending(action, certain && !this.#leaving, (late) => this.#refuse(late));
    this.#waiting.push(pending);
    this.#working ??= this.#work();
    this.#askForNext();
    return pending.promise;
  }

  /** Whether it takes over by itself, or did, what a notification of a connection tells of. */
  covers(from: number): boolean {
    return (
      from !== 0 && (this.#isBeginning || this.#next !== null || from === this.#connection?.id)
    );
  }

  /** Whether the database was not reached the last time it was tried. */
  get isFailing(): boolean {
    return this.#failing;
  }

  /** From now on no write waits for ever. */
  leave(): void {
    this.#leaving = true;
    const doubted = this.#doubtful?.taken ?? [];
    for (const pending of [...this.#waiting, ...doubted]) pending.hasten();
    for (const pending of doubted) pending.doubt();
  }

  /** Waits for what is under way, not for ever, and refuses the rest. */
  async close(): Promise<void> {
    this.#closing = true;
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, CLOSE_MS_MAX).unref();
    });
    await Promise.race([this.#working, late]);
    for (const pending of this.#waiting) pending.fail(new StoreFault('unreachable'));
    this.#waiting = [];
    this.#settle(null);
    this.#connection?.close();
    await this.#working;
  }

  #refuse(pending: Pending): void {
    this.#waiting = this.#waiting.filter((each) => each !== pending);
    pending.fail(new StoreFault('unreachable'));
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0 || this.#doubtful !== null || this.#next !== null) {
      try {
        await this.#turn();
        this.#retryMs = RETRY_MS;
        this.#failing = false;
      } catch (error) {
        this.#connection?.close();
        this.#connection = null;
        this.#next = null;
        // Once for each time that it cannot be reached.
        if (!this.#failing) this.#options.failed(error);
        this.#failing = true;
        await new Promise((resolve) => setTimeout(resolve, this.#retryMs));
        this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX);
      }
    }
    this.#connection?.hold(false);
    // Here and not when the promise is known to be fulfilled: the next write may come before that.
    this.#working = null;
  }

  async #open(): Promise<Connection> {
    if (this.#connection === null || this.#connection.ended) {
      const { place, isThere } = this.#options;
      this.#connection = await Connection.open(place, { use: 'write', isThere });
    }
    this.#connection.hold(true);
    return this.#connection;
  }

  /** Asks for the turn behind the commit under way, where something waits for it. */
  #askForNext(): void {
    if (this.#under === null || this.#next !== null || this.#waiting.length === 0) return;
    const { connection, position } = this.#under;
    const begun = beginLocked(connection, this.#options.place, position, null);
    // Awaited later; where the commit before it fails it is not.
    begun.catch(() => undefined);
    this.#next = { ...this.#under, begun };
  }

  /** A turn: that which was asked for, or one that is now. Null where all has to be read anew. */
  async #begin(): Promise<(Omit<Next, 'begun'> & Begun) | null> {
    const next = this.#next;
    this.#next = null;
    if (next !== null && next.connection === this.#connection) {
      return { ...next, ...(await next.begun) };
    }
    const connection = await this.#open();
    const { position } = this.#options.replica;
    if (position.seq < 0) return null;
    const asked = this.#doubtful?.batch ?? null;
    const begun = await beginLocked(connection, this.#options.place, position, asked);
    return { connection, position, ...begun };
  }

  async #turn(): Promise<void> {
    const { replica, load, changed, fresh } = this.#options;
    this.#isBeginning = true;
    const turn = await this.#begin().finally(() => {
      this.#isBeginning = false;
    });
    if (turn === null) return load();
    const { connection, position, batches, found } = turn;
    const at = performance.now();
    if (batches === null) {
      await connection.run('ROLLBACK');
      // Commits that old are forgotten: of one that is not there nobody knows whether it was.
      if (found) await load();
      this.#settle(found ? true : null);
      return found ? undefined : load();
    }
    if (replica.apply(batches)) changed();
    const newest = batches.at(-1) ?? position;
    // It is behind where it is being read anew.
    if (replica.position.seq === newest.seq) fresh(at);
    this.#settle(found);
    await this.#run(connection, newest);
  }

  /** Runs what waits, in the transaction that was begun, on the state of a commit. */
  async #run(connection: Connection, { seq }: Position): Promise<void> {
    const { replica } = this.#options;
    const asked = this.#waiting.slice(0, COMMIT_WRITES_MAX);
    const attempt = replica.attempt(
      seq,
      asked.map(({ action }) => action),
    );
    if (attempt === null) return void (await connection.run('ROLLBACK'));
    const { outcomes, changes } = attempt;
    const taken = asked.slice(0, outcomes.length);
    this.#waiting = this.#waiting.slice(outcomes.length);
    for (const pending of taken) pending.begin();
    if (changes.length > 0) {
      const batch: Batch = { seq: seq + 1, batch: randomUUID(), changes };
      return this.#commit(connection, batch, { taken, outcomes });
    }
    try {
      await connection.run('ROLLBACK');
    } catch (error) {
      for (const pending of taken) pending.fail(faultOf(error));
      throw error;
    }
    taken.forEach((pending, at) => settlePending(pending, outcomes[at]!));
  }

  async #commit(
    connection: Connection,
    batch: Batch,
    made: Omit<Doubtful, 'batch'>,
  ): Promise<void> {
    const { place, replica } = this.#options;
    this.#doubtful = { batch: batch.batch, ...made };
    // Behind what failed there is no COMMIT: NOTIFY fails before it.
    const [written, committed] = connection.together(
      () =>
        [
          Promise.all([append(connection, batch), this.#prune(connection, batch.seq)]),
          commit(connection, place),
        ] as const,
    );
    committed.catch(() => undefined);
    this.#under = { connection, position: batch };
    this.#askForNext();
    try {
      await written.catch((error: unknown) => this.#refused(error));
      await committed;
    } catch (error) {
      for (const pending of made.taken) pending.doubt();
      throw error;
    } finally {
      this.#under = null;
    }
    try {
      replica.apply([batch]);
    } finally {
      // What cannot be put into the replica now is read with what others commit.
      this.#settle(true);
    }
  }

  /** What the database says of changes that it does not take; else nobody knows what became. */
  #refused(error: unknown): never {
    if (error instanceof DatabaseError && error.isAnswer) this.#settle(false, faultOf(error));
    throw error;
  }

  /** Tells those who wait for a doubtful commit what became of it; null where nobody knows. */
  #settle(found: boolean | null, fault?: unknown): void {
    const doubtful = this.#doubtful;
    if (doubtful === null) return;
    this.#doubtful = null;
    const kind = found === null ? 'unknown' : 'unreachable';
    doubtful.taken.forEach((pending, at) => {
      if (found === true) settlePending(pending, doubtful.outcomes[at]!);
      else pending.fail(fault ?? new StoreFault(kind));
    });
  }

  #prune(connection: Connection, seq: number): Promise<void> {
    if (performance.now() - this.#prunedAt < PRUNE_MS) return Promise.resolve();
    this.#prunedAt = performance.now();
    return prune(connection, seq);
  }
}
