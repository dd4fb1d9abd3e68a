/**
 * Bulk jobs. The record of a job includes its progress, so that the record and the files that it
 * names are enough to continue after any interruption.
 *
 * ["job", account, id]   JobRecord
 */
import type { StoreKey } from './format.js';
import { choice, members, number, optional, orNull, recordReader, text } from './record-reader.js';
import type { Store, StoreTransaction } from './store.js';

const JOB_PREFIX = 'job';

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a job ended before its last row, and at which row. */
const STOP = {
  code: number,
  message: text,
  /** Number of the first row without an answer. */
  line: number,
};

/** Size and checksum of the whole output. */
const RESULT = {
  bytes: number,
  /** In hex. */
  sha256: text,
};

/** A job; its times are milliseconds since 1970. */
export type JobRecord = ReturnType<typeof parseJob>;

export const parseJob = recordReader('job', 1, {
  id: text,
  account: text,
  /** Id of the key whose quotas the rows use. */
  keyId: text,
  state: choice(JOB_STATES),
  /** The request as JSON, in the form of `bulk/job`. */
  request: text,
  /** Name of a file that is read in its own folder; null where the body was uploaded. */
  file: orNull(text),
  /** Whether that file is in its account's folder; absent in records older than those folders. */
  ownFolder: optional(choice([true])),
  inputBytes: number,
  inputModifiedMs: number,
  /** The release that answers every row. */
  dataset: text,
  createdAt: number,
  startedAt: orNull(number),
  endedAt: orNull(number),
  /** When it ended by the service's clock; absent where an earlier version ended it. */
  endedOn: optional(number),
  /** Its progress as JSON, in the form of `bulk/job`; null before the first chunk. */
  checkpoint: orNull(text),
  /** Why it waits or has failed, as a sentence. */
  reason: orNull(text),
  stopped: orNull(members(STOP)),
  result: orNull(members(RESULT)),
  /**
   * Id of the server that runs it; absent in records from before several servers could share a
   * store.
   */
  owner: optional(text),
  /** Name of the jobs folder that has its files; absent in the same records. */
  place: optional(text),
  /** Name of the fleet whose broker has its upload or, once it has ended, its result. */
  kept: optional(text),
  /**
   * What was counted before it was begun again on another server, as JSON, in the form of
   * `bulk/job`.
   */
  counted: optional(text),
  /** Asks the server that runs it to cancel it. */
  cancel: optional(choice([true])),
});

/** Key of a job. */
function jobKey({ account, id }: Pick<JobRecord, 'account' | 'id'>): StoreKey {
  return [JOB_PREFIX, account, id];
}

/** All jobs, or those of an account, the oldest first. */
export function listJobs(store: Store, account?: string): readonly JobRecord[] {
  const prefix = account === undefined ? [JOB_PREFIX] : [JOB_PREFIX, account];
  return store
    .list(prefix)
    .map(parseJob)
    .sort((left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1));
}

/** Accounts of all jobs by job id, including jobs whose record is damaged. */
export function jobAccounts(store: Store): ReadonlyMap<string, string> {
  return new Map(store.keys([JOB_PREFIX]).map(([, account = '', id = '']) => [id, account]));
}

/**
 * Whether an account has at least this many jobs. The records are not read, since they may be long.
 */
export function hasJobs(store: Store, account: string, count: number): boolean {
  return store.keys([JOB_PREFIX, account], count).length >= count;
}

/** A job of an account; null when it has none of this id. */
export function findJob(
  reader: Pick<StoreTransaction, 'get'>,
  account: string,
  id: string,
): JobRecord | null {
  const found = reader.get(jobKey({ account, id }));
  return found === undefined ? null : parseJob(found);
}

/** Stores a job within a transaction. */
export function putJob(transaction: Pick<StoreTransaction, 'put'>, record: JobRecord): void {
  transaction.put(jobKey(record), record);
}

/** Stores a new job, together with what `beside` stores. */
export async function storeJob(
  store: Store,
  record: JobRecord,
  beside?: (transaction: StoreTransaction) => void,
): Promise<void> {
  // Quiet, since no other process keeps a copy of jobs.
  await store.write(
    (transaction) => {
      putJob(transaction, record);
      beside?.(transaction);
      // What `beside` stores must not be counted twice, so the outcome is waited for.
    },
    { quiet: true, certain: true },
  );
}

/** Removes a job's record. */
export async function removeJob(store: Store, record: JobRecord): Promise<void> {
  await store.write((transaction) => transaction.remove(jobKey(record)), { quiet: true });
}
