/**
 * One cart as a row or message: the body of a cart endpoint with one item, and an `id` beside it.
 * With `merchantId` it is a merchant's; without, either shape, told by how `origin` is written.
 */
import { randomUUID } from 'node:crypto';
import { calculateCart } from '../../engine/cart.js';
import { isRefusal, type CartOutcome } from '../../engine/cart-outcome.js';
import type { CartQuery } from '../../engine/cart-query.js';
import { GRANT_GEO } from '../../engine/frame.js';
import { fail } from '../../failure.js';
import { calculationJson, readCalculation } from '../calculate-cart.js';
import { refusalProblem } from '../cart-answer.js';
import { CART_DEFAULTS, type CartOptions } from '../cart-options.js';
import { cartProblem, isMembers, isProblem, type CartProblem } from '../cart-read.js';
import { longNumber, NUMBER_DIGITS_MAX } from '../json-digits.js';
import { cartJson, readMerchantCarts } from '../merchant-cart.js';
import { RESPONSE_CODES, SUCCESS } from '../response-code.js';
import { refusedCart, type JsonObject, type RowAnswer, type RowEngine } from './row.js';

/** An answer to a cart: what is refused has a sentence and no body. */
export type CartAnswer = RowAnswer;

/** `subject` of jobs whose merchants the front end knows to be the caller's. */
export const OWN_MERCHANTS = 'merchants';

/** Refuses a cart of no merchant. */
export const NO_GEO = fail('feature-not-enabled',
  'The plan has no geocoded lookups, or their quota of this month is used up.');
const INVALID = RESPONSE_CODES['invalid-format'].code;
const ITEM = 'body.items[0]';

/** The endpoint's sentence and that of the first member at fault. */
function problemAnswer({ detail, errors: [first] }: CartProblem, code = INVALID): CartAnswer {
  const lead = /[.!?]$/.test(detail) ? detail : `${detail}:`;
  return {
    code, geo: false, body: [],
    message: first === undefined ? detail : `${lead} ${first.message}`,
    field: first?.location.replace(/^body\.?/, '') || null,
  };
}

/** How a cart is read, and what its answer is called. */
export interface CartTerms {
  readonly ofMerchant: boolean;
  /** Hold where the body has none of its own. */
  readonly options: CartOptions;
  /** An id for a cart without one. */
  newId(): string;
}

/** A cart that was read, and how its outcome is written. */
export interface Asked {
  readonly query: CartQuery;
  print(outcome: CartOutcome): string;
}

function isOneLine(item: unknown): boolean {
  if (!isMembers(item)) return true;
  const { origin } = item;
  return !isMembers(origin) || !('line1' in origin);
}

/** Reads the body as its endpoint does. */
function readAsked(
  body: JsonObject, { ofMerchant, options, newId }: CartTerms,
): Asked | CartProblem {
  const { items } = body;
  if (Array.isArray(items) && items.length > 1) {
    return cartProblem(422, 'validation failed', [
      { location: 'body.items', message: 'expected one cart' },
    ]);
  }
  if (!ofMerchant && isOneLine(Array.isArray(items) ? items[0] : null)) {
    const cart = readCalculation(body, options);
    if (isProblem(cart)) return cart;
    return { query: cart.query, print: (outcome) => calculationJson(cart, outcome, newId()) };
  }
  const carts = readMerchantCarts(body, options);
  if (isProblem(carts)) return carts;
  const cart = carts[0]!;
  return {
    query: cart.query,
    print: (outcome) => cartJson(cart, outcome, cart.sent.cartId ?? newId()),
  };
}

/** Has the engine calculate a cart; a refusal, or what it came to. */
export function calculated(
  { context, dataset, job }: RowEngine, query: CartQuery,
): CartOutcome | CartAnswer {
  const outcome = calculateCart(dataset, query, job.nowMs, context.precisionMin);
  if (!isRefusal(outcome)) return outcome;
  const { code } = RESPONSE_CODES[outcome.failure.failure];
  return problemAnswer(refusalProblem(outcome, ITEM), code);
}

/** Tells a refusal from an outcome. */
export function isRefused(found: CartOutcome | CartAnswer): found is CartAnswer {
  return 'code' in found;
}

/**
 * Answers a body with one item; the answer's body is the item.
 * @param text the row as it was sent, in which numbers are looked for that JSON does not keep
 */
export function answerBody(
  engine: RowEngine, body: JsonObject, text: string, terms: CartTerms,
): CartAnswer {
  const { ofMerchant } = terms;
  if (!ofMerchant && (engine.grants & GRANT_GEO) === 0) return refusedCart(NO_GEO);
  if (longNumber(text) !== null) {
    return problemAnswer(cartProblem(422, 'validation failed', [{
      location: 'body',
      message: `a number has more than ${NUMBER_DIGITS_MAX} significant digits`,
    }]));
  }
  const asked = readAsked(body, terms);
  if (isProblem(asked)) return problemAnswer(asked);
  const outcome = calculated(engine, asked.query);
  if (isRefused(outcome)) return outcome;
  return { code: SUCCESS.code, geo: true, merchant: ofMerchant, body: [asked.print(outcome)] };
}

/** Whether a row is a cart and no lookup. */
export function isCartRow(row: JsonObject): boolean {
  return 'items' in row;
}

/** Answers a message that is a cart; `text` is the message as it was sent. */
export function answerCartRow(engine: RowEngine, row: JsonObject, text: string): CartAnswer {
  const { id: _id, merchantId = null, ...body } = row;
  const ofMerchant = merchantId !== null;
  if (engine.job.refusal !== undefined) return refusedCart(engine.job.refusal);
  if (ofMerchant !== (engine.job.subject === OWN_MERCHANTS)) {
    return refusedCart(fail('invalid-format',
      'Parameter merchantId: written once and without escapes.'));
  }
  const answer = answerBody(engine, body, text, {
    ofMerchant, options: CART_DEFAULTS, newId: randomUUID,
  });
  return answer.message === undefined
    ? { ...answer, body: ['{"items":[', ...answer.body, ']}'] } : answer;
}
