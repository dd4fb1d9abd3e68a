/** The jobs that have not ended, and in which order they run. */
import type { KeyRecord } from '../../store/format.js';
import type { JobRecord } from '../../store/jobs.js';
import { parseCheckpoint, type Checkpoint } from '../run/checkpoint.js';
import type { FileRun } from './file-run.js';
import type { JobRequest } from './job-request.js';

/** The stored request of a job. */
export function requestOf({ request }: JobRecord): JobRequest {
  return JSON.parse(request) as JobRequest;
}

/** How far a job has come; null before its first chunk. */
export function checkpointOf({ checkpoint }: JobRecord): Checkpoint | null {
  return checkpoint === null ? null : (parseCheckpoint(JSON.parse(checkpoint)) ?? null);
}

/** What a new job is created from. */
export interface NewJob {
  readonly id: string;
  readonly key: KeyRecord;
  readonly request: JobRequest;
  readonly file: string | null;
  readonly inputBytes: number;
  readonly inputModifiedMs: number;
  /** Name of the fleet whose broker has the upload; absent where none has. */
  readonly kept?: string;
  readonly dataset: string;
}

/** The owner of a job: the id of a server on the store, and the name of its folder of jobs. */
interface Owner {
  readonly id: string;
  readonly place: string;
}

/** The record of a new job, which is queued. */
export function queuedRecord(
  { id, key, request, file, inputBytes, inputModifiedMs, dataset, kept = '' }: NewJob,
  owned: Owner,
  now: number,
): JobRecord {
  return {
    v: 1,
    id,
    account: key.account,
    keyId: key.id,
    state: 'queued',
    request: JSON.stringify(request),
    file,
    ownFolder: true,
    inputBytes,
    inputModifiedMs,
    dataset,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    checkpoint: null,
    reason: null,
    stopped: null,
    result: null,
    owner: owned.id,
    place: owned.place,
    ...(kept === '' ? {} : { kept }),
  };
}

export interface OpenJob {
  record: JobRecord;
  run: FileRun | null;
  /** Set while the job runs. */
  over: Promise<void> | null;
  cancelled: boolean;
  /** Whether it is not to be tried before the next sweep. */
  held: boolean;
  /** How many attempts have failed since the job last made progress. */
  attempts: number;
}

/** A job that has not been tried yet. */
function openJob(record: JobRecord): OpenJob {
  return { record, run: null, over: null, cancelled: false, held: false, attempts: 0 };
}

/** How many jobs run, and how many wait. */
export interface JobCounts {
  readonly running: number;
  readonly waiting: number;
}

function countJobs(jobs: Iterable<OpenJob>): JobCounts {
  let [running, waiting] = [0, 0];
  for (const { over } of jobs) {
    if (over === null) waiting += 1;
    else running += 1;
  }
  return { running, waiting };
}

/**
 * The job to start next: one of the account with the fewest running jobs, the oldest first. Null
 * where none may start.
 */
function nextJob(jobs: readonly OpenJob[], runningMax: number): OpenJob | null {
  const running = jobs.filter(({ over }) => over !== null);
  if (running.length >= runningMax) return null;
  const runningOf = ({ record: { account } }: OpenJob): number =>
    running.filter(({ record }) => record.account === account).length;
  const [first] = jobs
    .filter(({ over, held, cancelled }) => over === null && !held && !cancelled)
    .sort(
      (left, right) =>
        runningOf(left) - runningOf(right) || left.record.createdAt - right.record.createdAt,
    );
  return first ?? null;
}

/** All jobs that have not ended. Each is attempted when it is its turn. */
export class OpenJobs {
  /** Whether no more jobs are started. */
  stopping = false;
  readonly #jobs = new Map<string, OpenJob>();
  readonly #runningMax: number;
  readonly #attempt: (job: OpenJob) => Promise<void>;

  /** @param attempt runs a job once; must not reject */
  constructor(runningMax: number, attempt: (job: OpenJob) => Promise<void>) {
    this.#runningMax = runningMax;
    this.#attempt = attempt;
  }

  get counts(): JobCounts {
    return countJobs(this.#jobs.values());
  }

  has(id: string): boolean {
    return this.#jobs.has(id);
  }

  get(id: string): OpenJob | undefined {
    return this.#jobs.get(id);
  }

  delete(id: string): void {
    this.#jobs.delete(id);
  }

  values(): Iterable<OpenJob> {
    return this.#jobs.values();
  }

  enter(record: JobRecord): void {
    this.#jobs.set(record.id, openJob(record));
    this.#next();
  }

  /** Lets held jobs be tried again. */
  release(): void {
    for (const job of this.#jobs.values()) job.held = false;
    this.#next();
  }

  /** Starts jobs while fewer than allowed are running. */
  #next(): void {
    while (!this.stopping) {
      const first = nextJob([...this.#jobs.values()], this.#runningMax);
      if (first === null) return;
      first.over = this.#attempt(first).finally(() => {
        first.over = null;
        first.run = null;
        this.#next();
      });
    }
  }
}
