/**
 * Writes of a node to a store in PostgreSQL. Writes that wait together become one commit: under the
 * lock of the store, the node applies what others committed, runs the actions, stores their
 * changes, and commits. So every action sees the newest state of all nodes, and no two actions run
 * at the same time on any nodes.
 *
 * A turn is two exchanges with the database: the lock with what others committed, and the changes
 * with their COMMIT. A write that arrives during a commit requests the next turn at once, so that a
 * node with many writes waits for only one answer a turn.
 *
 * An action runs at most once. If the connection is lost before COMMIT is sent, nothing was done
 * and the write is refused. If it is lost after that, the next turn looks for the commit under the
 * lock, which is only free when the earlier transaction has ended.
 */
import { randomUUID } from 'node:crypto';
import type { Outcome } from '../batch.js';
import { StoreFault } from '../fault.js';
import {
  append,
  beginLocked,
  catchUp,
  commit,
  prune,
  readSince,
  type Batch,
  type Begun,
  type Position,
} from './change-log.js';
import { Connection, DatabaseError, faultOf } from './connection.js';
import { Pending, settlePending } from './pending.js';
import type { WriterOptions } from './replica.js';

/** Most writes in one commit. */
const COMMIT_WRITES_MAX = 1_000;
/** Waits after a turn that failed; each is twice the one before, up to the second value. */
const RETRY_MS = 50;
const RETRY_MS_MAX = 1_000;
const PRUNE_MS = 60_000;
/** Longest wait for writes under way when the store is closed. */
const CLOSE_MS_MAX = 4_000;

/** A commit whose outcome is unknown. */
interface Doubtful {
  readonly batch: string;
  readonly taken: readonly Pending[];
  readonly outcomes: readonly Outcome<unknown>[];
}

/** A turn that was requested behind the commit under way, on the same connection. */
interface Next {
  readonly connection: Connection;
  readonly position: Position;
  readonly begun: Promise<Begun>;
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
  /** During a commit: the connection and position from which the next turn can begin. */
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

  /** Whether this writer applies, or has applied, the commit that a notification reports. */
  covers(from: number): boolean {
    return (
      from !== 0 && (this.#isBeginning || this.#next !== null || from === this.#connection?.id)
    );
  }

  /** Whether the database could not be reached at the last attempt. */
  get isFailing(): boolean {
    return this.#failing;
  }

  /** From now on every wait for a write is limited. */
  leave(): void {
    this.#leaving = true;
    const doubted = this.#doubtful?.taken ?? [];
    for (const pending of [...this.#waiting, ...doubted]) pending.hasten();
    for (const pending of doubted) pending.doubt();
  }

  /** Waits a limited time for writes under way, and refuses the rest. */
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
        // Reported once for each time that the database cannot be reached.
        if (!this.#failing) this.#options.failed(error);
        this.#failing = true;
        await new Promise((resolve) => setTimeout(resolve, this.#retryMs));
        this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX);
      }
    }
    this.#connection?.hold(false);
    // Set here rather than when the promise is seen to be fulfilled, because another write may come
    // before that.
    this.#working = null;
  }

  async #open(): Promise<Connection> {
    if (this.#connection === null || this.#connection.ended) {
      const { place, isThere, replica, changed } = this.#options;
      this.#connection = await Connection.open(place, { use: 'write', isThere });
      // Much may be missing after a time without the database, and others need the lock meanwhile.
      await catchUp(this.#connection, replica, changed);
    }
    this.#connection.hold(true);
    return this.#connection;
  }

  /** Requests the turn behind the commit under way, if a write waits for it. */
  #askForNext(): void {
    if (this.#under === null || this.#next !== null || this.#waiting.length === 0) return;
    const { connection, position } = this.#under;
    const begun = beginLocked(connection, this.#options.place, position, null);
    // Awaited later, but not if the commit before it fails.
    begun.catch(() => undefined);
    this.#next = { ...this.#under, begun };
  }

  /** Begins a turn, requested or new. Null where the replica must be read again. */
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
    const { replica, changed, fresh } = this.#options;
    this.#isBeginning = true;
    const turn = await this.#begin().finally(() => {
      this.#isBeginning = false;
    });
    if (turn === null) return this.#options.load();
    const { connection, position, newest, found } = turn;
    const at = performance.now();
    let [last, batches] = [position, turn.batches];
    for (;;) {
      if (batches === null) return this.#loadAll(connection, found);
      if (replica.apply(batches)) changed();
      last = batches.at(-1) ?? last;
      if (last.seq >= newest) break;
      batches = await readSince(connection, last);
    }
    // The replica stays behind while it is read completely.
    if (replica.position.seq === last.seq) fresh(at);
    this.#settle(found);
    await this.#run(connection, last);
  }

  /** Reads the store anew, because the commits that the replica lacks were removed. */
  async #loadAll(connection: Connection, found: boolean): Promise<void> {
    await connection.run('ROLLBACK');
    // If the doubtful commit is missing, it may have existed or not.
    if (found) await this.#options.load();
    this.#settle(found ? true : null);
    if (!found) await this.#options.load();
  }

  /** Runs waiting actions in the transaction that was begun, on the state of a commit. */
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
    // The COMMIT has no effect if one of the statements fails, because then NOTIFY fails before it.
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
      // If the replica cannot apply it now, it is read later with the commits of others.
      this.#settle(true);
    }
  }

  /** Refuses the writes if the database reported the failure; else the outcome is unknown. */
  #refused(error: unknown): never {
    if (error instanceof DatabaseError && error.isAnswer) this.#settle(false, faultOf(error));
    throw error;
  }

  /** Passes the outcome of a doubtful commit on to its writes; null where it is unknown. */
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
