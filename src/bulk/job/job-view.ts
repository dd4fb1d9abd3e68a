/** What is told of a job. */
import type { JobRecord } from '../../store/jobs.js';
import type { JobView } from '../row/job-body.js';
import { checkpointOf, requestOf } from './runner.js';

export const DAY_MS = 86_400_000;

/** What is told of a job that is kept for so many days after its end. */
export function viewOf(record: JobRecord, days: number): JobView {
  const { kind, output } = requestOf(record);
  const checkpoint = checkpointOf(record);
  const { endedAt } = record;
  return {
    record, kind, output,
    at: checkpoint?.position.at ?? 0, rows: checkpoint?.rows ?? 0,
    codes: checkpoint?.codes ?? {},
    expiresAt: endedAt === null ? null : endedAt + days * DAY_MS,
  };
}
