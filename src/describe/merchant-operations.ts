/** Merchants, credentials and nexus, in the form of OpenAPI. */
import {
  NUMBER,
  TEXT,
  about,
  list,
  object,
  oneOf,
  type Members,
  type Schema,
} from '../base/json-schema.js';
import { MERCHANT_STATUSES } from '../store/merchants.js';
import { API_KEY_CHARS_MAX, CONNECTION_CHARS_MAX } from '../api/merchant/merchant-shape.js';
import { merchantOperation, REASONS } from './answers.js';
import type { Operation, OperationName } from './operations.js';
import { parameter, type Parameter } from './lookup-parameters.js';

const ID: Schema = { type: 'string', format: 'uuid' };
const MOMENT: Schema = { type: 'string', format: 'date-time' };

function textUpTo(max: number): Schema {
  return { type: 'string', minLength: 1, maxLength: max };
}

const RESULT: Members = { merchantId: ID, message: TEXT, status: { const: 'success' } };

export const MERCHANT_RESULT: Schema = object(RESULT);

export const MERCHANT: Schema = object(
  { merchantId: ID, merchantName: TEXT, status: oneOf(MERCHANT_STATUSES) },
  { contactFirst: TEXT, contactLast: TEXT, contactEmail: TEXT, referenceId: TEXT },
);

export const MERCHANT_LIST: Schema = list(MERCHANT);

export const CREDENTIALS: Schema = object({
  apiKey: textUpTo(API_KEY_CHARS_MAX),
  connectionId: textUpTo(CONNECTION_CHARS_MAX),
});

const LOCATION: Schema = object(
  {
    locationId: ID,
    nexusType: { const: 'physical' },
    line1: TEXT,
    city: TEXT,
    state: { type: 'string', pattern: '^[A-Z]{2}$' },
    zip: about(TEXT, 'With the four digits where they are known.'),
    countryCode: { const: 'US' },
    normalizedAddress: TEXT,
    geoLat: about(NUMBER, 'A spot in the area where only ZIP or city are known.'),
    geoLng: about(NUMBER, 'A spot in the area where only ZIP or city are known.'),
    createdAt: MOMENT,
    updatedAt: MOMENT,
  },
  { name: TEXT, line2: TEXT },
);

export const NEXUS_CREATED: Schema = object({ ...RESULT, locations: list(LOCATION) });
export const NEXUS_LISTED: Schema = object({ merchantId: ID, locations: list(LOCATION) });
export const NEXUS_UPDATED: Schema = object({ ...RESULT, location: LOCATION });
export const NEXUS_DELETED: Schema = object({ ...RESULT, locationId: ID });

const TAKEN =
  'Another merchant has the referenceId, or a request with this Idempotency-Key is ' + 'under way.';
const WRITES = { status: 200, answer: 'It is done.', of: 'MerchantResult', writes: true } as const;
const LOCATION_404 = 'The merchant has no such location.';

const PAGE: readonly Parameter[] = [
  parameter(
    'limit',
    { type: 'integer', minimum: 1, maximum: 1_000 },
    'Merchants of one page; 1,000 where there is a cursor alone.',
  ),
  parameter(
    'cursor',
    { type: 'string' },
    'X-Situs-Next-Cursor of the page before; empty for the first one.',
  ),
];

