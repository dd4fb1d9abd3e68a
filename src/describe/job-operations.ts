/** Bulk jobs, in the form of OpenAPI. */
import { SHA256 } from '../base/patterns.js';
import {
  BOOLEAN,
  INTEGER,
  TEXT,
  about,
  list,
  nullable,
  object,
  oneOf,
  type Schema,
} from '../base/json-schema.js';
import { JOB_STATES } from '../store/jobs.js';
import { JOB_KINDS, JOB_REFERENCE } from '../bulk/job/job-request.js';
import { BULK_FORMATS } from '../bulk/row/chunk-payload.js';
import { OF_ROWS, OPTIONS, ROWS_TYPES } from './bulk-operations.js';
import { answerOf, LIMITED, refusalsOf } from './answers.js';
import type { Operation, OperationName } from './operations.js';
import { KEY_PARAMETER, parameter, type Parameter } from './lookup-parameters.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };

export const BULK_TRAILER: Schema = object({
  job: TEXT,
  complete: about(BOOLEAN, 'Every row was answered.'),
  rows: COUNT,
  codes: about({ type: 'object', additionalProperties: COUNT }, 'Rows by response code.'),
  bytes: about(COUNT, 'Of the output before the trailer, unpacked.'),
  sha256: about({ type: 'string', pattern: SHA256.source }, 'Of the same bytes.'),
  stopped: about(
    nullable(object({ code: INTEGER, message: TEXT, line: INTEGER })),
    'Why it ended early; line is the first row without an answer.',
  ),
});

const TIME: Schema = { type: 'string', format: 'date-time' };
const SUM: Schema = { type: 'string', pattern: SHA256.source };

/** A job, as src/bulk/row/job-body.ts writes it. */
export const BULK_JOB: Schema = object({
  id: TEXT,
  state: oneOf(JOB_STATES),
  kind: oneOf(JOB_KINDS),
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
  stopped: about(
    nullable(object({ code: INTEGER, message: TEXT, line: INTEGER })),
    'Why it ended early; line is the first row without an answer.',
  ),
  reason: about(nullable(TEXT), 'Why it waits or failed.'),
  result: nullable(object({ href: TEXT, bytes: COUNT, sha256: SUM })),
});

export const BULK_JOBS: Schema = object({ jobs: list(BULK_JOB) });

const ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  schema: TEXT,
  description: 'Of a job of the account.',
};

/** Refusals of every operation about one job. */
const REFUSED = {
  403: 'The plan has no bulk files.',
  404: 'The account has no such job.',
};

const CREATE: Operation = {
  id: 'bulkJobCreate',
  tag: 'Bulk',
  keyed: true,
  summary: 'Makes a job of an upload, or of a file in the allowed folder.',
  parameters: [
    KEY_PARAMETER,
    parameter(
      'kind',
      { ...oneOf(JOB_KINDS), default: 'lookup' },
      'What each row asks for, as the bulk paths are named.',
    ),
    ...OPTIONS.filter(({ name }) => name !== 'spool'),
    parameter(
      'Idempotency-Key',
      { type: 'string', maxLength: 255 },
      'The same key and body lead to the same job, for 24 hours.',
      'header',
    ),
  ],
  content: {
    ...ROWS_TYPES,
    'application/json': {
      schema: JOB_REFERENCE.schema,
    },
  },
  responses: {
    202: answerOf('The job, which is on the disk.', ['BulkJob'], { ...LIMITED, located: true }),
    ...refusalsOf({
      400: 'The Idempotency-Key or the JSON body cannot be read.',
      403: 'The plan has no bulk files, or the service reads no files.',
      ...OF_ROWS,
      409: 'A request with the same Idempotency-Key is under way.',
      415: 'The body is neither CSV nor NDJSON in UTF-8, nor names a file.',
      422: 'An option, the header line, the file or the Idempotency-Key is wrong.',
      429: 'Response code 108, or the account has too many jobs.',
      503: 'No dataset is loaded, or the store takes nothing.',
      507: 'Jobs have used up their disk; limit tells how much that is.',
    }),
  },
};

const LIST: Operation = {
  id: 'bulkJobList',
  tag: 'Bulk',
  keyed: true,
  summary: 'The jobs of the account, the oldest first.',
  parameters: [KEY_PARAMETER],
  responses: {
    200: answerOf('The jobs.', ['BulkJobs'], LIMITED),
    ...refusalsOf({ 403: 'The plan has no bulk files.' }),
  },
};

const GET: Operation = {
  id: 'bulkJobGet',
  tag: 'Bulk',
  keyed: true,
  summary: 'How far a job is.',
  parameters: [KEY_PARAMETER, ID],
  responses: { 200: answerOf('The job.', ['BulkJob'], LIMITED), ...refusalsOf(REFUSED) },
};

const RESULT: Operation = {
  id: 'bulkJobResult',
  tag: 'Bulk',
  keyed: true,
  summary: 'What a job wrote: the bytes that an upload is answered with.',
  parameters: [
    KEY_PARAMETER,
    ID,
    parameter('Range', TEXT, 'One range of bytes, "bytes=0-99".', 'header'),
    parameter('If-None-Match', TEXT, 'ETags that are held.', 'header'),
  ],
  responses: {
    200: { description: 'The whole, packed where gzip is accepted.', content: ROWS_TYPES },
    206: { description: 'The range.', content: ROWS_TYPES },
    304: { description: 'It is the one that is held.' },
    ...refusalsOf({
      ...REFUSED,
      409: 'The job has no result, or not yet.',
      416: 'The result is not that long.',
    }),
  },
};

const REMOVE: Operation = {
  id: 'bulkJobRemove',
  tag: 'Bulk',
  keyed: true,
  summary: 'Cancels a job that has not ended; removes one that has, with its result.',
  parameters: [KEY_PARAMETER, ID],
  responses: {
    200: answerOf('The job, cancelled.', ['BulkJob'], LIMITED),
    204: { description: 'It is removed.' },
    ...refusalsOf({ ...REFUSED, 503: 'The store takes nothing.' }),
  },
};

export const JOB_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  ['POST /bulk/jobs', CREATE],
  ['GET /bulk/jobs', LIST],
  ['GET /bulk/jobs/{id}', GET],
  ['GET /bulk/jobs/{id}/result', RESULT],
  ['DELETE /bulk/jobs/{id}', REMOVE],
];
