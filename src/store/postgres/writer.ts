/**
 * Writes of a node. Those that wait together are one commit: under the lock of the store the node
 * takes over what others committed, runs the actions on it, writes down what they changed, and
 * commits. So every action sees the newest state of all nodes, and no two run at once anywhere.
 *
 * An action runs once at most. Where the connection is cut before COMMIT is sent, nothing was done
 * and its write is refused; where it is cut after it, the next turn asks under the lock, which
 * nobody gets before the earlier transaction has ended, whether the commit is there.
 */
import { randomUUID } from 'node:crypto';
import { StoreFault } from '../fault.js';
import { append, beginLocked, commit, prune, type Batch } from './change-log.js';
import { Connection, DatabaseError } from './connection.js';
import type { DatabasePlace } from './place.js';
import { Pending } from './pending.js';
import type { Outcome, Replica } from './replica.js';

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
  readonly outcomes: readonly Outcome[];
}

export interface WriterOptions {
  readonly place: DatabasePlace;
  readonly replica: Replica;
  /** Reads everything anew; the commits that the replica needs are not known any more. */
  readonly load: () => Promise<void>;
  /** Told after each change of the replica that another node made. */
  readonly changed: () => void;
  /** Told of the moment, as `performance.now`, as of which the replica is the newest. */
  readonly fresh: (at: number) => void;
  readonly failed: (error: unknown) => void;
}

function settle(pending: Pending, outcome: Outcome): void {
  if (outcome.kind === 'done') pending.done(outcome.result);
  else pending.fail(outcome.error);
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

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  write(action: () => unknown, certain: boolean): Promise<unknown> {
    if (this.#closing) return Promise.reject(new StoreFault('unreachable'));
    const pending = new Pending(action, certain && !this.#leaving, (late) => this.#refuse(late));
    this.#waiting.push(pending);
    this.#working ??= this.#work();
    return pending.promise;
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
    while (this.#waiting.length > 0 || this.#doubtful !== null) {
      try {
        await this.#turn();
        this.#retryMs = RETRY_MS;
        this.#failing = false;
      } catch (error) {
        this.#connection?.close();
        this.#connection = null;
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
      this.#connection = await Connection.open(this.#options.place, { use: 'write' });
    }
    this.#connection.hold(true);
    return this.#connection;
  }

  async #turn(): Promise<void> {
    const { place, replica, load, changed, fresh } = this.#options;
    const connection = await this.#open();
    const { position } = replica;
    if (position.seq < 0) return load();
    const asked = this.#doubtful?.batch ?? null;
    const { batches, found } = await beginLocked(connection, place, position, asked);
    const at = performance.now();
    if (batches === null) {
      await connection.run('ROLLBACK');
      // Commits that old are forgotten: of one that is not there nobody knows whether it was.
      if (found) await load();
      this.#settle(found ? true : null);
      return found ? undefined : load();
    }
    if (replica.apply(batches)) changed();
    this.#settle(found);
    await this.#run(connection, batches.at(-1)?.seq ?? position.seq);
    fresh(at);
  }

  /** Runs what waits, in the transaction that was begun, on the state of a commit. */
  async #run(connection: Connection, seq: number): Promise<void> {
    const { replica } = this.#options;
    const asked = this.#waiting.slice(0, COMMIT_WRITES_MAX);
    const attempt = replica.attempt(seq, asked.map(({ action }) => action));
    if (attempt === null) return void await connection.run('ROLLBACK');
    const { outcomes, changes } = attempt;
    const taken = asked.slice(0, outcomes.length);
    this.#waiting = this.#waiting.slice(outcomes.length);
    for (const pending of taken) pending.begin();
    const batch: Batch = { seq: seq + 1, batch: randomUUID(), changes };
    try {
      if (changes.length === 0) await connection.run('ROLLBACK');
      else {
        await append(connection, batch);
        await this.#prune(connection, batch.seq);
      }
    } catch (error) {
      for (const pending of taken) pending.fail(faultOf(error));
      throw error;
    }
    if (changes.length > 0) await this.#commit(connection, batch, { taken, outcomes });
    else taken.forEach((pending, at) => settle(pending, outcomes[at]!));
  }

  async #commit(
    connection: Connection, batch: Batch, made: Omit<Doubtful, 'batch'>,
  ): Promise<void> {
    const { place, replica } = this.#options;
    this.#doubtful = { batch: batch.batch, ...made };
    try {
      await commit(connection, place);
    } catch (error) {
      for (const pending of made.taken) pending.doubt();
      throw error;
    }
    try {
      replica.apply([batch]);
    } finally {
      // What cannot be put into the replica now is read with what others commit.
      this.#settle(true);
    }
  }

  /** Tells those who wait for a doubtful commit what became of it; null where nobody knows. */
  #settle(found: boolean | null): void {
    const doubtful = this.#doubtful;
    if (doubtful === null) return;
    this.#doubtful = null;
    doubtful.taken.forEach((pending, at) => {
      if (found === true) settle(pending, doubtful.outcomes[at]!);
      else pending.fail(new StoreFault(found === null ? 'unknown' : 'unreachable'));
    });
  }

  async #prune(connection: Connection, seq: number): Promise<void> {
    if (performance.now() - this.#prunedAt < PRUNE_MS) return;
    this.#prunedAt = performance.now();
    await prune(connection, seq);
  }
}
