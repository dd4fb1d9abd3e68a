/** Schemas of carts, from the limits that their readers check. */
import { CART_LINES_MAX } from '../engine/cart-query.js';
import { PRICE_MAX, QUANTITY_MAX } from './cart-amount.js';
import { CARTS_MAX } from './merchant-cart.js';
import { ADDRESS_CHARS_MAX } from './parameter.js';
import {
  about, BOOLEAN, list, NUMBER, object, RATE, TEXT, type Members, type Schema,
} from './schema.js';

const ID: Schema = { type: 'string', format: 'uuid' };
const NAME: Schema = { type: 'string', minLength: 1, maxLength: 50 };
const PRICE: Schema = { type: 'number', minimum: 0, maximum: PRICE_MAX };
const QUANTITY: Schema = { type: 'number', minimum: 0, maximum: QUANTITY_MAX };
const TIC: Schema = { type: ['integer', 'null'], minimum: 0, maximum: 100_000 };

function text(max: number): Schema {
  return { type: 'string', minLength: 1, maxLength: max };
}

const ROUNDING: Schema = about(TEXT,
  'half-up (default), half-even, up or down; ",cart" rounds whole carts and spreads the rest.');
const EXPLAIN: Schema = about(BOOLEAN, 'Tells how each amount came about.');

const ADDRESS: Schema = object(
  { line1: text(128), city: text(50), state: text(32), zip: text(16) },
  {
    line2: { type: ['string', 'null'], maxLength: 128 },
    countryCode: { type: ['string', 'null'], enum: ['US', 'CA', null] },
  },
);

const CURRENCY: Schema = object({}, {
  currencyCode: { type: ['string', 'null'], enum: ['USD', 'CAD', null] },
});

const TAX: Schema = object({ rate: RATE, amount: { type: 'number', minimum: 0 } });

const MERCHANT_LINE: Members = {
  index: { type: 'integer', minimum: 0, maximum: 500 },
  itemId: NAME,
  price: about(PRICE, 'Of one unit, in dollars.'),
  quantity: QUANTITY,
};

/** What a client sends for a merchant; members for the compliance provider alone are open. */
export const CART_REQUEST: Schema = object({
  merchantId: ID,
  items: {
    ...list(object({
      customerId: NAME, currency: CURRENCY, origin: ADDRESS, destination: ADDRESS,
      lineItems: list(object(MERCHANT_LINE, {
        tic: about(TIC, 'Product code; 10001 is shipping, 11000 handling.'),
        productId: { type: ['string', 'null'] },
      })),
    }, {
      cartId: { type: ['string', 'null'], maxLength: 50 },
      deliveredBySeller: { type: ['boolean', 'null'] },
      discounts: about({}, 'For provider-connected merchants.'),
      exemption: about({}, 'For provider-connected merchants.'),
    })),
    minItems: 1, maxItems: CARTS_MAX,
  },
}, {
  transactionDate: { type: ['string', 'null'], format: 'date-time' },
  rounding: ROUNDING, explain: EXPLAIN,
});

const EXPLANATION: Schema = about({ type: 'object' }, 'Only with explain=true.');

/** What a self-managed merchant's carts are answered with. */
export const CART_ANSWER: Schema = object({
  items: list(object({
    cartId: text(50), customerId: NAME, currency: object({ currencyCode: TEXT }),
    origin: ADDRESS, destination: ADDRESS,
    lineItems: list(object(
      { ...MERCHANT_LINE, originalPrice: PRICE, tic: TIC, tax: TAX }, { explain: EXPLANATION },
    )),
  }, { explain: EXPLANATION })),
});

const PLACE: Schema = object({ address: text(ADDRESS_CHARS_MAX) });

const ABOVE_ZERO = { exclusiveMinimum: 0 };

function closed(schema: Schema): Schema {
  return { ...schema, additionalProperties: false };
}

/** A cart of no merchant. */
export const CALCULATION_REQUEST: Schema = closed(object({
  items: {
    ...list(closed(object({
      customerId: NAME,
      currency: object({}, { currencyCode: { type: ['string', 'null'], enum: ['USD', null] } }),
      origin: PLACE, destination: PLACE,
      lineItems: {
        ...list(closed(object({
          itemId: NAME,
          price: { type: 'number', ...ABOVE_ZERO, maximum: PRICE_MAX },
          quantity: { type: 'number', ...ABOVE_ZERO, maximum: QUANTITY_MAX },
        }, { taxabilityCode: TIC }))),
        minItems: 1, maxItems: CART_LINES_MAX,
      },
    }))),
    minItems: 1, maxItems: 1,
  },
}, { rounding: ROUNDING, explain: EXPLAIN }));

export const CALCULATION_ANSWER: Schema = object({
  items: list(object({
    cartId: ID, customerId: NAME, destination: PLACE, origin: PLACE,
    lineItems: list(object(
      { itemId: NAME, price: NUMBER, quantity: NUMBER, tax: TAX }, { explain: EXPLANATION },
    )),
  }, { explain: EXPLANATION })),
});

