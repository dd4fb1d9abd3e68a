/**
 * What a server does about jobs that other servers made: takes them up when their server has gone,
 * cancels its own that others were asked to cancel, and counts the disk that they take.
 */
import { messageOf, type Log } from '../../log.js';
import { findJob, jobAccounts, listJobs, removeJob, type JobRecord } from '../../store/jobs.js';
import type { Store } from '../../store/store.js';
import type { JobOwnership } from './ownership.js';
import { begunAnew, type JobKeeper } from './job-keeper.js';
import { checkpointOf, type OpenJob } from './open-job.js';
import type { JobReleases } from './runner.js';
import type { JobSpace } from './space.js';

/** How old what is known of the disk that jobs of other servers take may be. */
const SPACE_MS = 5_000;
/** How long a job is left to the servers of its folder, one of which may start again. */
const LEFT_MS = 5_000;

/** The jobs of this server. */
interface OwnJobs {
  /** Whether a job is made or runs here. */
  isMine(id: string): boolean;
  open(): Iterable<OpenJob>;
  /** Goes on with a job that is this server's from now on. */
  take(record: JobRecord): void;
  cancel(record: JobRecord): Promise<unknown>;
}

interface TakeoverOptions {
  readonly store: Store;
  readonly space: JobSpace;
  readonly log: Log;
  readonly releases: JobReleases;
}

export class Takeover {
  readonly #store: Store;
  readonly #space: JobSpace;
  readonly #log: Log;
  readonly #releases: JobReleases;
  readonly #keeper: JobKeeper;
  /** Jobs of other folders that no server has, and since when. */
  readonly #left = new Map<string, number>();
  readonly #owned: JobOwnership;
  readonly #jobs: OwnJobs;
  #taking: Promise<void> | null = null;
  #stopping = false;
  #measuredAt = 0;

  constructor(
    { store, space, log, releases }: TakeoverOptions,
    keeper: JobKeeper,
    owned: JobOwnership,
    jobs: OwnJobs,
  ) {
    this.#releases = releases;
    this.#keeper = keeper;
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
    this.#taking ??= this.#take()
      .catch((error: unknown) => {
        this.#log.error('jobs not taken up', { message: messageOf(error) });
      })
      .finally(() => {
        this.#taking = null;
      });
    return this.#taking;
  }

  /** Removes jobs here that have ended so long ago, by the service's clock. Never throws. */
  async sweep(before: number): Promise<void> {
    try {
      for (const record of listJobs(this.#store)) {
        const { id, endedAt, endedOn = endedAt } = record;
        const [isHere, isKept] = [this.#owned.isHere(record), this.#keeper.has(record)];
        if (endedOn !== null && endedOn <= before && (isHere || isKept)) {
          await removeJob(this.#store, record);
          if (isKept) this.#keeper.forget(id);
          this.#space.remove(id);
        } else if (isKept && !isHere && !this.#left.has(id) && !this.#jobs.isMine(id)) {
          // What is left of it here, or was brought for a download.
          this.#space.remove(id);
        }
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
    const free = this.#owned.free();
    for (const id of this.#left.keys()) {
      if (!free.some((record) => record.id === id)) this.#left.delete(id);
    }
    for (const found of free) {
      const { id } = found;
      if (this.#stopping) return;
      if (this.#jobs.isMine(id)) continue;
      const record = this.#owned.isHere(found)
        ? await this.#owned.claim(found)
        : await this.#adopt(found);
      if (record === null) continue;
      this.#space.measure(id);
      this.#count(record);
      this.#jobs.take(record);
    }
    this.#lookForCancelled();
  }

  /** Takes over a job whose files lie elsewhere, once its upload is here. Never throws. */
  async #adopt(record: JobRecord): Promise<JobRecord | null> {
    const { id, dataset } = record;
    const now = performance.now();
    const since = this.#left.get(id) ?? now;
    this.#left.set(id, since);
    if (now - since < LEFT_MS) {
      setTimeout(() => void this.takeFree(), LEFT_MS).unref();
      return null;
    }
    let taken: JobRecord | null = null;
    try {
      const release = await this.#releases.borrow(dataset);
      if (release === null) return null;
      this.#releases.unpin(release);
      const modifiedMs = await this.#keeper.bringUpload(record, this.#owned.id);
      if (modifiedMs === null) return null;
      taken = await this.#owned.claim(record, (before) => begunAnew(before, modifiedMs));
      if (taken !== null) this.#log.info('job taken over', { job: id });
    } catch (error) {
      this.#log.warn('job not taken over', { job: id, message: messageOf(error) });
    } finally {
      if (taken === null) this.#space.remove(id);
    }
    return taken;
  }

  /** Tells the disk whose a job is. */
  #count(record: JobRecord): void {
    const hasRows = record.endedAt === null || record.result !== null;
    const errors = hasRows ? (checkpointOf(record)?.errorBytes ?? 0) : 0;
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
