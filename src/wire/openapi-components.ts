/** Named schemas of the OpenAPI document, and answers made of them. */
import {
  legacyFailure, legacySuccess, V60_POSTAL,
} from './schema-legacy.js';
import { BULK_JOB, BULK_JOBS, BULK_TRAILER } from './schema-bulk.js';
import {
  CALCULATION_ANSWER, CALCULATION_REQUEST, CART_ANSWER, CART_REQUEST,
} from './schema-cart.js';
import {
  HEALTH, metricsSchema, MISSING_KEY, PROBLEM, SYSTEM_METADATA, TIC_LIST, TIC_QUERY,
  TIC_SEARCH_ANSWER,
} from './schema-other.js';
import {
  CREDENTIALS, CREDENTIALS_SET, MERCHANT, MERCHANT_CREATE, MERCHANT_ID, MERCHANT_LIST,
  MERCHANT_RESULT, MERCHANT_UPDATE, NEXUS_CREATE, NEXUS_CREATED, NEXUS_DELETE, NEXUS_DELETED,
  NEXUS_LIST, NEXUS_LISTED, NEXUS_UPDATE, NEXUS_UPDATED,
} from './schema-merchant.js';
import {
  CERTIFICATE, CERTIFICATE_CREATE, CERTIFICATE_ID, CERTIFICATE_LIST, CERTIFICATE_PAGE, ORDER,
  ORDER_CREATE, ORDER_FROM_CART, ORDER_GET, ORDER_UPDATE, REFUND, REFUND_CREATE,
} from './schema-relay.js';
import { V60_FAILURE, V60_SUCCESS } from './schema-v60.js';
import type { Schema } from './schema.js';

/** Every body by its name. */
export const COMPONENTS = {
  V10Rates: legacySuccess(10),
  V20Rates: legacySuccess(20),
  V30Rates: legacySuccess(30),
  V40Rates: legacySuccess(40),
  V50Rates: legacySuccess(50),
  V60Rates: V60_SUCCESS,
  V60PostalList: V60_POSTAL,
  V10Refusal: legacyFailure(10),
  V20Refusal: legacyFailure(20),
  V30Refusal: legacyFailure(30),
  V40Refusal: legacyFailure(40),
  V50Refusal: legacyFailure(50),
  V60Refusal: V60_FAILURE,
  Metrics: metricsSchema(null),
  LegacyMetrics: metricsSchema(50),
  V60Metrics: metricsSchema(60),
  MissingKey: MISSING_KEY,
  TicList: TIC_LIST,
  TicQuery: TIC_QUERY,
  TicSearch: TIC_SEARCH_ANSWER,
  MerchantCreate: MERCHANT_CREATE,
  MerchantUpdate: MERCHANT_UPDATE,
  MerchantId: MERCHANT_ID,
  MerchantResult: MERCHANT_RESULT,
  Merchant: MERCHANT,
  MerchantList: MERCHANT_LIST,
  CredentialsSet: CREDENTIALS_SET,
  Credentials: CREDENTIALS,
  NexusCreate: NEXUS_CREATE,
  NexusCreated: NEXUS_CREATED,
  NexusList: NEXUS_LIST,
  NexusListed: NEXUS_LISTED,
  NexusUpdate: NEXUS_UPDATE,
  NexusUpdated: NEXUS_UPDATED,
  NexusDelete: NEXUS_DELETE,
  NexusDeleted: NEXUS_DELETED,
  OrderFromCart: ORDER_FROM_CART,
  OrderCreate: ORDER_CREATE,
  OrderGet: ORDER_GET,
  OrderUpdate: ORDER_UPDATE,
  Order: ORDER,
  RefundCreate: REFUND_CREATE,
  Refund: REFUND,
  CertificateCreate: CERTIFICATE_CREATE,
  CertificateId: CERTIFICATE_ID,
  CertificateList: CERTIFICATE_LIST,
  Certificate: CERTIFICATE,
  CertificatePage: CERTIFICATE_PAGE,
  CartRequest: CART_REQUEST,
  CartAnswer: CART_ANSWER,
  CalculationRequest: CALCULATION_REQUEST,
  CalculationAnswer: CALCULATION_ANSWER,
  BulkTrailer: BULK_TRAILER,
  BulkJob: BULK_JOB,
  BulkJobs: BULK_JOBS,
  Health: HEALTH,
  SystemMetadata: SYSTEM_METADATA,
  Problem: PROBLEM,
  AnyDocument: { type: 'object' },
} as const satisfies Readonly<Record<string, Schema>>;

export type ComponentName = keyof typeof COMPONENTS;

export function reference(name: ComponentName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const LIMIT_HEADERS: Schema = {
  'X-RateLimit-Limit': {
    description: 'Requests in a rolling minute.', schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in it.', schema: { type: 'integer', minimum: 0 },
  },
};

/** Header fields of answered lookups beside the limits. */
const LOOKUP_HEADERS: Schema = {
  'X-Situs-Precision': {
    description: 'How the place was found, with ";estimated" where a figure is.',
    schema: { type: 'string' },
  },
  'X-Situs-Dataset': {
    description: 'The dataset that answered, with ";stale" where a list has ended.',
    schema: { type: 'string' },
  },
};

const XML: Schema = {
  'application/xml': { schema: { type: 'string', description: 'The same data as XML.' } },
};

export interface AnswerOptions {
  /** Also as XML. */
  readonly xml?: boolean;
  /** With the two fields of rate limits. */
  readonly limited?: boolean;
  readonly lookup?: boolean;
  /** With the place of what was made. */
  readonly located?: boolean;
  /** Content type, where it is not the usual one. */
  readonly type?: string;
}

const LOCATION: Schema = {
  Location: { description: 'Where it is kept.', schema: { type: 'string' } },
};

function headersOf(options: AnswerOptions): Schema {
  const { limited = false, lookup = false, located = false } = options;
  return {
    ...(limited ? LIMIT_HEADERS : {}), ...(lookup ? LOOKUP_HEADERS : {}),
    ...(located ? LOCATION : {}),
  };
}

/** An answer of one of several bodies. */
export function answerOf(
  description: string, names: readonly ComponentName[], options: AnswerOptions = {},
): Schema {
  const refs = names.map(reference);
  const [first = {}] = refs;
  const schema = refs.length === 1 ? first : { anyOf: refs };
  const headers = headersOf(options);
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: {
      [options.type ?? 'application/json']: { schema },
      ...(options.xml === true ? XML : {}),
    },
  };
}

/** A problem document. */
export function problemOf(description: string, options: AnswerOptions = {}): Schema {
  const headers = headersOf(options);
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { 'application/problem+json': { schema: reference('Problem') } },
  };
}
