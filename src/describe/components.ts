/** Named schemas of the OpenAPI document, and answers made of them. */
import {
  legacyFailure, legacySuccess, V60_POSTAL,
} from './legacy-lookups.js';
import { BULK_JOB, BULK_JOBS, BULK_TRAILER } from './job-operations.js';
import { CALCULATION_ANSWER, CART_ANSWER } from './cart-operations.js';
import { CALCULATION_REQUEST } from '../api/cart/calculation.js';
import { CART_REQUEST } from '../api/cart/merchant-cart.js';
import {
  HEALTH, LIVE, metricsSchema, MISSING_KEY, PROBLEM, READY, SYSTEM_METADATA, TIC_LIST,
  TIC_SEARCH_ANSWER,
} from './service.js';
import {
  CREDENTIALS, MERCHANT, MERCHANT_LIST, MERCHANT_RESULT, NEXUS_CREATED, NEXUS_DELETED,
  NEXUS_LISTED, NEXUS_UPDATED,
} from './merchant-operations.js';
import {
  CREDENTIALS_SET, MERCHANT_CREATE, MERCHANT_ID, MERCHANT_UPDATE,
} from '../api/merchant/merchant-shape.js';
import {
  NEXUS_CREATE, NEXUS_DELETE, NEXUS_LIST, NEXUS_UPDATE,
} from '../api/merchant/nexus-shape.js';
import { relayedShape } from '../api/merchant/relay-shape.js';
import { CERTIFICATE, CERTIFICATE_PAGE, ORDER, REFUND } from './relay-operations.js';
import { TIC_QUERY } from '../api/catalogue/handler.js';
import { V60_FAILURE, V60_SUCCESS } from './lookups.js';
import type { Schema } from '../base/json-schema.js';

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
