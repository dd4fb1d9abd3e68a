/**
 * Handles jobs that other servers created: takes them over when their server has ended, and counts
 * their disk space. Also cancels jobs of this server when others were asked to.
 */
import { messageOf, type Log } from '../../log.js';
import { isDoubtful } from '../../store/fault.js';
import { findJob, jobAccounts, listJobs, removeJob, type JobRecord } from '../../store/jobs.js';
import type { Store } from '../../store/store.js';
import type { JobOwnership } from './ownership.js';
import { begunAnew, type JobKeeper } from './job-keeper.js';
import { checkpointOf, type OpenJob } from './open-job.js';
import type { JobReleases } from './runner.js';
import type { JobSpace } from './space.js';

/** How old the measured disk space of other servers' jobs may be. */
const SPACE_MS = 5_000;
/** How long a job is left for the servers that share its folder, one of which may start again. */
const LEFT_MS = 5_000;

/** The jobs of this server. */
interface OwnJobs {
  /** Whether a job is being created or has not ended here. */
  isMine(id: string): boolean;
  open(): Iterable<OpenJob>;
  /** Continues with a job that this server now owns. */
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
  /** Jobs of other folders that no running server owns, and since when. */
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

  /** Removes files that belong to no job. Takes over free jobs, now and whenever a server ends. */
  start(): void {
    this.#removeUnknown();
    for (const record of listJobs(this.#store)) this.#count(record);
    this.#owned.watch(() => void this.takeFree());
    this.#store.watch(() => this.#lookForCancelled());
    void this.takeFree();
  }

  /** Stops taking jobs over; resolves when none is being taken over any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#taking;
  }

  /** Takes over jobs that no running server owns. Never throws. */
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

  /**
   * Removes jobs that ended before a time of the service's own clock and whose files this server
   * can remove, and files of jobs that others removed. Never throws.
   */
  async sweep(before: number): Promise<void> {
    try {
      if (!this.#store.isBehind) this.#removeUnknown();
      for (const record of listJobs(this.#store)) {
        const { id, endedAt, endedOn = endedAt } = record;
        const [isHere, isKept] = [this.#owned.isHere(record), this.#keeper.has(record)];
        if (endedOn !== null && endedOn <= before && (isHere || isKept)) {
          await removeJob(this.#store, record);
          this.#keeper.forget(record);
          this.#space.remove(id);
        } else if (isKept && !isHere && !this.#left.has(id) && this.#isIdle(id)) {
          // Remains of the job here, or its result, which was fetched for a download.
          this.#space.remove(id);
        }
      }
    } catch (error) {
      this.#log.error('jobs not swept', { message: messageOf(error) });
    }
  }

  /** Removes files of jobs that have no record. */
  #removeUnknown(): void {
    // Listed before the records are read, since a new job has its folder before its record.
    const { ids } = this.#space;
    const known = jobAccounts(this.#store);
    for (const id of ids) if (!known.has(id) && this.#isIdle(id)) this.#space.remove(id);
  }

  /** Whether no server writes files of a job in this folder. */
  #isIdle(id: string): boolean {
    if (this.#jobs.isMine(id) || this.#keeper.isBringing(id)) return false;
    return !this.#owned.lives(this.#space.maker(id));
  }

  /** Measures the disk space of other servers' jobs, unless that was done recently. */
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

  /** Takes over a job whose files are elsewhere, once its upload was fetched. Never throws. */
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
    let isDoubted = false;
    try {
      const release = await this.#releases.borrow(dataset);
      if (release === null) return null;
      this.#releases.unpin(release);
      const modifiedMs = await this.#keeper.bringUpload(record);
      if (modifiedMs === null) return null;
      taken = await this.#owned.claim(record, (before) => begunAnew(before, modifiedMs));
      if (taken !== null) this.#log.info('job taken over', { job: id });
    } catch (error) {
      isDoubted = isDoubtful(error);
      this.#log.warn('job not taken over', { job: id, message: messageOf(error) });
    } finally {
      // Where this server, or another of the same folder, may own the job now, it needs the upload.
      if (taken === null && !isDoubted && !this.#isHereNow(record)) this.#space.remove(id);
    }
    return taken;
  }

  #isHereNow({ account, id }: JobRecord): boolean {
    this.#store.refresh();
    const record = findJob(this.#store, account, id);
    return record !== null && this.#owned.isHere(record);
  }

  /** Records the account of a job for its disk space. */
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
