/** Jobs that have not ended, and whose turn it is. */
import type { KeyRecord } from '../../store/format.js';
import type { JobRecord } from '../../store/jobs.js';
import { parseCheckpoint, type Checkpoint } from '../run/checkpoint.js';
import type { FileRun } from './file-run.js';
import type { JobRequest } from './job-request.js';

/** The request of a job as it was kept. */
export function requestOf({ request }: JobRecord): JobRequest {
  return JSON.parse(request) as JobRequest;
}

/** How far a job has come; null before its first chunk. */
export function checkpointOf({ checkpoint }: JobRecord): Checkpoint | null {
  return checkpoint === null ? null : (parseCheckpoint(JSON.parse(checkpoint)) ?? null);
}

/** What a new job is made of. */
export interface NewJob {
  readonly id: string;
  readonly key: KeyRecord;
  readonly request: JobRequest;
  readonly file: string | null;
  readonly inputBytes: number;
  readonly inputModifiedMs: number;
  /** Name of the fleet whose broker has the upload. */
  readonly kept?: string;
  readonly dataset: string;
}

/** Who has a job: a server of the store, and the folder it has jobs in. */
interface Owner {
  readonly id: string;
  readonly place: string;
}

/** The record of a job that waits for its first turn. */
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
  /** Set while it runs. */
  over: Promise<void> | null;
  cancelled: boolean;
  /** Not to be tried before the next sweep. */
  held: boolean;
  /** Attempts that failed since the job last made progress. */
  attempts: number;
}

/** A job that has not been tried yet. */
function openJob(record: JobRecord): OpenJob {
  return { record, run: null, over: null, cancelled: false, held: false, attempts: 0 };
}

/** How many run, and how many wait for their turn. */
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

/** The job to start next: of the account that runs fewest, then the oldest; null for none. */
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

/** All of them, each attempted when it has its turn. */
export class OpenJobs {
  /** No more are attempted. */
  stopping = false;
  readonly #jobs = new Map<string, OpenJob>();
  readonly #runningMax: number;
  readonly #attempt: (job: OpenJob) => Promise<void>;

  /** @param attempt must not fail */
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

  /** Those that were held may be tried again. */
  release(): void {
    for (const job of this.#jobs.values()) job.held = false;
    this.#next();
  }

  /** Starts jobs while there is room. */
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
