/** Bulk jobs, as OpenAPI tells them. */
import { OPTIONS, ROWS_TYPES } from './openapi-bulk.js';
import { answerOf, problemOf } from './openapi-components.js';
import type { Operation, OperationName } from './openapi-operations.js';
import { KEY_PARAMETER, type Parameter } from './openapi-parameters.js';
import { list, object, TEXT, type Schema } from './schema.js';

const LIMITED = { limited: true };

const ID: Parameter = {
  name: 'id', in: 'path', required: true, schema: TEXT, description: 'Of a job of the account.',
};

/** What every operation about one job may be refused with. */
const REFUSALS: Schema = {
  401: problemOf('Response code 101: no usable key.', LIMITED),
  403: problemOf('The plan has no bulk files.', LIMITED),
  404: problemOf('The account has no such job.', LIMITED),
  429: problemOf('Response code 108.', LIMITED),
  500: problemOf('A fault of the service.', LIMITED),
};

const CREATE: Operation = {
  id: 'bulkJobCreate', tag: 'Bulk', keyed: true,
  summary: 'Makes a job of an upload, or of a file in the allowed folder.',
  parameters: [
    KEY_PARAMETER,
    {
      name: 'kind', in: 'query',
      schema: { type: 'string', enum: ['lookup', 'cart'], default: 'lookup' },
      description: 'What each row asks for, as the bulk paths are named.',
    },
    ...OPTIONS.filter(({ name }) => name !== 'spool'),
    {
      name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 },
      description: 'The same key and body lead to the same job, for 24 hours.',
    },
  ],
  content: {
    ...ROWS_TYPES,
    'application/json': {
      schema: object({ file: TEXT }, {
        kind: TEXT, format: TEXT, output: TEXT, map: list(TEXT),
      }),
    },
  },
  responses: {
    202: answerOf('The job, which is on the disk.', ['BulkJob'], { ...LIMITED, located: true }),
    400: problemOf('The Idempotency-Key or the JSON body cannot be read.', LIMITED),
    401: problemOf('Response code 101: no usable key.', LIMITED),
    403: problemOf('The plan has no bulk files, or the service reads no files.', LIMITED),
    405: problemOf('Response code 107: a quota of this month is used up.', LIMITED),
    406: problemOf('Accept names no format that the rows can be answered in.', LIMITED),
    408: problemOf('Nothing was sent for too long.', LIMITED),
    409: problemOf('A request with the same Idempotency-Key is under way.', LIMITED),
    413: problemOf('The body or its header line is too long, or expands too much.', LIMITED),
    415: problemOf('The body is neither CSV nor NDJSON in UTF-8, nor names a file.', LIMITED),
    422: problemOf('An option, the header line, the file or the Idempotency-Key is wrong.',
      LIMITED),
    429: problemOf('Response code 108, or the account has too many jobs.', LIMITED),
    500: problemOf('A fault of the service.', LIMITED),
    503: problemOf('No dataset is loaded, or the store takes nothing.', LIMITED),
    507: problemOf('Jobs have used up their disk; limit tells how much that is.', LIMITED),
  },
};

const LIST: Operation = {
  id: 'bulkJobList', tag: 'Bulk', keyed: true,
  summary: 'The jobs of the account, the oldest first.',
  parameters: [KEY_PARAMETER],
  responses: {
    200: answerOf('The jobs.', ['BulkJobs'], LIMITED),
    401: problemOf('Response code 101: no usable key.', LIMITED),
    403: problemOf('The plan has no bulk files.', LIMITED),
    429: problemOf('Response code 108.', LIMITED),
    500: problemOf('A fault of the service.', LIMITED),
  },
};

const GET: Operation = {
  id: 'bulkJobGet', tag: 'Bulk', keyed: true, summary: 'How far a job is.',
  parameters: [KEY_PARAMETER, ID],
  responses: { 200: answerOf('The job.', ['BulkJob'], LIMITED), ...REFUSALS },
};

const RESULT: Operation = {
  id: 'bulkJobResult', tag: 'Bulk', keyed: true,
  summary: 'What a job wrote: the bytes of the same file as a stream.',
  parameters: [
    KEY_PARAMETER, ID,
    {
      name: 'Range', in: 'header', schema: TEXT, description: 'One range of bytes, "bytes=0-99".',
    },
    {
      name: 'If-None-Match', in: 'header', schema: TEXT, description: 'ETags that are held.',
    },
  ],
  responses: {
    200: { description: 'The whole, packed where gzip is accepted.', content: ROWS_TYPES },
    206: { description: 'The range.', content: ROWS_TYPES },
    304: { description: 'It is the one that is held.' },
    409: problemOf('The job has no result, or not yet.', LIMITED),
    416: problemOf('The result is not that long.', LIMITED),
    ...REFUSALS,
  },
};

const REMOVE: Operation = {
  id: 'bulkJobRemove', tag: 'Bulk', keyed: true,
  summary: 'Cancels a job that has not ended; removes one that has, with its result.',
  parameters: [KEY_PARAMETER, ID],
  responses: {
    200: answerOf('The job, cancelled.', ['BulkJob'], LIMITED),
    204: { description: 'It is removed.' },
    503: problemOf('The store takes nothing.', LIMITED),
    ...REFUSALS,
  },
};

export const JOB_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  ['POST /bulk/jobs', CREATE],
  ['GET /bulk/jobs', LIST],
  ['GET /bulk/jobs/{id}', GET],
  ['GET /bulk/jobs/{id}/result', RESULT],
  ['DELETE /bulk/jobs/{id}', REMOVE],
];