export const MERCHANT_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  [
    'POST /merchant/create',
    merchantOperation({
      ...WRITES,
      id: 'merchantCreate',
      summary: 'Makes a merchant.',
      body: 'MerchantCreate',
      status: 201,
      more: {
        400: 'The body is not JSON, or an invitation is asked for without contactEmail.',
        403: 'The plan does not include merchants, or merchants of the provider type.',
        409: TAKEN,
      },
    }),
  ],
  [
    'POST /merchant/update',
    merchantOperation({
      ...WRITES,
      id: 'merchantUpdate',
      summary: 'Changes name and contacts, or who files.',
      body: 'MerchantUpdate',
      more: { 409: TAKEN },
    }),
  ],
  [
    'POST /merchant/delete',
    merchantOperation({
      ...WRITES,
      id: 'merchantDelete',
      summary: 'Deletes a merchant and its credentials.',
      body: 'MerchantId',
    }),
  ],
  [
    'POST /merchant/get',
    merchantOperation({
      id: 'merchantGet',
      summary: 'One merchant.',
      body: 'MerchantId',
      status: 200,
      answer: 'The merchant.',
      of: 'Merchant',
      writes: false,
      more: { 403: 'The plan does not include merchants.', 404: REASONS[404] },
    }),
  ],
  [
    'GET /merchant/list',
    {
      ...merchantOperation({
        id: 'merchantList',
        summary: 'Every merchant of the account that is not deleted.',
        body: null,
        status: 200,
        of: 'MerchantList',
        writes: false,
        answer:
          'The merchants, the oldest first; or a page of them in the order of ids, and ' +
          'X-Situs-Next-Cursor unless it is the last one.',
        more: {
          403: 'The plan does not include merchants.',
          422: 'limit or cursor cannot be used, or there are too many merchants without them.',
        },
      }),
      parameters: PAGE,
    },
  ],
  [
    'POST /merchant/credentials/set',
    merchantOperation({
      ...WRITES,
      id: 'credentialsSet',
      summary: 'Stores the credentials with the provider.',
      body: 'CredentialsSet',
      more: {
        409:
          'Another merchant has the connection, or a request with this Idempotency-Key is under ' +
          'way.',
      },
    }),
  ],
  [
    'POST /merchant/credentials/get',
    merchantOperation({
      id: 'credentialsGet',
      summary: 'The credentials with the provider.',
      body: 'MerchantId',
      status: 200,
      answer: 'The credentials.',
      of: 'Credentials',
      writes: false,
      more: { 404: 'No credentials are stored.' },
    }),
  ],
  [
    'POST /merchant/credentials/delete',
    merchantOperation({
      ...WRITES,
      id: 'credentialsDelete',
      summary: 'Removes the credentials.',
      body: 'MerchantId',
      more: { 404: 'No credentials are stored.' },
    }),
  ],
  [
    'POST /merchant/nexus/create',
    merchantOperation({
      ...WRITES,
      id: 'nexusCreate',
      summary: 'Records up to 25 locations, all or none.',
      body: 'NexusCreate',
      of: 'NexusCreated',
      answer: 'The locations, in the order sent.',
      more: {
        400: 'The body is not JSON, an id is not a UUID, or nexusType is economic.',
        422: 'A field breaks its rule, or an address leads to no US state.',
        503: 'No address data is loaded, too much is under way, or the store takes nothing now.',
        504: 'Finding the addresses took more than ten seconds.',
      },
    }),
  ],
  [
    'POST /merchant/nexus/list',
    merchantOperation({
      id: 'nexusList',
      summary: 'The locations of a merchant.',
      body: 'NexusList',
      status: 200,
      answer: 'The locations, the oldest first.',
      of: 'NexusListed',
      writes: false,
      more: { 400: 'The body is not JSON, an id is not a UUID, or nexusType is economic.' },
    }),
  ],
  [
    'POST /merchant/nexus/update',
    merchantOperation({
      ...WRITES,
      id: 'nexusUpdate',
      summary: 'Replaces a location.',
      body: 'NexusUpdate',
      of: 'NexusUpdated',
      answer: 'The location.',
      more: {
        404: LOCATION_404,
        422: 'A field breaks its rule, or the address leads to no US state.',
        503:
          'No address data is loaded, too much is under way, or finding the address took more ' +
          'than ten seconds, or the store takes nothing now.',
      },
    }),
  ],
  [
    'POST /merchant/nexus/delete',
    merchantOperation({
      ...WRITES,
      id: 'nexusDelete',
      summary: 'Deletes a location.',
      body: 'NexusDelete',
      of: 'NexusDeleted',
      more: { 404: LOCATION_404 },
    }),
  ],
];
