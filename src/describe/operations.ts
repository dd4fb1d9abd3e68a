/** Describes every operation of the service: what it takes and what it answers. */
import {
  answerOf,
  type AnswerOptions,
  LIMITED,
  problemOf,
  problemsOf,
  REASONS,
  reference,
  refusalsOf,
} from './answers.js';
import type { ComponentName } from './document.js';
import { BULK_OPERATIONS } from './bulk-operations.js';
import { CART_OPERATIONS } from './cart-operations.js';
import { JOB_OPERATIONS } from './job-operations.js';
import { MERCHANT_OPERATIONS } from './merchant-operations.js';
import {
  FORMAT_PARAMETER,
  KEY_PARAMETER,
  lookupParameters,
  parameter,
  type Parameter,
} from './lookup-parameters.js';
import { RELAY_OPERATIONS } from './relay-operations.js';
import { RESPONSE_CODES } from '../wire/response-code.js';
import { failuresOf } from './legacy-lookups.js';
import { type Schema, SCHEMA_TYPE, TEXT } from '../base/json-schema.js';
import { API_VERSIONS, type ApiVersion } from '../wire/tree.js';

export interface Operation {
  readonly id: string;
  readonly tag: 'Rates' | 'Account' | 'Product codes' | 'Merchants' | 'Bulk' | 'System';
  readonly summary: string;
  readonly keyed: boolean;
  /** Whether the key may not be in the query. */
  readonly headerOnly?: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: ComponentName;
  /** Bodies that are not JSON, by content type. */
  readonly content?: Schema;
  readonly responses: Schema;
}

/** The name of an operation: its method and path. */
export type OperationName = `${'GET' | 'POST' | 'DELETE'} /${string}`;

const BOTH: AnswerOptions = { ...LIMITED, xml: true };

// Streams of messages; docs/stream.md describes the WebSocket of the same path.

const LINES: Schema = { 'application/x-ndjson': { schema: TEXT } };
const RESUME: readonly Parameter[] = [
  parameter('resume', TEXT, 'Token of a stream that lost its connection, from its header.'),
  parameter(
    'from',
    { type: 'integer', minimum: 0 },
    'With resume: the last answer that came, 0 for none.',
  ),
  ...lookupParameters(60).filter(({ name }) => name === 'dataset' || name === 'at'),
];

const STREAM: Operation = {
  id: 'stream',
  tag: 'Bulk',
  keyed: true,
  headerOnly: true,
  summary: 'Lookups and carts, one or a batch a line, each answered while the stream is open.',
  parameters: RESUME,
  content: LINES,
  responses: {
    200: {
      description:
        'A header, an answer for every message in order, a trailer; see docs/stream.md. ' +
        'Without trailer it is incomplete.',
      content: LINES,
    },
    ...refusalsOf({
      401: REASONS[401],
      403: 'The plan has no streams, or the key no entitlement for dataset.',
      404: 'The key has no such stream to resume.',
      410: 'Answers to send again are not kept any more.',
      415: 'The body is not application/x-ndjson, or packed.',
      422: 'Parameter from, dataset or at cannot be used.',
      429: 'Response code 108, or too many streams of the account.',
      503: 'No dataset is loaded, or too many streams are open.',
    }),
  },
};

const { 200: _lines, 415: _type, ...REFUSALS } = STREAM.responses;

const SOCKET: Operation = {
  id: 'streamSocket',
  tag: 'Bulk',
  keyed: true,
  headerOnly: true,
  summary: 'The same over a WebSocket; see docs/stream.md.',
  parameters: RESUME,
  responses: {
    101: { description: 'The WebSocket is open.' },
    ...REFUSALS,
    ...problemsOf({ 426: 'The request asks for no WebSocket.' }),
  },
};

/** Refusals of lookups by status, from the table of response codes. */
function lookupRefusals(name: ComponentName): Schema {
  const statuses = [...new Set(Object.values(RESPONSE_CODES).map(({ http }) => http))].sort();
  return Object.fromEntries(
    statuses.map((http) => {
      const kinds = failuresOf(http);
      const codes = kinds.map((kind) => `${RESPONSE_CODES[kind].code} ${kind}`);
      return [String(http), answerOf(`Response code ${codes.join(', ')}.`, [name], BOTH)];
    }),
  );
}

function ratesOf(version: ApiVersion): readonly ComponentName[] {
  return version === 60 ? ['V60Rates', 'V60PostalList'] : [`V${version}Rates`];
}

function lookup(version: ApiVersion): Operation {
  const current = version === 60 ? 'The current version.' : 'An earlier version.';
  return {
    id: `ratesV${version}`,
    tag: 'Rates',
    keyed: true,
    summary: `Rates by address, coordinates or postal code. ${current}`,
    parameters: lookupParameters(version),
    responses: {
      200: answerOf('The rates.', ratesOf(version), { ...BOTH, lookup: true }),
      ...lookupRefusals(`V${version}Refusal`),
    },
  };
}

