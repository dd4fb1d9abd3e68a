/** Streams of messages, as OpenAPI tells them; docs/stream.md has the WebSocket of the path. */
import { problemOf } from './answers.js';
import type { Operation, OperationName } from './operations.js';
import type { Parameter } from './parameters.js';
import { TEXT, type Schema } from '../base/json-schema.js';

const LINES: Schema = { 'application/x-ndjson': { schema: TEXT } };
const LIMITED = { limited: true };

const RESUME: readonly Parameter[] = [
  {
    name: 'resume', in: 'query', schema: TEXT,
    description: 'Token of a stream that lost its connection, from its header.',
  },
  {
    name: 'from', in: 'query', schema: { type: 'integer', minimum: 0 },
    description: 'With resume: the last answer that came, 0 for none.',
  },
];

const STREAM: Operation = {
  id: 'stream', tag: 'Bulk', keyed: true, headerOnly: true,
  summary: 'Lookups and carts, one or a batch a line, each answered while the stream is open.',
  parameters: RESUME,
  content: LINES,
  responses: {
    200: {
      description: 'A header, an answer for every message in order, a trailer; see docs/stream.md. '
        + 'Without trailer it is incomplete.',
      content: LINES,
    },
    401: problemOf('Response code 101: no usable key in the header.', LIMITED),
    403: problemOf('The plan has no streams.', LIMITED),
    404: problemOf('The key has no such stream to resume.', LIMITED),
    410: problemOf('Answers to send again are not kept any more.', LIMITED),
    415: problemOf('The body is not application/x-ndjson, or packed.', LIMITED),
    422: problemOf('Parameter from cannot be used.', LIMITED),
    429: problemOf('Response code 108, or too many streams of the account.', LIMITED),
    500: problemOf('A fault of the service.', LIMITED),
    503: problemOf('No dataset is loaded, or too many streams are open.', LIMITED),
  },
};

export const STREAM_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  ['POST /stream', STREAM],
];
