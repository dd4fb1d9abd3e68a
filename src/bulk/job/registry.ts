/**
 * The jobs of a service: made, run a few at a time, and removed when their days are over. What is
 * told of a job is what is on the disk, so it holds after any stop.
 */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../../log.js';
import { errorCode } from '../../base/error-code.js';
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

/** Jobs of one account that have not ended, those being uploaded among them. */
export const JOBS_OPEN_MAX = 20;
/** Jobs of one account that are kept. */
export const JOBS_KEPT_MAX = 500;
/** Jobs that run at a time; each has an equal share of the workers. */
export const JOBS_RUNNING_MAX = 4;
/** Most failed attempts at a job in a row; the count begins again when it makes progress. */
const ATTEMPTS_MAX = 3;
/** How often old jobs are looked for, and those that wait are tried again. */
const JOBS_SWEEP_MS = 60_000;

const ID_BYTES = 12;

type Beside = (transaction: StoreTransaction) => void;

export class JobRegistry {
  readonly options: JobRegistryOptions;
  readonly keeper: JobKeeper;
  readonly #open = new OpenJobs(JOBS_RUNNING_MAX, (job) => this.#attempt(job));
  /** Accounts of uploads under way, by the id of their job. */
  readonly #uploads = new Map<string, string>();
  readonly #owned: JobOwnership;
  #timer: NodeJS.Timeout | null = null;
  readonly #takeover: Takeover;

  constructor(options: JobRegistryOptions) {
    const { store, space, place = '', member = null, files = null } = options;
    this.options = options;
    this.keeper = new JobKeeper(files, space);
    this.#owned = new JobOwnership(store, place, member, files?.name);
    this.#takeover = new Takeover(options, this.keeper, this.#owned, {
      // Before its record is told here, a job that is made is reserved.
      isMine: (id) => this.#open.has(id) || this.#uploads.has(id),
      open: () => this.#open.values(),
      take: (record) => this.#open.enter(record),
      cancel: (record) => this.remove(record),
    });
  }
  /** Jobs that have not ended. */
  get counts(): JobCounts {
    return this.#open.counts;
  }

  /** Continues the jobs that were interrupted, and removes files that belong to no job. */
  start(): void {
    this.#timer = setInterval(() => void this.sweep(), JOBS_SWEEP_MS).unref();
    this.#takeover.start();
  }

  /** Pauses what runs; resolves when every checkpoint is kept. */
  async stop(): Promise<void> {
    this.#open.stopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#takeover.stop();
    for (const { run } of this.#open.values()) run?.pause();
    await Promise.all([...this.#open.values()].map(({ over }) => over));
  }

  /** The limit that keeps an account from one more job; null when there is room. */
  full(account: string): number | null {
    const own = [...this.#open.values()].map(({ record }) => record);
    const open =
      (this.#owned.shared ? this.list(account) : own).filter(
        (record) => record.account === account && !ENDED.has(record.state),
      ).length + [...this.#uploads.values()].filter((uploading) => uploading === account).length;
    if (open >= JOBS_OPEN_MAX) return JOBS_OPEN_MAX;
    return hasJobs(this.options.store, account, JOBS_KEPT_MAX) ? JOBS_KEPT_MAX : null;
  }

  /** Makes the folder of a job to come; `create` or `drop` is to follow. */
  reserve(account: string): string {
    const id = `job_${randomBytes(ID_BYTES).toString('hex')}`;
    this.#takeover.measure();
    this.options.space.make(id, account, this.#owned.id);
    this.#uploads.set(id, account);
    return id;
  }

  /** Gives a reserved job up. */
  drop(id: string): void {
    this.#uploads.delete(id);
    this.options.space.remove(id);
  }

  /** Makes a job of a reserved id; its files are durable. `beside` joins the transaction. */
  async create(
    job: NewJob,
    beside: (transaction: StoreTransaction, view: JobView) => void,
  ): Promise<void> {
    const record = queuedRecord(job, this.#owned, this.options.now());
    await storeJob(this.options.store, record, (transaction) => {
      beside(transaction, this.view(record));
    });
    this.#uploads.delete(job.id);
    this.#open.enter(record);
  }

  /** A job of an account; null when it has no such one. @throws StoreFault as `vouchForNone` */
  find(account: string, id: string): JobRecord | null {
    return findJob(this.options.store, account, id) ?? this.options.store.vouchForNone();
  }

  list(account: string): readonly JobRecord[] {
    return listJobs(this.options.store, account);
  }

  view(record: JobRecord): JobView {
    return viewOf(record, this.options.days);
  }

  /** Cancels a job that has not ended and returns its record, or removes one that has: null. */
  async remove(record: JobRecord): Promise<JobRecord | null> {
    const { store, space } = this.options;
    const job = this.#open.get(record.id);
    if (job === undefined && !ENDED.has(record.state) && this.#owned.isElsewhere(record)) {
      const left = await this.#owned.cancel(record);
      if (left === null || left.state === 'cancelled') return left;
    }
    if (job !== undefined) {
      job.cancelled = true;
      job.run?.pause();
      await job.over;
      // It may have come to its end meanwhile; its result is then removed as asked.
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
    if (this.keeper.has(record)) this.keeper.forget(record.id);
    space.remove(record.id);
    this.#open.release();
    return null;
  }

  /** Removes jobs whose days are over and tries again those that wait. Never throws. */
  async sweep(): Promise<void> {
    const { age, days } = this.options;
    await this.#takeover.sweep(age() - days * DAY_MS);
    this.#open.release();
    await this.#takeover.takeFree();
  }

  async #attempt(job: OpenJob): Promise<void> {
    const { now } = this.options;
    try {
      await this.#put(job, {
        state: 'running',
        startedAt: job.record.startedAt ?? now(),
        reason: null,
      });
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

  /** False when the job is not to go on. */
  async #save(job: OpenJob, checkpoint: Checkpoint, beside: Beside): Promise<boolean> {
    await this.#put(job, { checkpoint: JSON.stringify(checkpoint) }, beside);
    job.attempts = 0;
    return this.options.keyOf(job.record.keyId) !== null;
  }

  async #conclude(job: OpenJob, end: FileRunEnd): Promise<void> {
    if (end.kind === 'paused') {
      // A job without its key is tried once more, and refused then.
      await this.#put(job, { state: 'queued' });
    } else if (end.kind === 'broken') await this.#retry(job, end.message);
    else if (end.kind === 'refused') {
      await this.#end(job, { state: 'failed', reason: end.refused.detail });
    } else {
      const {
        end: { stopped },
        bytes,
        sha256,
      } = end;
      const dropped = stopped !== null && requestOf(job.record).strict;
      if (dropped) await this.options.space.removeOutput(job.record.id);
      // Before its end is told, so that what is told to be done outlives this server.
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

  /** Ends a job and lets go of what its end no longer needs. */
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
        // What the system says may name a path, and is the operator's.
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
      // The store takes nothing now: the record is as of the last checkpoint, and tried again.
      job.held = true;
      log.error('job not stored', { job: job.record.id, message: messageOf(fault) });
    }
  }

  /** Another server took it over while this one gave no sign of life. */
  #lose({ record: { id } }: OpenJob): void {
    this.#open.delete(id);
    this.options.log.warn('job taken over by another server', { job: id });
  }
}
