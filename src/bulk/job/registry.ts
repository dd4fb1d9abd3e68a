/**
 * The jobs of a service: created, run a few at a time, and removed some days after their end.
 * Whatever a client is told of a job is on the disk, so it remains true after any stop.
 */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../../log.js';
import { errorCode } from '../../base/error-code.js';
import { isDoubtful } from '../../store/fault.js';
import {
  findJob,
  hasJobs,
  listJobs,
  removeJob,
  storeJob,
  type JobRecord,
} from '../../store/jobs.js';
import type { StoreTransaction } from '../../store/store.js';
import type { JobView } from '../row/job-body.js';
import type { Checkpoint } from '../run/checkpoint.js';
import type { FileRunEnd } from './file-run.js';
import { JobKeeper } from './job-keeper.js';
import { ENDED, JobLost, JobOwnership } from './ownership.js';
import { Takeover } from './takeover.js';
import {
  type JobCounts,
  type NewJob,
  type OpenJob,
  OpenJobs,
  queuedRecord,
  requestOf,
} from './open-job.js';
import { DAY_MS, viewOf } from './result.js';
import { isPassing, JobFault, type JobRegistryOptions, runJob } from './runner.js';

/** Most jobs of an account that have not ended, including those whose body is being received. */
export const JOBS_OPEN_MAX = 20;
/** Most jobs of an account that are stored. */
export const JOBS_KEPT_MAX = 500;
/** Most jobs that run at a time; each gets an equal share of the workers. */
export const JOBS_RUNNING_MAX = 4;
/** A job fails after so many failed attempts in a row without progress. */
const ATTEMPTS_MAX = 3;
/** How often old jobs are removed and waiting ones tried again. */
const JOBS_SWEEP_MS = 60_000;

const ID_BYTES = 12;

type Beside = (transaction: StoreTransaction) => void;

export class JobRegistry {
  readonly options: JobRegistryOptions;
  readonly keeper: JobKeeper;
  readonly #open = new OpenJobs(JOBS_RUNNING_MAX, (job) => this.#attempt(job));
  /** Accounts of uploads that are under way, by id of their job. */
  readonly #uploads = new Map<string, string>();
  readonly #owned: JobOwnership;
  #timer: NodeJS.Timeout | null = null;
  readonly #takeover: Takeover;

