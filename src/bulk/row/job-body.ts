/** A bulk job as its account sees it. */
import type { JobRecord } from '../../store/jobs.js';
import { jsonMembers, type WireObject } from '../../wire/tree.js';
import type { BulkFormat, BulkKind } from './chunk-payload.js';
import { stoppedTree } from './envelope.js';

/** What is shown of a job. */
export interface JobView {
  readonly record: JobRecord;
  readonly kind: BulkKind;
  readonly output: BulkFormat;
  /** How many bytes of the body were answered, and how many rows, in total and by response code. */
  readonly at: number;
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  /** When the job is removed, in milliseconds since 1970; null while it has not ended. */
  readonly expiresAt: number | null;
}

/** Paths of jobs and their results. */
export const JOBS_PATH = '/bulk/jobs';
export const JOB_PATH = `${JOBS_PATH}/{id}`;
export const RESULT_PATH = `${JOB_PATH}/result`;

/** Steps of the progress from 0 to 1, which is rounded down. */
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
