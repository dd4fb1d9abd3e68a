/**
 * The OpenAPI document: every route with the description of its operation. GET /openapi.json is
 * made from the routes of the service that answers it.
 */
import { CALCULATION_REQUEST } from '../api/cart/calculation.js';
import { CART_REQUEST } from '../api/cart/cart-shape.js';
import { TIC_QUERY } from '../api/catalogue/handler.js';
import { TIC_SEARCH_SCHEMA } from '../api/catalogue/pages.js';
import {
  CREDENTIALS_SET,
  MERCHANT_CREATE,
  MERCHANT_ID,
  MERCHANT_UPDATE,
} from '../api/merchant/merchant-shape.js';
import {
  NEXUS_CREATE,
  NEXUS_DELETE,
  NEXUS_LIST,
  NEXUS_UPDATE,
} from '../api/merchant/nexus-shape.js';
import { relayedShape } from '../api/merchant/relay-shape.js';
import { type Schema, SCHEMA_TYPE } from '../base/json-schema.js';
import { headOf, JSON_TYPE } from '../http/reply.js';
import type { Route } from '../http/router.js';
import { problemOf } from './answers.js';
import { CALCULATION_ANSWER, CART_ANSWER } from './cart-operations.js';
import { BULK_JOB, BULK_JOBS, BULK_TRAILER } from './job-operations.js';
import { legacyFailure, legacySuccess, V60_POSTAL } from './legacy-lookups.js';
import { V60_FAILURE, V60_SCHEMA, V60_SUCCESS, v60Schema } from './lookups.js';
import {
  CREDENTIALS,
  MERCHANT,
  MERCHANT_LIST,
  MERCHANT_RESULT,
  NEXUS_CREATED,
  NEXUS_DELETED,
  NEXUS_LISTED,
  NEXUS_UPDATED,
} from './merchant-operations.js';
import { operationObject, OPERATIONS } from './operations.js';
import { CERTIFICATE, CERTIFICATE_PAGE, ORDER, REFUND } from './relay-operations.js';
import {
  HEALTH,
  LIVE,
  metricsSchema,
  MISSING_KEY,
  PROBLEM,
  READY,
  SYSTEM_METADATA,
  TIC_LIST,
  TIC_SEARCH_ANSWER,
  ticSearchSchema,
} from './service.js';
import { openRoute } from '../http/duplex-route.js';

// Named schemas of the OpenAPI document.

/** The schema of every body, by its name. */
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
  TicQuery: TIC_QUERY.schema,
  TicSearch: TIC_SEARCH_ANSWER,
  MerchantCreate: MERCHANT_CREATE.schema,
  MerchantUpdate: MERCHANT_UPDATE.schema,
  MerchantId: MERCHANT_ID.schema,
  MerchantResult: MERCHANT_RESULT,
  Merchant: MERCHANT,
  MerchantList: MERCHANT_LIST,
  CredentialsSet: CREDENTIALS_SET.schema,
  Credentials: CREDENTIALS,
  NexusCreate: NEXUS_CREATE.schema,
  NexusCreated: NEXUS_CREATED,
  NexusList: NEXUS_LIST.schema,
  NexusListed: NEXUS_LISTED,
  NexusUpdate: NEXUS_UPDATE.schema,
  NexusUpdated: NEXUS_UPDATED,
  NexusDelete: NEXUS_DELETE.schema,
  NexusDeleted: NEXUS_DELETED,
  OrderFromCart: relayedShape('order/create-from-cart').schema,
  OrderCreate: relayedShape('order/create').schema,
  OrderGet: relayedShape('order/get').schema,
  OrderUpdate: relayedShape('order/update').schema,
  Order: ORDER,
  RefundCreate: relayedShape('refund/create').schema,
  Refund: REFUND,
  CertificateCreate: relayedShape('cert/create').schema,
  CertificateId: relayedShape('cert/get').schema,
  CertificateList: relayedShape('cert/list').schema,
  Certificate: CERTIFICATE,
  CertificatePage: CERTIFICATE_PAGE,
  CartRequest: CART_REQUEST.schema,
  CartAnswer: CART_ANSWER,
  CalculationRequest: CALCULATION_REQUEST.schema,
  CalculationAnswer: CALCULATION_ANSWER,
  BulkTrailer: BULK_TRAILER,
  BulkJob: BULK_JOB,
  BulkJobs: BULK_JOBS,
  Health: HEALTH,
  Live: LIVE,
  Ready: READY,
  SystemMetadata: SYSTEM_METADATA,
  Problem: PROBLEM,
  AnyDocument: { type: 'object' },
} as const satisfies Readonly<Record<string, Schema>>;

export type ComponentName = keyof typeof COMPONENTS;

/** The parts of a route that the document needs. */
interface RouteName {
  readonly method: string;
  readonly path: string;
  /** Zero where there is no body, or its length is not limited. */
  readonly bodyBytesMax?: number;
}

const OPENAPI_VERSION = '3.1.0';

/** A route without a description is listed too, so that the document names all routes. */
function objectOf({ method, path, bodyBytesMax = 0 }: RouteName): Schema {
  const operation = OPERATIONS.get(`${method} ${path}`);
  return operation === undefined
    ? { responses: { default: problemOf('Not described.') } }
    : operationObject(operation, bodyBytesMax);
}

function pathsOf(routes: readonly RouteName[]): Schema {
  const paths = new Map<string, Record<string, Schema>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? {};
    methods[route.method.toLowerCase()] = objectOf(route);
    paths.set(route.path, methods);
  }
  return Object.fromEntries(paths);
}

/** The OpenAPI document for the routes of a running service. */
export function openapiDocument(
  routes: readonly RouteName[],
  baseUrl: string,
  version: string,
): Schema {
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: 'Situs',
      version,
      summary: 'Sales-tax rates for the US and Canada: by address, point or ZIP, on a date.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl === '' ? '/' : baseUrl }],
    paths: pathsOf(routes),
    components: {
      schemas: COMPONENTS,
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        queryKey: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
  };
}

function schemaRoute(path: string, schema: Schema): Route {
  const reply = { status: 200, head: headOf(SCHEMA_TYPE), body: JSON.stringify(schema) };
  return openRoute(path, () => reply);
}

/** Routes of the JSON Schemas that answers refer to. */
export function schemaRoutes(baseUrl: string): readonly Route[] {
  return [
    schemaRoute(V60_SCHEMA, v60Schema(baseUrl)),
    schemaRoute(TIC_SEARCH_SCHEMA, ticSearchSchema(baseUrl)),
  ];
}

/** The version of the interface. */
const INTERFACE_VERSION = '60';

/** The given routes, and one for the document that describes all of them and itself. */
export function withOpenapi(routes: readonly Route[], baseUrl: string): readonly Route[] {
  let body: string | null = null;
  const all: Route[] = [
    ...routes,
    openRoute('/openapi.json', () => {
      body ??= JSON.stringify(openapiDocument(all, baseUrl, INTERFACE_VERSION));
      return { status: 200, head: headOf(JSON_TYPE), body };
    }),
  ];
  return all;
}
