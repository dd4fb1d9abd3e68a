/** Bulk files, in the form of OpenAPI. */
import { answerOf, LIMITED, problemsOf, REASONS, refusalsOf } from './answers.js';
import { CART_OPTIONS } from './cart-operations.js';
import type { Operation, OperationName } from './operations.js';
import { KEY_PARAMETER, lookupParameters, parameter, type Parameter } from './lookup-parameters.js';
import { BOOLEAN, TEXT, type Schema } from '../base/json-schema.js';
import { SHARED_PARAMETERS } from '../api/lookup/parameter-table.js';

export const ROWS_TYPES: Schema = {
  'text/csv': { schema: TEXT },
  'application/x-ndjson': { schema: TEXT },
};

const OF_FILES: readonly Parameter[] = [
  parameter('map', TEXT, 'role:column, once for each; see docs/bulk.md for the roles.'),
  parameter(
    'delimiter',
    { type: 'string', enum: ['comma', 'semicolon', 'tab', 'pipe'] },
    'Told from the header line unless given.',
  ),
  parameter(
    'strict',
    BOOLEAN,
    'All rows or none: the first that is refused refuses the file, 422.',
  ),
  parameter(
    'spool',
    BOOLEAN,
    'Answers when the upload is complete, for clients that read only then.',
  ),
  ...lookupParameters(60).filter(({ name }) => name === 'dataset' || name === 'at'),
];

const OF_LOOKUPS: readonly Parameter[] = lookupParameters(60).filter(({ name }) =>
  (SHARED_PARAMETERS as readonly string[]).includes(name),
);

const OF_CARTS: readonly Parameter[] = [
  parameter(
    'merchantId',
    { type: 'string', format: 'uuid' },
    'The self-managed merchant whose carts all rows are.',
  ),
  parameter('origin', TEXT, 'One-line address that the goods of a CSV file come from.'),
  ...CART_OPTIONS,
];

/** The options of files of all kinds, each once. */
export const OPTIONS: readonly Parameter[] = [
  ...OF_FILES,
  ...OF_LOOKUPS,
  ...OF_CARTS.filter(({ name }) => name !== 'explain'),
];

/** Refusals of all operations that take rows: files and jobs. */
export const OF_ROWS = {
  405: REASONS[405],
  406: 'Accept names no format that the rows can be answered in.',
  408: 'Nothing was sent for too long.',
  413: 'The body or its header line is too long, or expands too much.',
};

const LOOKUP: Operation = {
  id: 'bulkLookup',
  tag: 'Bulk',
  keyed: true,
  summary: 'Rates for every row of a CSV or NDJSON file, while it is sent.',
  parameters: [KEY_PARAMETER, ...OF_FILES, ...OF_LOOKUPS],
  content: ROWS_TYPES,
  responses: {
    200: {
      description:
        'The rows in order: CSV with columns appended, or NDJSON with the answer of ' +
        'version 60 in each line. Without trailer it is incomplete.',
      content: ROWS_TYPES,
    },
    ...refusalsOf({
      403: 'The plan has no bulk files, or the key no entitlement for dataset.',
      ...OF_ROWS,
      415: 'The body is neither CSV nor NDJSON in UTF-8, plain or gzip.',
      422: 'An option or the header line cannot be used, or strict refuses.',
      429: 'Response code 108, or too many uploads of the account.',
      503: 'No dataset is loaded, or too many uploads are open.',
      507: 'There is no disk for output that waits.',
    }),
  },
};

const CART: Operation = {
  ...LOOKUP,
  id: 'bulkCart',
  summary: 'Tax of a cart for every row of a CSV or NDJSON file, while it is sent.',
  parameters: [KEY_PARAMETER, ...OF_FILES, ...OF_CARTS],
  responses: {
    ...LOOKUP.responses,
    200: {
      description:
        'The rows in order: CSV with columns appended, or NDJSON with the cart of the ' +
        'cart endpoints in each line. Without trailer it is incomplete.',
      content: ROWS_TYPES,
    },
    ...problemsOf({
      403:
        'The plan has no bulk files, the merchant may have no carts here, or the key ' +
        'has no entitlement for dataset.',
    }),
  },
};

const TRAILER: Operation = {
  id: 'bulkTrailer',
  tag: 'Bulk',
  keyed: true,
  summary: 'How a bulk file ended: counts per response code and SHA-256 of the output.',
  parameters: [KEY_PARAMETER, parameter('job', TEXT, 'X-Situs-Job of the answer.')],
  responses: {
    200: answerOf('The trailer, kept for an hour.', ['BulkTrailer'], LIMITED),
    ...refusalsOf({
      403: 'The plan has no bulk files.',
      404: 'The account has no such job, or its hour is over.',
      409: 'The file is still under way.',
    }),
  },
};

export const BULK_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  ['POST /bulk/lookup', LOOKUP],
  ['POST /bulk/cart', CART],
  ['GET /bulk/trailer', TRAILER],
];
