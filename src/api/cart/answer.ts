/** A worker's answer to a body of carts: amounts, or a problem for the front end to render. */
import { createHash } from 'node:crypto';
import type { CartOutcome, CartQuery } from '../../engine/cart/outcome.js';
import type { Engine } from '../../engine/engine.js';
import {
  FLAG_ESTIMATED,
  FLAG_PARTIAL,
  FLAG_STALE,
  GRANT_PRODUCT,
  type Answer,
  type CartFields,
} from '../../pool/types.js';
import { PRECISIONS } from '../../engine/situs.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { readCalculation, readCalculationBody } from './calculation.js';
import { optionsOfBits, PRODUCT_BIT, type CartOptions } from './options.js';
import { readJson, type Members } from './cart-text.js';
import { ByteWriter, Piece } from '../../base/byte-writer.js';
import { randomId } from '../../base/uuid.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import { packValue } from '../../pool/value.js';
import type { WireContext } from '../lookup/context.js';
import { marksOf } from '../lookup/fragment.js';
import { readMerchantBody } from './cart-shape.js';
import { type BodyCarts, cartsInTurn, type ReadCart, readMerchantCarts } from './merchant-cart.js';
import { writeCalculation, writeCart } from './print-cart.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { writeSitus } from '../../wire/situs-note.js';

/** What the weakest cart of an answer rests on. */
interface Marks {
  precision: number;
  flags: number;
  readonly unruled: Set<string>;
}

function mark(marks: Marks, { marks: of }: CartOutcome): void {
  const { precision, estimated, stale, partial, unruled } = of;
  marks.precision = Math.max(marks.precision, PRECISIONS.indexOf(precision));
  if (estimated) marks.flags |= FLAG_ESTIMATED;
  if (stale) marks.flags |= FLAG_STALE;
  if (partial) marks.flags |= FLAG_PARTIAL;
  for (const code of unruled) marks.unruled.add(code);
}

/** What is said of a cart that the engine refuses, before its reason. */
export const UNCALCULATED = 'The cart cannot be calculated.';

/** A refusal of the engine, with the member of the body that it concerns. */
function refusalProblem({ failure, field, detail }: Failure, at: string): Problem {
  const location = field === null ? at : `${at}.${field}`;
  const message = detail ?? failure;
  return problem(422, UNCALCULATED, [{ location, message }]);
}

const ITEMS = new Piece('{"items":[');
const END_OF_ITEMS = new Piece('],');
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;

/** Of an everyday answer. Larger ones have memory of their own, for once. */
const ANSWER_BYTES = 65_536;

/** The carts of an answer under way: it is copied before the next one begins. */
const written = new ByteWriter(ANSWER_BYTES);

/** A larger body has its carts read one by one, and memory for its answer at once. */
const LARGE_BODY_BYTES = 65_536;
/** Of an answer against its body: a line says what it was sent, and its tax. */
const ANSWER_GROWTH = 1.75;

function beginItems(bodyBytes = 0): ByteWriter {
  written.clear(bodyBytes > LARGE_BODY_BYTES ? Math.ceil(ANSWER_GROWTH * bodyBytes) : 0);
  written.piece(ITEMS);
  return written;
}

/** Makes the id of the cart at a place of the body. */
type CartId = (index: number) => string | Uint8Array;

