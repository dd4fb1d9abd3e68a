/** A worker's answer to a body of carts: amounts, or a problem for the front end to render. */
import type { JsonObject } from '../../base/json-object.js';
import { createHash } from 'node:crypto';
import type { CartQuery } from '../../engine/cart/outcome.js';
import type { Engine } from '../../engine/engine.js';
import { GRANT_PRODUCT, type Answer } from '../../pool/types.js';
import { PRECISIONS } from '../../engine/situs.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import {
  beginItems,
  calculateInTurn,
  type CartId,
  type CartsUnderWay,
  LARGE_BODY_BYTES,
  mark,
  type Marks,
  noMarks,
  outcomeOf,
  refusalProblem,
  type SentCarts,
  readCarts,
  writeRead,
  writtenCarts,
} from './body-carts.js';
import { readCalculation, readCalculationBody } from './calculation.js';
import { optionsOfBits, PRODUCT_BIT, type CartOptions } from './options.js';
import { readJson } from './cart-text.js';
import { NOT_CALCULATED } from './refusals.js';
import { Piece } from '../../base/byte-writer.js';
import { randomId } from '../../base/uuid.js';
import { isProblem, type Problem } from '../../base/problem.js';
import { packValue } from '../../pool/value.js';
import type { WireContext } from '../lookup/context.js';
import { marksOf } from '../lookup/fragment.js';
import { cartsInTurn, readMerchantCarts } from './merchant-cart.js';
import { writeCalculation } from './print-cart.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { writeSitus } from '../../wire/situs-note.js';

const END_OF_ITEMS = new Piece('],');
const CLOSE_BRACE = 0x7d;

/** Writes the carts of a body, and tells what they rest on. */
type Calculate = (
  body: JsonObject,
  options: CartOptions,
  cartId: CartId,
  fits: boolean,
) => Marks | Problem | Failure;

/** Digits of the groups of a UUID. */
const UUID_GROUPS = /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/;

/** Ids that the same body has again at the same moment: UUIDs of version 8 (RFC 9562, 5.8). */
function sameIds(payload: Uint8Array, nowMs: number): CartId {
  return (index) =>
    createHash('sha256')
      .update(`${nowMs} ${index} `)
      .update(payload)
      .digest('hex')
      .replace(UUID_GROUPS, '$1-$2-8$3-8$4-$5');
}

function merchantCarts(context: WireContext, engine: Engine, nowMs: number): Calculate {
  return (body, options, cartId) => {
    const carts = readMerchantCarts(body, options);
    return writeRead(context, engine, { carts, outcomes: [] }, cartId, nowMs);
  };
}

/**
 * Why a cart of no merchant may not be asked with these grants, and the first line that has a
 * product code; null where it may.
 */
export function codesRefused({ lines }: CartQuery, grants: number): Failure | null {
  if ((grants & GRANT_PRODUCT) !== 0) return null;
  const line = lines.findIndex(({ tic }) => tic !== null);
  return line < 0 ? null : fail('product-rules-not-enabled', undefined, `lineItems[${line}]`);
}

function calculation(
  context: WireContext,
  engine: Engine,
  nowMs: number,
  grants: number,
): Calculate {
  return (body, options, cartId, fits) => {
    const cart = readCalculation(body, options, fits);
    if (isProblem(cart)) return cart;
    const refused = codesRefused(cart.query, grants);
    if (refused !== null) return refused;
    const outcome = outcomeOf(context, engine, cart.query, nowMs);
    if (isFailure(outcome)) return refusalProblem(outcome, 'body.items[0]');
    const marks = noMarks();
    mark(marks, outcome);
    writeCalculation(beginItems(), cart, outcome, cartId(0));
    return marks;
  };
}

/**
 * The answer to the body of a cart endpoint, of which `underWay` was read before; null where it is
 * none that `readCarts` reads. A bug becomes a 500.
 */
export function answerCarts(
  context: WireContext,
  engine: Engine,
  sent: SentCarts,
  nowMs: number,
  underWay?: CartsUnderWay | null,
): Answer {
  try {
    return answerBody(context, engine, sent, nowMs, underWay);
  } catch (error) {
    context.report(error);
    return refusalAnswer(NOT_CALCULATED);
  }
}

/** Calculates a body that is read as a whole: all but those of merchants that `readCarts` reads. */
function calculateWhole(
  context: WireContext,
  engine: Engine,
  { endpoint, optionBits, payload }: SentCarts,
  nowMs: number,
  options: CartOptions,
  cartId: CartId,
): Marks | Problem | Failure {
  const fitting = endpoint === 'calculation' ? readCalculationBody(payload) : null;
  const read = fitting ?? readJson(payload);
  // Everything wrong with the body of one cart is a 400 (contract 8).
  if (isProblem(read)) return endpoint === 'calculation' ? { ...read, status: 400 } : read;
  const grants = (optionBits & PRODUCT_BIT) === 0 ? 0 : GRANT_PRODUCT;
  const calculate =
    endpoint === 'calculation'
      ? calculation(context, engine, nowMs, grants)
      : merchantCarts(context, engine, nowMs);
  return calculate(read, options, cartId, fitting !== null);
}

function answerBody(
  context: WireContext,
  engine: Engine,
  sent: SentCarts,
  nowMs: number,
  underWay = readCarts(sent),
): Answer {
  const { endpoint, optionBits, payload } = sent;
  const options = optionsOfBits(optionBits);
  const cartId = options.sameIds === true ? sameIds(payload, nowMs) : randomId;
  const isLarge = endpoint === 'merchant' && payload.length > LARGE_BODY_BYTES;
  const inTurn = isLarge ? cartsInTurn(payload, options) : null;
  const result =
    underWay !== null
      ? writeRead(context, engine, underWay, cartId, nowMs)
      : inTurn === null
        ? calculateWhole(context, engine, sent, nowMs, options, cartId)
        : isProblem(inTurn)
          ? inTurn
          : calculateInTurn(context, engine, inTurn, nowMs, cartId, payload.length);
  if (isProblem(result) || isFailure(result)) return refusalAnswer(result);
  const { precision, flags, unruled } = result;
  const into = writtenCarts;
  into.piece(END_OF_ITEMS);
  writeSitus(into, {
    ...marksOf(flags),
    precision: PRECISIONS[precision] ?? 'none',
    dataset: engine.id,
    unruled: [...unruled],
  });
  into.byte(CLOSE_BRACE);
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    precision,
    flags,
    body: [into.bytes()],
  };
}

/** A refusal on its way to the front end, which prints it. */
function refusalAnswer(refusal: Problem | Failure): Answer {
  const { http: status, code } = isFailure(refusal)
    ? RESPONSE_CODES[refusal.failure]
    : { http: refusal.status, code: SUCCESS.code };
  return { status, code, precision: 0, flags: 0, body: packValue(refusal) };
}
