/** Schemas of bulk files and jobs: how one ended, or how far it is. */
import {
  about, BOOLEAN, INTEGER, list, nullable, object, oneOf, TEXT, type Schema,
} from './schema.js';
import { JOB_STATES } from '../store/jobs.js';
import { BULK_FORMATS } from './bulk/job.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };

export const BULK_TRAILER: Schema = object({
  job: TEXT,
  complete: about(BOOLEAN, 'Every row was answered.'),
  rows: COUNT,
  codes: about({ type: 'object', additionalProperties: COUNT }, 'Rows by response code.'),
  bytes: about(COUNT, 'Of the output before the trailer, unpacked.'),
  sha256: about({ type: 'string', pattern: '^[0-9a-f]{64}$' }, 'Of the same bytes.'),
  stopped: about(nullable(object({ code: INTEGER, message: TEXT, line: INTEGER })),
    'Why it ended early; line is the first row without an answer.'),
});

const TIME: Schema = { type: 'string', format: 'date-time' };
const SHA256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** A job as src/wire/bulk/job-body.ts writes it. */
export const BULK_JOB: Schema = object({
  id: TEXT,
  state: oneOf(JOB_STATES),
  kind: oneOf(['lookup', 'cart']),
  output: oneOf(BULK_FORMATS),
  file: about(nullable(TEXT), 'Name in the allowed folder; null for an upload.'),
  dataset: about(TEXT, 'Answers every row, whatever is activated meanwhile.'),
  createdAt: TIME,
  startedAt: nullable(TIME),
  endedAt: nullable(TIME),
  expiresAt: about(nullable(TIME), 'When job and result are removed.'),
  inputBytes: COUNT,
  progress: about({ type: 'number', minimum: 0, maximum: 1 }, 'Share of the body.'),
  rows: object({
    total: about(nullable(COUNT), 'Known once the last row was read.'),
    done: about(COUNT, 'On the disk; they are not answered another time.'),
  }),
  codes: about({ type: 'object', additionalProperties: COUNT }, 'Rows by response code.'),
  complete: about(BOOLEAN, 'Every row was answered.'),
  stopped: about(nullable(object({ code: INTEGER, message: TEXT, line: INTEGER })),
    'Why it ended early; line is the first row without an answer.'),
  reason: about(nullable(TEXT), 'Why it waits or failed.'),
  result: nullable(object({ href: TEXT, bytes: COUNT, sha256: SHA256 })),
});

export const BULK_JOBS: Schema = object({ jobs: list(BULK_JOB) });