  constructor(options: JobRegistryOptions) {
    const { store, space, place = '', member = null, files = null } = options;
    this.options = options;
    this.#owned = new JobOwnership(store, place, member, files?.name);
    this.keeper = new JobKeeper(files, space, this.#owned.id);
    this.#takeover = new Takeover(options, this.keeper, this.#owned, {
      // A new job is reserved in `#uploads` until its record is entered in `#open`.
      isMine: (id) => this.#open.has(id) || this.#uploads.has(id),
      open: () => this.#open.values(),
      take: (record) => this.#open.enter(record),
      cancel: (record) => this.remove(record),
    });
  }
  /** How many jobs run and wait. */
  get counts(): JobCounts {
    return this.#open.counts;
  }

  /** Continues interrupted jobs, and removes files that belong to no job. */
  start(): void {
    this.#timer = setInterval(() => void this.sweep(), JOBS_SWEEP_MS).unref();
    this.#takeover.start();
  }

  /** Pauses running jobs; resolves when every checkpoint is saved. */
  async stop(): Promise<void> {
    this.#open.stopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#takeover.stop();
    for (const { run } of this.#open.values()) run?.pause();
    await Promise.all([...this.#open.values()].map(({ over }) => over));
  }

  /** The limit that leaves an account no further job; null when there is room. */
  full(account: string): number | null {
    const own = [...this.#open.values()].map(({ record }) => record);
    const open =
      (this.#owned.shared ? this.list(account) : own).filter(
        (record) => record.account === account && !ENDED.has(record.state),
      ).length + [...this.#uploads.values()].filter((uploading) => uploading === account).length;
    if (open >= JOBS_OPEN_MAX) return JOBS_OPEN_MAX;
    return hasJobs(this.options.store, account, JOBS_KEPT_MAX) ? JOBS_KEPT_MAX : null;
  }

  /** Makes the folder for a new job. `create` or `drop` must follow. */
  reserve(account: string): string {
    const id = `job_${randomBytes(ID_BYTES).toString('hex')}`;
    this.#takeover.measure();
    this.options.space.make(id, account, this.#owned.id);
    this.#uploads.set(id, account);
    return id;
  }

  /** Gives up a reserved job. */
  drop(id: string): void {
    this.#uploads.delete(id);
    this.options.space.remove(id);
  }

  /** Creates a job of a reserved id; its files are durable. `beside` joins the transaction. */
  async create(
    job: NewJob,
    beside: (transaction: StoreTransaction, view: JobView) => void,
  ): Promise<void> {
    const record = queuedRecord(job, this.#owned, this.options.now());
    try {
      await storeJob(this.options.store, record, (transaction) => {
        beside(transaction, this.view(record));
      });
    } catch (error) {
      this.#uploads.delete(job.id);
      // A job that may be stored keeps its files, and is taken up once the store shows it.
      if (!isDoubtful(error)) this.#removeFiles(record);
      throw error;
    }
    this.#uploads.delete(job.id);
    this.#open.enter(record);
  }

  /** A job of an account; null when it has no such job. @throws StoreFault as `vouchForNone` */
  find(account: string, id: string): JobRecord | null {
    return findJob(this.options.store, account, id) ?? this.options.store.vouchForNone();
  }

  list(account: string): readonly JobRecord[] {
    return listJobs(this.options.store, account);
  }

  view(record: JobRecord): JobView {
    return viewOf(record, this.options.days);
  }

  /** Cancels a job that has not ended and returns its record, or removes one that has ended. */
  async remove(record: JobRecord): Promise<JobRecord | null> {
    const { store } = this.options;
    const job = this.#open.get(record.id);
    if (job === undefined && !ENDED.has(record.state) && this.#owned.isElsewhere(record)) {
      const left = await this.#owned.cancel(record);
      if (left === null || left.state === 'cancelled') return left;
    }
    if (job !== undefined) {
      job.cancelled = true;
      job.run?.pause();
      await job.over;
      // If the job has ended in the meantime, it is removed below.
      if (this.#open.has(record.id)) {
        return this.#end(job, { state: 'cancelled' }).catch((error: unknown) => {
          job.cancelled = false;
          throw error;
        });
      }
    }
    const left = findJob(store, record.account, record.id);
    if (left?.state === 'cancelled' && !ENDED.has(record.state)) return left;
    await removeJob(store, record);
    this.#removeFiles(record);
    this.#open.release();
    return null;
  }

  /** Removes jobs that have ended long ago, and tries waiting ones again. Never throws. */
  async sweep(): Promise<void> {
    const { age, days } = this.options;
    await this.#takeover.sweep(age() - days * DAY_MS);
    this.#open.release();
    await this.#takeover.takeFree();
  }

  async #attempt(job: OpenJob): Promise<void> {
    const startedAt = job.record.startedAt ?? this.options.now();
    try {
      await this.#put(job, { state: 'running', startedAt, reason: null });
      const end = await runJob(
        { ...this.options, fence: () => this.#owned.fence() },
        job.record,
        (checkpoint, beside) => this.#save(job, checkpoint, beside),
        (run) => {
          job.run = run;
          if (this.#open.stopping || job.cancelled) run.pause();
        },
      );
      await this.#conclude(job, end);
    } catch (error) {
      await this.#failed(job, error);
    }
  }

  async #put(job: OpenJob, change: Partial<JobRecord>, beside?: Beside): Promise<void> {
    const record = { ...job.record, ...change };
    await this.#owned.put(record, beside);
    job.record = record;
  }

  /** Returns false when the job is not to continue. */
  async #save(job: OpenJob, checkpoint: Checkpoint, beside: Beside): Promise<boolean> {
    await this.#put(job, { checkpoint: JSON.stringify(checkpoint) }, beside);
    job.attempts = 0;
    return this.options.keyOf(job.record.keyId) !== null;
  }

  async #conclude(job: OpenJob, end: FileRunEnd): Promise<void> {
    if (end.kind === 'paused') {
      // A job whose key was removed is tried once more, and fails then.
      await this.#put(job, { state: 'queued' });
    } else if (end.kind === 'broken') await this.#retry(job, end.message);
    else if (end.kind === 'refused') {
      await this.#end(job, { state: 'failed', reason: end.refused.detail });
    } else {
      const { bytes, sha256 } = end;
      const { stopped } = end.end;
      const dropped = stopped !== null && requestOf(job.record).strict;
      if (dropped) await this.options.space.removeOutput(job.record.id);
      // Stored at the broker before the job ends, so that its result outlives this server.
      const kept = await this.keeper.keepResult(job.record, dropped ? null : bytes);
      await this.#end(job, {
        state: stopped === null ? 'done' : 'failed',
        stopped,
        ...(kept === '' ? {} : { kept }),
        reason: stopped?.message ?? null,
        result: dropped ? null : { bytes, sha256 },
      });
    }
  }

  async #retry(job: OpenJob, message: string): Promise<void> {
    job.attempts += 1;
    if (job.attempts >= ATTEMPTS_MAX) {
      await this.#end(job, { state: 'failed', reason: message });
      return;
    }
    job.held = true;
    await this.#put(job, { state: 'queued', reason: message });
  }

  /** Ends a job, and removes files that it no longer needs. */
  async #end(job: OpenJob, change: Partial<JobRecord>): Promise<JobRecord> {
    const { space, now, age, log } = this.options;
    await this.#put(job, { ...change, endedAt: now(), endedOn: age() });
    const { id, result } = job.record;
    this.#open.delete(id);
    this.keeper.ended(job.record);
    await space.removeUnneeded(id, result !== null, log);
    return job.record;
  }

  async #failed(job: OpenJob, error: unknown): Promise<void> {
    const { log } = this.options;
    const message = messageOf(error);
    try {
      if (error instanceof JobLost) return this.#lose(job);
      if (error instanceof JobFault) await this.#end(job, { state: 'failed', reason: message });
      else if (isPassing(error)) {
        job.held = true;
        // A message of the operating system may have a path, so only the operator's log gets it.
        const ofSystem = errorCode(error) !== '';
        if (ofSystem) log.warn('job waits', { job: job.record.id, message });
        const reason = ofSystem ? 'The disk is full or failed; the job waits.' : message;
        await this.#put(job, { state: 'queued', reason });
      } else {
        log.error('job failed', { job: job.record.id, message });
        await this.#retry(job, 'The service failed to run the job.');
      }
    } catch (fault) {
      if (fault instanceof JobLost) return this.#lose(job);
      // The store cannot be written: the record stays at its last checkpoint, and is tried again.
      job.held = true;
      log.error('job not stored', { job: job.record.id, message: messageOf(fault) });
    }
  }

  #removeFiles(record: JobRecord): void {
    this.keeper.forget(record);
    this.options.space.remove(record.id);
  }

  /** Forgets a job that another server took over while this one gave no sign of life. */
  #lose({ record: { id } }: OpenJob): void {
    this.#open.delete(id);
    this.options.log.warn('job taken over by another server', { job: id });
  }
}