/** Writes the carts of a body, and tells what they rest on. */
type Calculate = (
  body: Members,
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

/** What the engine makes of one cart, with the settings of this service. */
function outcomeOf(
  { precisionMin, refuseUnruled }: WireContext,
  engine: Engine,
  query: CartQuery,
  nowMs: number,
): CartOutcome | Failure {
  return engine.calculate(query, nowMs, precisionMin, refuseUnruled);
}

/** Writes carts, and tells what they rest on, or the first that cannot be read or calculated. */
function calculateCarts(
  context: WireContext,
  engine: Engine,
  nowMs: number,
  carts: BodyCarts,
  cartId: CartId,
  into: ByteWriter,
): Marks | Problem {
  const marks: Marks = { precision: 0, flags: 0, unruled: new Set() };
  let refused: Problem | null = null;
  for (let index = 0; index < carts.count; index += 1) {
    const cart = carts.at(index);
    // One that cannot be read refuses the body, whatever was calculated before it.
    if (isProblem(cart)) return cart;
    if (refused !== null) continue;
    const outcome = outcomeOf(context, engine, cart.query, nowMs);
    if (isFailure(outcome)) {
      refused = refusalProblem(outcome, `body.items[${index}]`);
      continue;
    }
    mark(marks, outcome);
    if (index > 0) into.byte(COMMA);
    writeCart(into, cart, outcome, cart.sent.cartId ?? cartId(index));
  }
  return refused ?? marks;
}

function merchantCarts(context: WireContext, engine: Engine, nowMs: number): Calculate {
  return (body, options, cartId, fits) => {
    const carts = readMerchantCarts(body, options, fits);
    if (isProblem(carts)) return carts;
    const read = { count: carts.length, at: (index: number): ReadCart => carts[index]! };
    return calculateCarts(context, engine, nowMs, read, cartId, beginItems());
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
    const marks: Marks = { precision: 0, flags: 0, unruled: new Set() };
    mark(marks, outcome);
    writeCalculation(beginItems(), cart, outcome, cartId(0));
    return marks;
  };
}

/** A body of carts as a worker is handed it. */
type SentCarts = Omit<CartFields, 'kind'> & { readonly payload: Uint8Array };

/** The answer to the body of a cart endpoint. A bug becomes a 500. */
export function answerCarts(
  context: WireContext,
  engine: Engine,
  sent: SentCarts,
  nowMs: number,
): Answer {
  try {
    return answerBody(context, engine, sent, nowMs);
  } catch (error) {
    context.report(error);
    return problemAnswer(problem(500, 'The service failed to calculate the cart.'));
  }
}

/** Calculates a body that is read as a whole. */
function calculateWhole(
  context: WireContext,
  engine: Engine,
  { endpoint, optionBits, payload }: SentCarts,
  nowMs: number,
  options: CartOptions,
  cartId: CartId,
): Marks | Problem | Failure {
  const isLarge = payload.length > LARGE_BODY_BYTES;
  const fitting =
    endpoint === 'calculation'
      ? readCalculationBody(payload)
      : isLarge
        ? null
        : readMerchantBody(payload);
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

function answerBody(context: WireContext, engine: Engine, sent: SentCarts, nowMs: number): Answer {
  const { endpoint, optionBits, payload } = sent;
  const options = optionsOfBits(optionBits);
  const cartId = options.sameIds === true ? sameIds(payload, nowMs) : randomId;
  const isLarge = endpoint === 'merchant' && payload.length > LARGE_BODY_BYTES;
  const inTurn = isLarge ? cartsInTurn(payload, options) : null;
  const result =
    inTurn === null
      ? calculateWhole(context, engine, sent, nowMs, options, cartId)
      : isProblem(inTurn)
        ? inTurn
        : calculateCarts(context, engine, nowMs, inTurn, cartId, beginItems(payload.length));
  if (isProblem(result)) return problemAnswer(result);
  if (isFailure(result)) {
    const { code, http } = RESPONSE_CODES[result.failure];
    return { status: http, code, precision: 0, flags: 0, body: [] };
  }
  const { precision, flags, unruled } = result;
  const { stale, estimated, partial } = marksOf(flags);
  written.piece(END_OF_ITEMS);
  writeSitus(written, {
    precision: PRECISIONS[precision] ?? 'none',
    dataset: engine.id,
    unruled: [...unruled],
    stale,
    estimated,
    partial,
  });
  written.byte(CLOSE_BRACE);
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    precision,
    flags,
    body: [written.bytes()],
  };
}

/** A refusal on its way to the front end, which prints it. */
function problemAnswer(refusal: Problem): Answer {
  const { status } = refusal;
  return { status, code: SUCCESS.code, precision: 0, flags: 0, body: packValue(refusal) };
}