function metrics(version: ApiVersion | null): Operation {
  const name = version === null ? 'Metrics' : version === 60 ? 'V60Metrics' : 'LegacyMetrics';
  return {
    id: version === null ? 'metrics' : `metricsV${version}`,
    tag: 'Account',
    keyed: true,
    summary: 'What a key used in this calendar month.',
    parameters: [KEY_PARAMETER, FORMAT_PARAMETER],
    responses: {
      200: answerOf('The counters; zeros for an unknown key.', [name], BOTH),
      400: answerOf('There is no key.', ['MissingKey'], BOTH),
      ...problemsOf({
        403: 'The key does not have the scope operate.',
        422: 'A malformed key or format.',
        429: 'Too many unusable keys came from the address.',
        500: REASONS[500],
      }),
    },
  };
}

const SEARCH: Operation = {
  id: 'searchTic',
  tag: 'Product codes',
  keyed: true,
  summary: 'Product codes for a description, best first.',
  parameters: [KEY_PARAMETER],
  body: 'TicQuery',
  responses: {
    200: answerOf('Up to twenty codes.', ['TicSearch'], LIMITED),
    ...refusalsOf({
      400: 'The body is not JSON.',
      403: 'The key does not have the scope lookup.',
      413: 'The body is too long.',
      422: 'The query is missing, blank or too long, or there are other members.',
      429: 'Response code 108: over the rate of the key, or too many unusable keys of the address.',
      503: 'No product codes are loaded, or too many bodies are under way.',
      504: REASONS[504],
    }),
  },
};

const CATALOGUE: Operation = {
  id: 'ticList',
  tag: 'Product codes',
  keyed: false,
  summary: 'All product codes. 100 requests a rolling minute and client address.',
  parameters: [FORMAT_PARAMETER],
  responses: {
    200: answerOf('The codes, flat.', ['TicList'], BOTH),
    ...problemsOf({ 422: 'A malformed format.', 503: 'No product codes are loaded.' }),
    429: answerOf('Response code 108: over the rate of the address.', ['V60Refusal'], BOTH),
    500: problemOf(REASONS[500]),
  },
};

function open(
  id: string,
  summary: string,
  name: ComponentName,
  options: AnswerOptions = {},
): Operation {
  return {
    id,
    tag: 'System',
    summary,
    keyed: false,
    parameters: [],
    responses: {
      200: answerOf('Always, while the service answers.', [name], options),
      500: problemOf('A fault of the service.'),
    },
  };
}

const READY: Operation = {
  ...open('ready', 'Whether requests should be sent here.', 'Ready'),
  responses: {
    200: answerOf('They should.', ['Ready']),
    500: problemOf('A fault of the service.'),
    503: answerOf('They should not, and why.', ['Ready']),
  },
};

/** Every described operation, by its name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<OperationName, Operation>([
  ...API_VERSIONS.map((version): [OperationName, Operation] => [
    `GET /request/v${version}`,
    lookup(version),
  ]),
  ['GET /account/metrics', metrics(null)],
  ...API_VERSIONS.map((version): [OperationName, Operation] => [
    `GET /account/v${version}/metrics`,
    metrics(version),
  ]),
  ['POST /search/tic', SEARCH],
  ['GET /data/tic', CATALOGUE],
  ...MERCHANT_OPERATIONS,
  ...CART_OPERATIONS,
  ...BULK_OPERATIONS,
  ...JOB_OPERATIONS,
  ['POST /stream', STREAM],
  ['GET /stream', SOCKET],
  ...RELAY_OPERATIONS,
  ['GET /system/health', open('health', 'Whether store and dataset answer.', 'Health')],
  ['GET /system/live', open('live', 'Whether anything is answered at all.', 'Live')],
  ['GET /system/ready', READY],
  ['GET /system/metadata', open('metadata', 'What runs where.', 'SystemMetadata')],
  [
    'GET /request/v60/schema',
    open('schemaV60', 'JSON Schema of v60.', 'AnyDocument', { type: SCHEMA_TYPE }),
  ],
  [
    'GET /schemas/ticsearch',
    open('schemaTicSearch', 'JSON Schema of searches.', 'AnyDocument', { type: SCHEMA_TYPE }),
  ],
  ['GET /openapi.json', open('openapi', 'This document.', 'AnyDocument')],
]);

/** The member that states the longest body for programs. */
export const BODY_LIMIT_MEMBER = 'x-body-bytes-max';

function requestBodyOf(content: Schema, bytesMax: number): Schema {
  const limit =
    bytesMax === 0
      ? {}
      : {
          description: `At most ${bytesMax} bytes; a longer body is answered 413.`,
          [BODY_LIMIT_MEMBER]: bytesMax,
        };
  return { ...limit, required: true, content };
}

/** Applies to every operation with a key that gives no other reason for this status. */
const UNTOLD: Schema = problemsOf({
  503:
    'The service does not reach its database, and cannot tell whether there is such a ' +
    'key, or what is asked for.',
});

/** An operation in the form of OpenAPI; a length of zero means no limit. */
export function operationObject(operation: Operation, bodyBytesMax = 0): Schema {
  const { id, tag, summary, keyed, parameters, body, responses, headerOnly = false } = operation;
  const content =
    body === undefined ? operation.content : { 'application/json': { schema: reference(body) } };
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: keyed ? [{ key: [] }, ...(headerOnly ? [] : [{ queryKey: [] }])] : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined ? {} : { requestBody: requestBodyOf(content, bodyBytesMax) }),
    responses: keyed ? { ...UNTOLD, ...responses } : responses,
  };
}
