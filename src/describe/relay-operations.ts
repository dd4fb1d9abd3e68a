/** Operations that the compliance provider carries out, in the form of OpenAPI. */
import {
  BOOLEAN,
  INTEGER,
  NUMBER,
  TEXT,
  about,
  list,
  nullable,
  object,
  type Members,
  type Schema,
} from '../base/json-schema.js';
import { CERTIFICATE_MEMBERS, RELAYED_PARTS } from '../api/merchant/relay-shape.js';
import { answerOf, LIMITED, merchantOperation } from './answers.js';
import type { ComponentName } from './document.js';
import type { Operation, OperationName } from './operations.js';

const {
  address: { schema: ADDRESS },
  currency: { schema: CURRENCY },
} = RELAYED_PARTS;
const {
  exemption: { schema: EXEMPTION },
  tic: { schema: TIC },
} = RELAYED_PARTS;

/** An order as the provider returns it. */
export const ORDER: Schema = object(
  {
    connectionId: TEXT,
    orderId: TEXT,
    kind: TEXT,
    customerId: TEXT,
    origin: ADDRESS,
    destination: ADDRESS,
    currency: CURRENCY,
    lineItems: nullable(list({ type: 'object' })),
    deliveredBySeller: BOOLEAN,
    exemption: EXEMPTION,
    channel: nullable(TEXT),
    excludeFromFiling: BOOLEAN,
  },
  {
    transactionDate: TEXT,
    completedDate: TEXT,
    batchId: nullable(TEXT),
    refunds: list({ type: 'object' }),
  },
);

export const REFUND: Schema = object(
  {
    connectionId: TEXT,
    createdDate: TEXT,
    items: list(
      object({
        index: INTEGER,
        itemId: TEXT,
        price: NUMBER,
        quantity: NUMBER,
        tic: TIC,
        tax: object({ amount: NUMBER }),
      }),
    ),
  },
  { returnedDate: nullable(TEXT), batchId: nullable(TEXT) },
);

const CERTIFICATE_TOLD: Members = Object.fromEntries(
  Object.entries(CERTIFICATE_MEMBERS)
    .filter(([, { optional }]) => !optional)
    .map(([name, { schema }]) => [name, schema]),
);

export const CERTIFICATE: Schema = object(
  {
    ...CERTIFICATE_TOLD,
    certificateId: TEXT,
    connectionId: TEXT,
    accountId: INTEGER,
    singlePurchase: BOOLEAN,
    createdDate: TEXT,
    disabledAt: about(nullable(TEXT), 'Null while it is in force.'),
  },
  { customerBusinessDescription: nullable(TEXT) },
);

export const CERTIFICATE_PAGE: Schema = object({
  items: list(CERTIFICATE),
  limit: INTEGER,
  nextCursor: nullable(TEXT),
});

const PROVIDER_REFUSES = 'Also the refusal of the provider, as it came.';

/** The reason for each status in these operations. */
const REASONS = {
  400: `The body is not JSON, or an id is missing or broken. ${PROVIDER_REFUSES}`,
  403: 'The account has no such merchant, it is self-managed, or the plan is not Enterprise.',
  404: `No usable credentials are stored, or the provider has no such thing. ${PROVIDER_REFUSES}`,
  409: `A request with this Idempotency-Key is under way. ${PROVIDER_REFUSES}`,
  413: `The body is longer than the operation takes. ${PROVIDER_REFUSES}`,
  422: `A field breaks its rule. ${PROVIDER_REFUSES}`,
  429: 'Response code 108: over the rate of the key. Also over the rate of the provider.',
  502:
    'The provider could not be reached, or gave no usable answer. It may have ' +
    'carried the request out.',
  503: 'No provider is configured, or too many calls to it are under way.',
  504: 'The provider did not answer in time. It may have carried the request out.',
} as const;

interface Relayed {
  readonly id: string;
  readonly summary: string;
  readonly body: ComponentName;
  readonly of: ComponentName;
  readonly writes: boolean;
  /** A further status of success. */
  readonly also?: 201 | 204;
}

function relayed({ id, summary, body, of, writes, also }: Relayed): Operation {
  const answer = 'What the provider answers, byte for byte.';
  const operation = merchantOperation({
    id,
    summary,
    body,
    status: 200,
    answer,
    of,
    writes,
    more: REASONS,
  });
  const more: Record<string, Schema> = {};
  if (also === 201) more['201'] = answerOf(answer, [of], { ...LIMITED, located: true });
  if (also === 204) more['204'] = { description: 'It is done; there is nothing to tell.' };
  return { ...operation, responses: { ...operation.responses, ...more } };
}

export const RELAY_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  [
    'POST /merchant/order/create-from-cart',
    relayed({
      id: 'orderCreateFromCart',
      summary: 'Turns a calculated cart into an order.',
      body: 'OrderFromCart',
      of: 'Order',
      writes: true,
      also: 201,
    }),
  ],
  [
    'POST /merchant/order/create',
    relayed({
      id: 'orderCreate',
      summary: 'Records an order that was taxed elsewhere.',
      body: 'OrderCreate',
      of: 'Order',
      writes: true,
      also: 201,
    }),
  ],
  [
    'POST /merchant/order/get',
    relayed({
      id: 'orderGet',
      summary: 'One order.',
      body: 'OrderGet',
      of: 'Order',
      writes: false,
    }),
  ],
  [
    'POST /merchant/order/update',
    relayed({
      id: 'orderUpdate',
      summary: 'Says when an order was completed.',
      body: 'OrderUpdate',
      of: 'Order',
      writes: true,
    }),
  ],
  [
    'POST /merchant/refund/create',
    relayed({
      id: 'refundCreate',
      summary: 'Refunds an order, whole or in part.',
      body: 'RefundCreate',
      of: 'Refund',
      writes: true,
      also: 201,
    }),
  ],
  [
    'POST /merchant/cert/create',
    relayed({
      id: 'certCreate',
      summary: 'Records an exemption certificate.',
      body: 'CertificateCreate',
      of: 'Certificate',
      writes: true,
      also: 201,
    }),
  ],
  [
    'POST /merchant/cert/get',
    relayed({
      id: 'certGet',
      summary: 'One exemption certificate.',
      body: 'CertificateId',
      of: 'Certificate',
      writes: false,
    }),
  ],
  [
    'POST /merchant/cert/delete',
    relayed({
      id: 'certDelete',
      summary: 'Disables an exemption certificate.',
      body: 'CertificateId',
      of: 'AnyDocument',
      writes: true,
      also: 204,
    }),
  ],
  [
    'POST /merchant/cert/list',
    relayed({
      id: 'certList',
      summary: 'Exemption certificates, in pages.',
      body: 'CertificateList',
      of: 'CertificatePage',
      writes: false,
    }),
  ],
];
