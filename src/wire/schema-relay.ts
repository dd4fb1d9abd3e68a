/**
 * Schemas of what is relayed to the compliance provider, from the limits that are checked, and of
 * what comes back as far as the provider tells it. Neither is closed.
 */
import {
  ADDRESS_CHARS, ADDRESS_COUNTRIES, BUSINESS_TYPES, CERTIFICATE_ORDERS, CERTIFICATE_PAGE_MAX,
  CURRENCIES, CURSOR_CHARS_MAX, CUSTOMER_NAME_CHARS_MAX, EXEMPTION_REASONS, LINE_INDEX_MAX,
  ORDER_KINDS, PROVIDER_ID_CHARS_MAX, PROVIDER_QUANTITY_MAX, REASON_CHARS_MAX, TIC_MAX,
} from './relay-body.js';
import {
  about, BOOLEAN, INTEGER, list, nullable, NUMBER, object, oneOf, RATE, TEXT, type Members,
  type Schema,
} from './schema.js';

function length(min: number, max: number): Schema {
  return { type: 'string', minLength: min, maxLength: max };
}

const MERCHANT: Members = { merchantId: { type: 'string', format: 'uuid' } };
const ID: Schema = length(1, PROVIDER_ID_CHARS_MAX);
const DATE: Schema = about(TEXT, 'A date, or a date and time with its zone (RFC 3339).');
const FLAG: Schema = nullable(BOOLEAN);
const QUANTITY: Schema = { type: 'number', minimum: 0, maximum: PROVIDER_QUANTITY_MAX };

const ADDRESS: Schema = object({
  line1: length(1, ADDRESS_CHARS.line), city: length(1, ADDRESS_CHARS.city),
  state: length(1, ADDRESS_CHARS.state), zip: length(1, ADDRESS_CHARS.zip),
}, {
  line2: nullable(length(0, ADDRESS_CHARS.line)),
  countryCode: nullable(oneOf(ADDRESS_COUNTRIES)),
});

const CURRENCY: Schema = object({}, { currencyCode: nullable(oneOf(CURRENCIES)) });
const EXEMPTION: Schema = object({}, { exemptionId: nullable(TEXT), isExempt: FLAG });
const TIC: Schema = nullable({ type: 'integer', minimum: 0, maximum: TIC_MAX });
const TAX: Schema = object({ rate: RATE, amount: NUMBER });

const LINE: Schema = object({
  index: { type: 'integer', minimum: 0, maximum: LINE_INDEX_MAX }, itemId: ID,
  price: { type: 'number', minimum: 0 }, quantity: QUANTITY, tax: TAX,
}, { tic: TIC, productId: nullable(TEXT) });

export const ORDER_CREATE: Schema = object({
  ...MERCHANT, orderId: ID, customerId: ID, transactionDate: DATE, completedDate: DATE,
  currency: CURRENCY, origin: ADDRESS, destination: ADDRESS, lineItems: list(LINE),
}, {
  batchId: nullable(TEXT),
  channel: about(nullable(TEXT), 'amazon, ebay and walmart are left out of filings.'),
  deliveredBySeller: FLAG, discounts: nullable({ type: 'object' }), excludeFromFiling: FLAG,
  exemption: nullable(EXEMPTION), kind: nullable(oneOf(ORDER_KINDS)),
});

export const ORDER_FROM_CART: Schema = object({ ...MERCHANT, cartId: ID, orderId: ID }, {
  completed: FLAG, completedDate: about(nullable(TEXT), 'Goes before completed.'),
  kind: nullable(oneOf(ORDER_KINDS)),
});

export const ORDER_GET: Schema = object({ ...MERCHANT, orderId: ID }, {
  expand: about(
    { anyOf: [oneOf(['refunds']), list(oneOf(['refunds'])), { type: 'null' }] },
    'refunds adds the refunds of the order.',
  ),
});

export const ORDER_UPDATE: Schema = object(
  { ...MERCHANT, orderId: ID }, { completedDate: nullable(DATE) },
);

export const REFUND_CREATE: Schema = object({ ...MERCHANT, orderId: ID }, {
  items: about(
    nullable(list(object({ itemId: ID, quantity: QUANTITY }))), 'None is the whole order.',
  ),
  returnedDate: nullable(DATE), batchId: nullable(TEXT),
});

const CERTIFICATE_MEMBERS: Members = {
  customerId: ID, customerName: length(1, CUSTOMER_NAME_CHARS_MAX),
  customerBusinessType: oneOf(BUSINESS_TYPES), reason: oneOf(EXEMPTION_REASONS),
  reasonDescription: length(0, REASON_CHARS_MAX), address: ADDRESS,
  states: {
    type: 'array', minItems: 1, items: object({ abbreviation: length(2, 2) }),
  },
};

export const CERTIFICATE_CREATE: Schema = object({ ...MERCHANT, ...CERTIFICATE_MEMBERS }, {
  customerBusinessDescription: nullable(length(0, CUSTOMER_NAME_CHARS_MAX)),
  singlePurchase: FLAG,
});

export const CERTIFICATE_ID: Schema = object({ ...MERCHANT, certificateId: ID });

export const CERTIFICATE_LIST: Schema = object(MERCHANT, {
  customerId: nullable(ID), cursor: nullable(length(0, CURSOR_CHARS_MAX)),
  limit: nullable({ type: 'integer', minimum: 0, maximum: CERTIFICATE_PAGE_MAX }),
  sortBy: nullable(oneOf(CERTIFICATE_ORDERS)), ascending: FLAG, disabled: FLAG,
});

/** An order as the provider answers it. */
export const ORDER: Schema = object({
  connectionId: TEXT, orderId: TEXT, kind: TEXT, customerId: TEXT, origin: ADDRESS,
  destination: ADDRESS, currency: CURRENCY, lineItems: nullable(list({ type: 'object' })),
  deliveredBySeller: BOOLEAN, exemption: EXEMPTION, channel: nullable(TEXT),
  excludeFromFiling: BOOLEAN,
}, {
  transactionDate: TEXT, completedDate: TEXT, batchId: nullable(TEXT),
  refunds: list({ type: 'object' }),
});

export const REFUND: Schema = object({
  connectionId: TEXT, createdDate: TEXT,
  items: list(object({
    index: INTEGER, itemId: TEXT, price: NUMBER, quantity: NUMBER, tic: TIC,
    tax: object({ amount: NUMBER }),
  })),
}, { returnedDate: nullable(TEXT), batchId: nullable(TEXT) });

export const CERTIFICATE: Schema = object({
  ...CERTIFICATE_MEMBERS, certificateId: TEXT, connectionId: TEXT, accountId: INTEGER,
  singlePurchase: BOOLEAN, createdDate: TEXT,
  disabledAt: about(nullable(TEXT), 'Null while it is in force.'),
}, { customerBusinessDescription: nullable(TEXT) });

export const CERTIFICATE_PAGE: Schema = object({
  items: list(CERTIFICATE), limit: INTEGER, nextCursor: nullable(TEXT),
});
