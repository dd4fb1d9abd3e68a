/**
 * Bulk jobs. How far one has come is part of its record, so a record and the files it tells of say
 * all that is needed to go on after a stop of any kind.
 *
 * ["job", account, id]   JobRecord
 */
import type { StoreKey } from './format.js';
import { damaged, upgraded, type RecordFields } from './record.js';
import type { Store, StoreTransaction } from './store.js';

export const JOB_PREFIX = 'job';

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a job ended before its last row, and with which row. */
export interface JobStop {
  readonly code: number;
  readonly message: string;
  /** The first row without an answer. */
  readonly line: number;
}

/** The whole output. */
export interface JobResult {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** Times are milliseconds since 1970. */
export interface JobRecord {
  readonly v: 1;
  readonly id: string;
  readonly account: string;
  /** Id of the key whose quotas the rows count for. */
  readonly keyId: string;
  readonly state: JobState;
  /** What was asked for, as JSON of whoever runs jobs. */
  readonly request: string;
  /** Name of a file that is read where it is; null where the body was uploaded. */
  readonly file: string | null;
  readonly inputBytes: number;
  readonly inputModifiedMs: number;
  /** The release that answers every row. */
  readonly dataset: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** How far it has come, as JSON of whoever runs jobs; null before the first chunk. */
  readonly checkpoint: string | null;
  /** Why it waits or failed, in a sentence. */
  readonly reason: string | null;
  readonly stopped: JobStop | null;
  readonly result: JobResult | null;
}

/** Key of a job. */
export function jobKey({ account, id }: Pick<JobRecord, 'account' | 'id'>): StoreKey {
  return [JOB_PREFIX, account, id];
}

function isState(value: unknown): value is JobState {
  return (JOB_STATES as readonly unknown[]).includes(value);
}

function textIn(fields: RecordFields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw damaged('job');
  return value;
}

function numberIn(fields: RecordFields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number') throw damaged('job');
  return value;
}

/** A member that is null or read by `read`. */
function orNull<T>(
  fields: RecordFields, name: string, read: (fields: RecordFields, name: string) => T,
): T | null {
  return fields[name] === null ? null : read(fields, name);
}

function membersIn(fields: RecordFields, name: string): RecordFields {
  const value = fields[name];
  if (typeof value !== 'object' || value === null) throw damaged('job');
  return value as RecordFields;
}

function stopIn(fields: RecordFields, name: string): JobStop {
  const members = membersIn(fields, name);
  return {
    code: numberIn(members, 'code'), message: textIn(members, 'message'),
    line: numberIn(members, 'line'),
  };
}

function resultIn(fields: RecordFields, name: string): JobResult {
  const members = membersIn(fields, name);
  return { bytes: numberIn(members, 'bytes'), sha256: textIn(members, 'sha256') };
}

/**
 * Reads a job's record.
 * @throws Error when the store is damaged or from a newer program.
 */
export function parseJob(value: unknown): JobRecord {
  const fields = upgraded(value, 'job');
  const { state } = fields;
  if (!isState(state)) throw damaged('job');
  return {
    v: 1, state,
    id: textIn(fields, 'id'),
    account: textIn(fields, 'account'),
    keyId: textIn(fields, 'keyId'),
    request: textIn(fields, 'request'),
    file: orNull(fields, 'file', textIn),
    inputBytes: numberIn(fields, 'inputBytes'),
    inputModifiedMs: numberIn(fields, 'inputModifiedMs'),
    dataset: textIn(fields, 'dataset'),
    createdAt: numberIn(fields, 'createdAt'),
    startedAt: orNull(fields, 'startedAt', numberIn),
    endedAt: orNull(fields, 'endedAt', numberIn),
    checkpoint: orNull(fields, 'checkpoint', textIn),
    reason: orNull(fields, 'reason', textIn),
    stopped: orNull(fields, 'stopped', stopIn),
    result: orNull(fields, 'result', resultIn),
  };
}

/** All jobs, or those of an account, the oldest first. */
export function listJobs(store: Store, account?: string): readonly JobRecord[] {
  const prefix = account === undefined ? [JOB_PREFIX] : [JOB_PREFIX, account];
  return store.list(prefix).map(parseJob).sort((left, right) =>
    left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1));
}

/** A job of an account; null when it has no such one. */
export function findJob(store: Store, account: string, id: string): JobRecord | null {
  const found = store.get(jobKey({ account, id }));
  return found === undefined ? null : parseJob(found);
}

/** Stores a job, with what else `beside` stores. */
export async function putJob(
  store: Store, record: JobRecord, beside?: (transaction: StoreTransaction) => void,
): Promise<void> {
  // Nothing is kept of jobs that other processes would have to look up again.
  await store.write((transaction) => {
    transaction.put(jobKey(record), record);
    beside?.(transaction);
  }, { quiet: true });
}

/** Forgets a job. */
export async function removeJob(store: Store, record: JobRecord): Promise<void> {
  await store.write((transaction) => transaction.remove(jobKey(record)), { quiet: true });
}
