/** A worker's answer to a body of carts: amounts, or a refusal that the front end prints. */
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
import { hashId, randomId } from '../../base/uuid.js';
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

/** Makes ids that are the same whenever the same body is calculated for the same moment. */
function sameIds(payload: Uint8Array, nowMs: number): CartId {
  return (index) =>
    hashId(createHash('sha256').update(`${nowMs} ${index} `).update(payload).digest('hex'));
}

/**
 * Why these grants do not allow a cart of no merchant, naming its first line with a product code;
 * null where they do.
 */
export function codesRefused({ lines }: CartQuery, grants: number): Failure | null {
  if ((grants & GRANT_PRODUCT) !== 0) return null;
  const line = lines.findIndex(({ tic }) => tic !== null);
  return line < 0 ? null : fail('product-rules-not-enabled', undefined, `lineItems[${line}]`);
}

/** Calculates the cart of a body of no merchant. */
function calculateOwn(
  context: WireContext,
  engine: Engine,
  { optionBits, payload }: SentCarts,
  nowMs: number,
  options: CartOptions,
  cartId: CartId,
): Marks | Problem | Failure {
  const fitting = readCalculationBody(payload);
  const body = fitting ?? readJson(payload);
  const cart = isProblem(body) ? body : readCalculation(body, options, fitting !== null);
  // Here every fault of the body is a 400 (contract 8).
  if (isProblem(cart)) return { ...cart, status: 400 };
  const refused = codesRefused(cart.query, (optionBits & PRODUCT_BIT) === 0 ? 0 : GRANT_PRODUCT);
  if (refused !== null) return refused;
  const outcome = outcomeOf(context, engine, cart.query, nowMs);
  if (isFailure(outcome)) return refusalProblem(outcome, 'body.items[0]');
  const marks = noMarks();
  mark(marks, outcome);
  writeCalculation(beginItems(), cart, outcome, cartId(0));
  return marks;
}

/**
 * The answer to the body of a cart endpoint. `underWay` is what `readCarts` gave for the body
 * before: null where it does not read such a body. A bug becomes a 500.
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

/** Reads a body of carts of merchants that `readCarts` leaves out. */
function readWhole(payload: Uint8Array, options: CartOptions): CartsUnderWay {
  const body = readJson(payload);
  return { carts: isProblem(body) ? body : readMerchantCarts(body, options), outcomes: [] };
}

/** Calculates a body and writes its carts. `underWay` has those that were read before. */
function calculate(
  context: WireContext,
  engine: Engine,
  sent: SentCarts,
  nowMs: number,
  underWay: CartsUnderWay | null,
): Marks | Problem | Failure {
  const { endpoint, optionBits, payload } = sent;
  const options = optionsOfBits(optionBits);
  const cartId = options.sameIds === true ? sameIds(payload, nowMs) : randomId;
  if (endpoint === 'calculation') {
    return calculateOwn(context, engine, sent, nowMs, options, cartId);
  }
  const isLarge = underWay === null && payload.length > LARGE_BODY_BYTES;
  const inTurn = isLarge ? cartsInTurn(payload, options) : null;
  if (inTurn === null) {
    const read = underWay ?? readWhole(payload, options);
    return writeRead(context, engine, read, cartId, nowMs);
  }
  return isProblem(inTurn)
    ? inTurn
    : calculateInTurn(context, engine, inTurn, nowMs, cartId, payload.length);
}

function answerBody(
  context: WireContext,
  engine: Engine,
  sent: SentCarts,
  nowMs: number,
  underWay = readCarts(sent),
): Answer {
  const result = calculate(context, engine, sent, nowMs, underWay);
  if (isProblem(result) || isFailure(result)) return refusalAnswer(result);
  const { precision, flags, assumed, unruled } = result;
  // Not spread into the object: that took a fifth of the time of a cart of one line.
  const { stale, estimated, partial } = marksOf(flags);
  const into = writtenCarts;
  into.piece(END_OF_ITEMS);
  writeSitus(into, {
    precision: PRECISIONS[precision] ?? 'none',
    dataset: engine.id,
    assumed,
    unruled: [...unruled],
    stale,
    estimated,
    partial,
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

/** A refusal, packed for the front end, which prints it. */
function refusalAnswer(refusal: Problem | Failure): Answer {
  const { http: status, code } = isFailure(refusal)
    ? RESPONSE_CODES[refusal.failure]
    : { http: refusal.status, code: SUCCESS.code };
  return { status, code, precision: 0, flags: 0, body: packValue(refusal) };
}
