/**
 * Bulk jobs. How far one has come is part of its record, so a record and the files it tells of say
 * all that is needed to go on after a stop of any kind.
 *
 * ["job", account, id]   JobRecord
 */
import type { StoreKey } from './format.js';
import { choice, members, number, optional, orNull, recordReader, text } from './record-reader.js';
import type { Store, StoreTransaction } from './store.js';

const JOB_PREFIX = 'job';

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a job ended before its last row, and with which row. */
const STOP = {
  code: number,
  message: text,
  /** The first row without an answer. */
  line: number,
};

/** The whole output. */
const RESULT = {
  bytes: number,
  /** In hex. */
  sha256: text,
};

/** Times are milliseconds since 1970. */
export type JobRecord = ReturnType<typeof parseJob>;

export const parseJob = recordReader('job', 1, {
  id: text,
  account: text,
  /** Id of the key whose quotas the rows count for. */
  keyId: text,
  state: choice(JOB_STATES),
  /** What was asked for, as JSON of whoever runs jobs. */
  request: text,
  /** Name of a file that is read where it is; null where the body was uploaded. */
  file: orNull(text),
  /** The file is in the folder of its account; absent in records older than those folders. */
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
  /** How far it has come, as JSON of whoever runs jobs; null before the first chunk. */
  checkpoint: orNull(text),
  /** Why it waits or failed, in a sentence. */
  reason: orNull(text),
  stopped: orNull(members(STOP)),
  result: orNull(members(RESULT)),
  /** Id of the server that runs it; absent in records older than several servers on a store. */
  owner: optional(text),
  /** Name of the folder of jobs that has its files, likewise. */
  place: optional(text),
  /** Name of the fleet whose broker has its upload, or its result once it has ended. */
  kept: optional(text),
  /** What was counted before it began anew elsewhere, as JSON of whoever runs jobs. */
  counted: optional(text),
  /** Its server is asked to cancel it. */
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

/** Accounts of all jobs by their ids, those whose record is damaged among them. */
export function jobAccounts(store: Store): ReadonlyMap<string, string> {
  return new Map(store.keys([JOB_PREFIX]).map(([, account = '', id = '']) => [id, account]));
}

/** Whether an account has so many jobs; none is read, since they may be long. */
export function hasJobs(store: Store, account: string, count: number): boolean {
  return store.keys([JOB_PREFIX, account], count).length >= count;
}

/** A job of an account; null when it has no such one. */
export function findJob(
  reader: Pick<StoreTransaction, 'get'>,
  account: string,
  id: string,
): JobRecord | null {
  const found = reader.get(jobKey({ account, id }));
  return found === undefined ? null : parseJob(found);
}

/** Puts a job within a transaction. */
export function putJob(transaction: Pick<StoreTransaction, 'put'>, record: JobRecord): void {
  transaction.put(jobKey(record), record);
}

/** Stores a new job, with what else `beside` stores. */
export async function storeJob(
  store: Store,
  record: JobRecord,
  beside?: (transaction: StoreTransaction) => void,
): Promise<void> {
  // Nothing is kept of jobs that other processes would have to look up again.
  await store.write(
    (transaction) => {
      putJob(transaction, record);
      beside?.(transaction);
      // With it goes what must not be counted twice.
    },
    { quiet: true, certain: true },
  );
}

/** Forgets a job. */
export async function removeJob(store: Store, record: JobRecord): Promise<void> {
  await store.write((transaction) => transaction.remove(jobKey(record)), { quiet: true });
}
