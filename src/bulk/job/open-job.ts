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
  return checkpoint === null ? null : parseCheckpoint(JSON.parse(checkpoint)) ?? null;
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
export function openJob(record: JobRecord): OpenJob {
  return { record, run: null, over: null, cancelled: false, held: false, attempts: 0 };
}

/** How many run, and how many wait for their turn. */
export interface JobCounts {
  readonly running: number;
  readonly waiting: number;
}

export function countJobs(jobs: Iterable<OpenJob>): JobCounts {
  let [running, waiting] = [0, 0];
  for (const { over } of jobs) {
    if (over === null) waiting += 1;
    else running += 1;
  }
  return { running, waiting };
}

/** The job to start next: of the account that runs fewest, then the oldest; null for none. */
export function nextJob(jobs: readonly OpenJob[], runningMax: number): OpenJob | null {
  const running = jobs.filter(({ over }) => over !== null);
  if (running.length >= runningMax) return null;
  const runningOf = ({ record: { account } }: OpenJob): number =>
    running.filter(({ record }) => record.account === account).length;
  const [first] = jobs
    .filter(({ over, held, cancelled }) => over === null && !held && !cancelled)
    .sort((left, right) => runningOf(left) - runningOf(right)
      || left.record.createdAt - right.record.createdAt);
  return first ?? null;
}
