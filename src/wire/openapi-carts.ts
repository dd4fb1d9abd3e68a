/** Operations on carts, as OpenAPI tells them. */
import { merchantOperation } from './openapi-merchants.js';
import type { Operation, OperationName } from './openapi-operations.js';
import type { Parameter } from './openapi-parameters.js';
import { BOOLEAN, TEXT } from './schema.js';

/** Options of both. */
export const OPTIONS: readonly Parameter[] = [
  {
    name: 'rounding', in: 'query', schema: TEXT,
    description: 'half-up (default), half-even, up or down; ",cart" after it for whole carts.',
  },
  {
    name: 'explain', in: 'query', schema: BOOLEAN,
    description: 'Tells how each amount came about.',
  },
];

const TOO_LONG = 'The body is longer than 8 MiB.';
const UNKNOWN_PLACE = 'A field breaks its rule, or an address or a rate cannot be told.';

export const CART_OPERATIONS: readonly (readonly [OperationName, Operation])[] = [
  ['POST /merchant/cart/calculate', {
    ...merchantOperation({
      id: 'merchantCartCalculate',
      summary: 'Tax of up to 100 carts. Those of provider-connected merchants go to the provider.',
      body: 'CartRequest', status: 200, of: 'CartAnswer', writes: false,
      answer: 'The carts with their tax; from the provider as it answered.',
      more: {
        400: 'The body is not JSON, merchantId is not a UUID, or the merchant is self-managed and '
          + 'a member is for the provider alone, or the cart has too many lines.',
        404: 'The merchant is provider-connected and no credentials are stored.',
        405: 'Response code 107: a quota of this month is used up.',
        413: TOO_LONG, 422: UNKNOWN_PLACE,
        502: 'The compliance provider cannot be reached, or its answer cannot be used.',
        503: 'No dataset is loaded, no provider is configured, or too much is under way.',
      },
    }),
    parameters: OPTIONS,
  }],
  ['POST /calculate/cart', {
    ...merchantOperation({
      id: 'calculateCart', summary: 'Tax of one cart with addresses on one line.',
      body: 'CalculationRequest', status: 200, of: 'CalculationAnswer', writes: false,
      answer: 'The cart with its tax to five decimals.',
      more: {
        400: 'The body is not JSON, or a member breaks its rule.',
        405: 'Response code 107: no geocoded lookups, or their quota of this month is used up.',
        413: TOO_LONG, 422: 'An address or a rate cannot be told.',
        503: 'No dataset is loaded, or too much is under way.',
      },
    }),
    parameters: OPTIONS,
  }],
];
