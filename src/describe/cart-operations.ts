/** Operations on carts, in the form of OpenAPI. */
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
import { uuid } from '../base/shape.js';
import { CALCULATION_PARTS } from '../api/cart/calculation.js';
import { CART_PARTS } from '../api/cart/cart-shape.js';
import { RELAYED_PARTS } from '../api/merchant/relay-shape.js';
import { answerOf, merchantOperation, REASONS } from './answers.js';
import { SITUS_NOTE } from './lookups.js';
import type { Operation, OperationName } from './operations.js';
import { KEPT_PARAMETERS, parameter, type Parameter } from './lookup-parameters.js';

const {
  id: { schema: NAME },
  line: { index, price, quantity, tic },
} = CART_PARTS;

/**
 * The provider's schema of an address, since answers may come from the provider and contain more.
 */
const {
  address: { schema: ADDRESS },
} = RELAYED_PARTS;

const TAX: Schema = object({ rate: RATE, amount: { type: 'number', minimum: 0 } });

const MERCHANT_LINE: Members = {
  index: index.schema,
  itemId: NAME,
  price: about(price.schema, 'Of one unit, in dollars.'),
  quantity: quantity.schema,
};

/** Optional, since carts that went to the provider have no such member. */
const SITUS: Members = { situs: SITUS_NOTE };

const EXPLANATION: Schema = about({ type: 'object' }, 'Only with explain=true.');

/** The answer to carts of a self-managed merchant. */
export const CART_ANSWER: Schema = object(
  {
    items: list(
      object(
        {
          cartId: NAME,
          customerId: NAME,
          currency: object({ currencyCode: TEXT }),
          origin: ADDRESS,
          destination: ADDRESS,
          lineItems: list(
            object(
              { ...MERCHANT_LINE, originalPrice: price.schema, tic: tic.schema, tax: TAX },
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

const { name: CALCULATED_NAME, address: LINE_ADDRESS } = CALCULATION_PARTS;
const PLACE: Schema = object({ address: LINE_ADDRESS.schema });

export const CALCULATION_ANSWER: Schema = object(
  {
    items: list(
      object(
        {
          cartId: uuid().schema,
          customerId: CALCULATED_NAME.schema,
          destination: PLACE,
          origin: PLACE,
          lineItems: list(
            object(
              { itemId: CALCULATED_NAME.schema, price: NUMBER, quantity: NUMBER, tax: TAX },
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

/** Options of all operations that calculate carts. */
export const CART_OPTIONS: readonly Parameter[] = [
  parameter(
    'rounding',
    TEXT,
    'half-up (default), half-even, up or down; ",cart" after it for whole carts.',
  ),
  parameter('explain', BOOLEAN, 'Tells how each amount came about.'),
];

/** Parameters of both operations. A refusal that is code 107 for lookups is a 403 here. */
const PARAMETERS: readonly Parameter[] = [
  ...CART_OPTIONS,
  ...KEPT_PARAMETERS.map((parameter) => ({
    ...parameter,
    description: parameter.description.replace('else code 107', 'else 403'),
  })),
];

const TOO_LONG = 'The body is longer than 8 MiB.';
const UNKNOWN_PLACE = 'A field breaks its rule, or an address or a rate cannot be told.';

const CALCULATED = merchantOperation({
  id: 'merchantCartCalculate',
  summary: 'Tax of up to 100 carts. Those of provider-connected merchants go to the provider.',
  body: 'CartRequest',
  status: 200,
  of: 'CartAnswer',
  writes: false,
  lookup: true,
  answer: 'The carts with their tax; from the provider as it answered.',
  more: {
    400:
      'The body is not JSON, merchantId is not a UUID, or the merchant is self-managed and ' +
      'a member is for the provider alone, or the cart has too many lines.',
    404: 'The merchant is provider-connected and no credentials are stored.',
    405: REASONS[405],
    409: 'The refusal of the provider, as it came.',
    413: TOO_LONG,
    422: UNKNOWN_PLACE,
    502: REASONS[502],
    503: 'No dataset is loaded, no provider is configured, or too much is under way.',
  },
});

/** The provider keeps carts, so a cart that it did not know is answered as created. */
const MADE = answerOf(
  'The carts as the provider answered, one of them new to it.',
  ['CartAnswer'],
  {
    limited: true,
    located: true,
  },
);

export const CART_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  [
    'POST /merchant/cart/calculate',
    {
      ...CALCULATED,
      responses: { ...CALCULATED.responses, 201: MADE },
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
        lookup: true,
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
