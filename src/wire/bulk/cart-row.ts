/**
 * One cart as a row or message: the body of a cart endpoint with one item, and an `id` beside it.
 * With `merchantId` it is a merchant's; without, either shape, told by how `origin` is written.
 */
import { randomUUID } from 'node:crypto';
import { calculateCart } from '../../engine/cart.js';
import { isRefusal, type CartOutcome } from '../../engine/cart-outcome.js';
import type { CartQuery } from '../../engine/cart-query.js';
import { GRANT_GEO } from '../../engine/frame.js';
import { fail, type Failure } from '../../failure.js';
import { calculationJson, readCalculation } from '../calculate-cart.js';
import { refusalProblem } from '../cart-answer.js';
import { CART_DEFAULTS } from '../cart-options.js';
import { cartProblem, isMembers, isProblem, type CartProblem } from '../cart-read.js';
import { longNumber, NUMBER_DIGITS_MAX } from '../json-digits.js';
import { cartJson, readMerchantCarts } from '../merchant-cart.js';
import { failureMessage, RESPONSE_CODES, SUCCESS } from '../response-code.js';
import { fieldOf } from './row-line.js';
import type { JsonObject, RowAnswer, RowEngine } from './row.js';

/** An answer whose refusal is told beside its body. */
export interface CartAnswer extends RowAnswer {
  readonly message?: string;
}

/** `subject` of jobs whose merchants the front end knows to be the caller's. */
export const OWN_MERCHANTS = 'merchants';

const NO_GEO = fail('feature-not-enabled',
  'The plan has no geocoded lookups, or their quota of this month is used up.');
const INVALID = RESPONSE_CODES['invalid-format'].code;
const ITEM = 'body.items[0]';

/** A refusal of carts: no body beside code, message and field. */
export function refusedCart(failure: Failure): CartAnswer {
  const { code } = RESPONSE_CODES[failure.failure];
  const message = failureMessage(failure);
  return { code, geo: false, body: [], message, field: fieldOf(code, message) };
}

/** The endpoint's sentence and that of the first member at fault. */
function problemAnswer({ detail, errors: [first] }: CartProblem, code = INVALID): CartAnswer {
  const lead = /[.!?]$/.test(detail) ? detail : `${detail}:`;
  return {
    code, geo: false, body: [],
    message: first === undefined ? detail : `${lead} ${first.message}`,
    field: first?.location.replace(/^body\.?/, '') || null,
  };
}

interface Asked {
  readonly query: CartQuery;
  print(outcome: CartOutcome): string;
}

function isOneLine(item: unknown): boolean {
  if (!isMembers(item)) return true;
  const { origin } = item;
  return !isMembers(origin) || !('line1' in origin);
}

/** Reads the body as its endpoint does. */
function readAsked(body: JsonObject, ofMerchant: boolean): Asked | CartProblem {
  const { items } = body;
  if (Array.isArray(items) && items.length > 1) {
    return cartProblem(422, 'validation failed', [
      { location: 'body.items', message: 'expected one cart' },
    ]);
  }
  if (!ofMerchant && isOneLine(Array.isArray(items) ? items[0] : null)) {
    const cart = readCalculation(body, CART_DEFAULTS);
    if (isProblem(cart)) return cart;
    return {
      query: cart.query, print: (outcome) => calculationJson(cart, outcome, randomUUID()),
    };
  }
  const carts = readMerchantCarts(body, CART_DEFAULTS);
  if (isProblem(carts)) return carts;
  const cart = carts[0]!;
  return {
    query: cart.query,
    print: (outcome) => cartJson(cart, outcome, cart.sent.cartId ?? randomUUID()),
  };
}

/** Whether a row is a cart and no lookup. */
export function isCartRow(row: JsonObject): boolean {
  return 'items' in row;
}

/** Answers a cart; `text` is the row as it was sent. */
export function answerCartRow(engine: RowEngine, row: JsonObject, text: string): CartAnswer {
  const { id: _id, merchantId = null, ...body } = row;
  const ofMerchant = merchantId !== null;
  if (engine.job.refusal !== undefined) return refusedCart(engine.job.refusal);
  if (ofMerchant !== (engine.job.subject === OWN_MERCHANTS)) {
    return refusedCart(fail('invalid-format',
      'Parameter merchantId: written once and without escapes.'));
  }
  if (!ofMerchant && (engine.grants & GRANT_GEO) === 0) return refusedCart(NO_GEO);
  const long = longNumber(text);
  if (long !== null) {
    return problemAnswer(cartProblem(422, 'validation failed', [{
      location: 'body',
      message: `a number has more than ${NUMBER_DIGITS_MAX} significant digits`,
    }]));
  }
  const asked = readAsked(body, ofMerchant);
  if (isProblem(asked)) return problemAnswer(asked);
  const { context, dataset, job } = engine;
  const outcome = calculateCart(dataset, asked.query, job.nowMs, context.precisionMin);
  if (isRefusal(outcome)) {
    const { code } = RESPONSE_CODES[outcome.failure.failure];
    return problemAnswer(refusalProblem(outcome, ITEM), code);
  }
  return {
    code: SUCCESS.code, geo: true, merchant: ofMerchant,
    body: [`{"items":[${asked.print(outcome)}]}`],
  };
}
