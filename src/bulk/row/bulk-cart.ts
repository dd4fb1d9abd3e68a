/**
 * A cart as a row of an NDJSON file: the body of a cart endpoint with one item, or the item itself
 * with what stands beside `items` in a body. Its answer is the endpoint's item with the member
 * `situs` of the endpoint's body.
 */
import { cartOptions, merchantOf } from './cart-parameters.js';
import { answerBody, itemWith, ofBareCart, rowCartId } from './cart-row.js';
import { noRequest } from './parameters.js';
import {
  refused, type JsonObject, type JsonRow, type Place, type RowAnswer, type RowEngine,
} from './row.js';

/** Members of a body; all others of a bare cart are the cart's. */
const BODY_MEMBERS = new Set(['rounding', 'explain', 'transactionDate']);

/** The body that a bare cart stands for. */
function bodyOf(cart: JsonObject): JsonObject {
  const members = Object.entries(cart);
  const isBeside = ([name]: readonly [string, unknown]): boolean => BODY_MEMBERS.has(name);
  return {
    ...Object.fromEntries(members.filter(isBeside)),
    items: [Object.fromEntries(members.filter((member) => !isBeside(member)))],
  };
}

/** Whether a row may name this merchant. */
function isMerchant(merchantId: unknown, merchant: string | null): boolean {
  return merchantId === null
    || (typeof merchantId === 'string' && merchantId.toLowerCase() === merchant);
}

/** Answers a row. */
export function answerBulkCart(
  engine: RowEngine, { object, text }: JsonRow, { line }: Place,
): RowAnswer {
  const { id: _id, merchantId = null, ...cart } = object;
  const { job: name, defaults } = engine.job;
  const merchant = merchantOf(defaults);
  if (!isMerchant(merchantId, merchant)) {
    return refused(engine, noRequest(merchant === null
      ? 'Parameter merchantId: the merchant of all rows is named in the query.'
      : `Parameter merchantId: all rows are of merchant ${merchant}.`, 'merchantId'));
  }
  const isBare = !('items' in cart);
  const answer = answerBody(engine, isBare ? bodyOf(cart) : cart, text, {
    ofMerchant: merchant !== null,
    options: cartOptions(defaults),
    newId: () => rowCartId(name, line, text),
    wrap: itemWith,
  });
  return isBare ? ofBareCart(answer) : answer;
}
