/** A bulk job as its account sees it. */
import type { JobRecord } from '../../store/jobs.js';
import { jsonMembers, type WireObject } from '../../wire/tree.js';
import type { BulkFormat, BulkKind } from './chunk-payload.js';
import { stoppedTree } from './envelope.js';

/** What a record says to whoever runs jobs. */
export interface JobView {
  readonly record: JobRecord;
  readonly kind: BulkKind;
  readonly output: BulkFormat;
  /** Bytes of the body that were answered, and rows of it by response code. */
  readonly at: number;
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  /** When it is removed, in milliseconds since 1970; null while it has not ended. */
  readonly expiresAt: number | null;
}

/** Places where a job and its result are found. */
export const JOBS_PATH = '/bulk/jobs';
export const JOB_PATH = `${JOBS_PATH}/{id}`;
export const RESULT_PATH = `${JOB_PATH}/result`;

/** Digits of a progress. */
const PROGRESS_STEPS = 10_000;

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function progressOf({ record, at }: JobView): number {
  if (record.state === 'done') return 1;
  const { inputBytes } = record;
  return inputBytes === 0 ? 0 : Math.floor((at / inputBytes) * PROGRESS_STEPS) / PROGRESS_STEPS;
}

/** The members of a job. */
function jobTree(view: JobView): WireObject {
  const { record, kind, output, rows, codes, expiresAt } = view;
  const { id, state, file, inputBytes, dataset, stopped, result, reason } = record;
  return {
    id,
    state,
    kind,
    output,
    file,
    dataset,
    createdAt: instant(record.createdAt),
    startedAt: instant(record.startedAt),
    endedAt: instant(record.endedAt),
    expiresAt: instant(expiresAt),
    inputBytes,
    progress: progressOf(view),
    rows: { total: state === 'done' ? rows : null, done: rows },
    codes,
    complete: state === 'done',
    stopped: stoppedTree(stopped),
    reason,
    result: result && {
      href: RESULT_PATH.replace('{id}', id),
      bytes: result.bytes,
      sha256: result.sha256,
    },
  };
}

/** A job as JSON. */
export function jobBody(view: JobView): string {
  return `{${jsonMembers(jobTree(view))}}`;
}
