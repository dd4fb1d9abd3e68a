/** Operations on carts, as OpenAPI tells them. */
import {
  BOOLEAN,
  NUMBER,
  RATE,
  TEXT,
  about,
  list,
  object,
  type Members,
  type Schema,
} from '../base/json-schema.js';
import { PRICE_MAX, QUANTITY_MAX } from '../api/cart/wire-amount.js';
import { ADDRESS_CHARS_MAX } from '../api/lookup/parameter-table.js';
import { merchantOperation } from './answers.js';
import { SITUS_NOTE } from './lookups.js';
import type { Operation, OperationName } from './operations.js';
import { KEPT_PARAMETERS, type Parameter } from './lookup-parameters.js';

const ID: Schema = { type: 'string', format: 'uuid' };
const NAME: Schema = { type: 'string', minLength: 1, maxLength: 50 };
const PRICE: Schema = { type: 'number', minimum: 0, maximum: PRICE_MAX };
const QUANTITY: Schema = { type: 'number', minimum: 0, maximum: QUANTITY_MAX };
const TIC: Schema = { type: ['integer', 'null'], minimum: 0, maximum: 100_000 };

function text(max: number): Schema {
  return { type: 'string', minLength: 1, maxLength: max };
}

const ADDRESS: Schema = object(
  { line1: text(128), city: text(50), state: text(32), zip: text(16) },
  {
    line2: { type: ['string', 'null'], maxLength: 128 },
    countryCode: { type: ['string', 'null'], enum: ['US', 'CA', null] },
  },
);

const TAX: Schema = object({ rate: RATE, amount: { type: 'number', minimum: 0 } });

const MERCHANT_LINE: Members = {
  index: { type: 'integer', minimum: 0, maximum: 500 },
  itemId: NAME,
  price: about(PRICE, 'Of one unit, in dollars.'),
  quantity: QUANTITY,
};

/** Carts that went to the provider have no such member. */
const SITUS: Members = { situs: SITUS_NOTE };

const EXPLANATION: Schema = about({ type: 'object' }, 'Only with explain=true.');

/** What a self-managed merchant's carts are answered with. */
export const CART_ANSWER: Schema = object(
  {
    items: list(
      object(
        {
          cartId: text(50),
          customerId: NAME,
          currency: object({ currencyCode: TEXT }),
          origin: ADDRESS,
          destination: ADDRESS,
          lineItems: list(
            object(
              { ...MERCHANT_LINE, originalPrice: PRICE, tic: TIC, tax: TAX },
              { explain: EXPLANATION },
            ),
          ),
        },
        { explain: EXPLANATION },
      ),
    ),
  },
  SITUS,
);

const PLACE: Schema = object({ address: text(ADDRESS_CHARS_MAX) });

export const CALCULATION_ANSWER: Schema = object(
  {
    items: list(
      object(
        {
          cartId: ID,
          customerId: NAME,
          destination: PLACE,
          origin: PLACE,
          lineItems: list(
            object(
              { itemId: NAME, price: NUMBER, quantity: NUMBER, tax: TAX },
              { explain: EXPLANATION },
            ),
          ),
        },
        { explain: EXPLANATION },
      ),
    ),
  },
  SITUS,
);

/** Options of carts, wherever they are calculated. */
export const CART_OPTIONS: readonly Parameter[] = [
  {
    name: 'rounding',
    in: 'query',
    schema: TEXT,
    description: 'half-up (default), half-even, up or down; ",cart" after it for whole carts.',
  },
  {
    name: 'explain',
    in: 'query',
    schema: BOOLEAN,
    description: 'Tells how each amount came about.',
  },
];

/** Parameters of both operations. */
const PARAMETERS: readonly Parameter[] = [...CART_OPTIONS, ...KEPT_PARAMETERS];

const TOO_LONG = 'The body is longer than 8 MiB.';
const UNKNOWN_PLACE = 'A field breaks its rule, or an address or a rate cannot be told.';

export const CART_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  [
    'POST /merchant/cart/calculate',
    {
      ...merchantOperation({
        id: 'merchantCartCalculate',
        summary:
          'Tax of up to 100 carts. Those of provider-connected merchants go to the provider.',
        body: 'CartRequest',
        status: 200,
        of: 'CartAnswer',
        writes: false,
        answer: 'The carts with their tax; from the provider as it answered.',
        more: {
          400:
            'The body is not JSON, merchantId is not a UUID, or the merchant is self-managed and ' +
            'a member is for the provider alone, or the cart has too many lines.',
          404: 'The merchant is provider-connected and no credentials are stored.',
          405: 'Response code 107: a quota of this month is used up.',
          413: TOO_LONG,
          422: UNKNOWN_PLACE,
          502: 'The compliance provider cannot be reached, or its answer cannot be used.',
          503: 'No dataset is loaded, no provider is configured, or too much is under way.',
        },
      }),
      parameters: PARAMETERS,
    },
  ],
  [
    'POST /calculate/cart',
    {
      ...merchantOperation({
        id: 'calculateCart',
        summary: 'Tax of one cart with addresses on one line.',
        body: 'CalculationRequest',
        status: 200,
        of: 'CalculationAnswer',
        writes: false,
        answer: 'The cart with its tax to five decimals.',
        more: {
          400: 'The body is not JSON, or a member breaks its rule.',
          405: 'Response code 107: no geocoded lookups, or their quota of this month is used up.',
          413: TOO_LONG,
          422: 'An address or a rate cannot be told.',
          503: 'No dataset is loaded, or too much is under way.',
        },
      }),
      parameters: PARAMETERS,
    },
  ],
];
