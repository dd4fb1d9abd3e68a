/**
 * What a server does about jobs that other servers made: takes them up when their server has gone,
 * cancels its own that others were asked to cancel, and counts the disk that they take.
 */
import { messageOf, type Log } from '../../log.js';
import { findJob, jobAccounts, listJobs, removeJob, type JobRecord } from '../../store/jobs.js';
import type { Store } from '../../store/store.js';
import type { OpenJob } from './open-job.js';
import type { JobOwnership } from './ownership.js';
import { checkpointOf } from './runner.js';
import type { JobSpace } from './space.js';

/** How old what is known of the disk that jobs of other servers take may be. */
const SPACE_MS = 5_000;

/** The jobs of this server. */
export interface OwnJobs {
  /** Whether a job is made or runs here. */
  isMine(id: string): boolean;
  open(): Iterable<OpenJob>;
  /** Goes on with a job that is this server's from now on. */
  take(record: JobRecord): void;
  cancel(record: JobRecord): Promise<unknown>;
}

export class Takeover {
  readonly #store: Store;
  readonly #space: JobSpace;
  readonly #log: Log;
  readonly #owned: JobOwnership;
  readonly #jobs: OwnJobs;
  #taking: Promise<void> | null = null;
  #stopping = false;
  #measuredAt = 0;

  constructor(
    { store, space, log }: { readonly store: Store; readonly space: JobSpace; readonly log: Log },
    owned: JobOwnership, jobs: OwnJobs,
  ) {
    this.#store = store;
    this.#space = space;
    this.#log = log;
    this.#owned = owned;
    this.#jobs = jobs;
  }

  /** Removes files that belong to no job, and takes up what no server has, now and later. */
  start(): void {
    // Looked at before the records: a job that is made meanwhile has its folder before its record.
    const { ids } = this.#space;
    const known = jobAccounts(this.#store);
    for (const id of ids) {
      if (!known.has(id) && !this.#owned.lives(this.#space.maker(id))) this.#space.remove(id);
    }
    for (const record of listJobs(this.#store)) this.#count(record);
    this.#owned.watch(() => void this.takeFree());
    this.#store.watch(() => this.#lookForCancelled());
    void this.takeFree();
  }

  /** Takes nothing up any more; resolves when nothing is on its way. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#taking;
  }

  /** Takes up what no server at work has. Never throws. */
  takeFree(): Promise<void> {
    this.#taking ??= this.#take().catch((error: unknown) => {
      this.#log.error('jobs not taken up', { message: messageOf(error) });
    }).finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  /** Removes jobs here that have ended so long ago, by the service's clock. Never throws. */
  async sweep(before: number): Promise<void> {
    try {
      for (const record of listJobs(this.#store)) {
        const { endedAt, endedOn = endedAt } = record;
        if (endedOn === null || endedOn > before || !this.#owned.isHere(record)) continue;
        await removeJob(this.#store, record);
        this.#space.remove(record.id);
      }
    } catch (error) {
      this.#log.error('jobs not swept', { message: messageOf(error) });
    }
  }

  /** Looks at what jobs of other servers take of the disk, where that was not done of late. */
  measure(): void {
    const now = performance.now();
    if (!this.#owned.shared || now - this.#measuredAt < SPACE_MS) return;
    this.#measuredAt = now;
    const accounts = jobAccounts(this.#store);
    for (const id of this.#space.look((each) => this.#jobs.isMine(each))) {
      const record = findJob(this.#store, accounts.get(id) ?? '', id);
      if (record !== null) this.#count(record);
    }
  }

  async #take(): Promise<void> {
    for (const { id, account } of this.#owned.free()) {
      if (this.#stopping) return;
      if (this.#jobs.isMine(id)) continue;
      const record = await this.#owned.claim({ id, account });
      if (record === null) continue;
      this.#space.measure(id);
      this.#count(record);
      this.#jobs.take(record);
    }
    this.#lookForCancelled();
  }

  /** Tells the disk whose a job is. */
  #count(record: JobRecord): void {
    const hasRows = record.endedAt === null || record.result !== null;
    const errors = hasRows ? checkpointOf(record)?.errorBytes ?? 0 : 0;
    if (this.#owned.isHere(record)) this.#space.own(record.id, record.account, errors);
  }

  #lookForCancelled(): void {
    for (const job of this.#jobs.open()) {
      if (job.cancelled || !this.#owned.isCancelled(job.record)) continue;
      this.#jobs.cancel(job.record).catch((error: unknown) => {
        this.#log.error('job not cancelled', { message: messageOf(error) });
      });
    }
  }
}
