/** Carts of a body, from reading them to the bytes of the answer. */
import { ByteWriter, Piece } from '../../base/byte-writer.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import type { CartOutcome, CartQuery } from '../../engine/cart/outcome.js';
import type { Engine } from '../../engine/engine.js';
import { PRECISIONS, widest, type RateRange } from '../../engine/situs.js';
import { isFailure, type Failure } from '../../failure.js';
import type { CartFields } from '../../pool/types.js';
import type { WireContext } from '../lookup/context.js';
import { flagsOf } from '../lookup/fragment.js';
import { readMerchantBody } from './cart-shape.js';
import { type BodyCarts, type ReadCart, readMerchantCarts } from './merchant-cart.js';
import { optionsOfBits } from './options.js';
import { writeCart } from './print-cart.js';

/** A body of carts as a worker receives it. */
export type SentCarts = Omit<CartFields, 'kind'> & { readonly payload: Uint8Array };

/**
 * Precision and flags of the weakest cart of an answer, the range of the rates of all that are
 * assumed, and product codes without a rule.
 */
export interface Marks {
  precision: number;
  flags: number;
  assumed: RateRange | null;
  readonly unruled: Set<string>;
}

/** The marks of an answer that has no carts yet. */
export function noMarks(): Marks {
  return { precision: 0, flags: 0, assumed: null, unruled: new Set() };
}

/** Adds the marks of a cart. */
export function mark(marks: Marks, { marks: of }: CartOutcome): void {
  marks.precision = Math.max(marks.precision, PRECISIONS.indexOf(of.precision));
  marks.flags |= flagsOf(of);
  if (of.assumed !== null) marks.assumed = widest(marks.assumed, of.assumed);
  for (const code of of.unruled) marks.unruled.add(code);
}

/** The problem for a failure of the engine, with the member of the body that it concerns. */
export function refusalProblem({ failure, field, detail }: Failure, at: string): Problem {
  const location = field === null ? at : `${at}.${field}`;
  const message = detail ?? failure;
  return problem(422, 'The cart cannot be calculated.', [{ location, message }]);
}

const ITEMS = new Piece('{"items":[');
const COMMA = 0x2c;

/** Memory for an ordinary answer. A larger one gets its own memory, which is not kept. */
const ANSWER_BYTES = 65_536;

/** The carts of the answer that is being written. It is copied before the next answer begins. */
export const writtenCarts = new ByteWriter(ANSWER_BYTES);

/**
 * A larger body has its carts read one by one, and all memory for its answer is allocated at once.
 */
export const LARGE_BODY_BYTES = 65_536;
/**
 * Estimated length of an answer divided by that of its body: a line repeats what was sent and adds
 * the tax.
 */
const ANSWER_GROWTH = 1.75;

/**
 * Begins an answer. `bodyBytes` is the length of its body, from which memory for a large one is
 * estimated.
 */
export function beginItems(bodyBytes = 0): ByteWriter {
  writtenCarts.clear(bodyBytes > LARGE_BODY_BYTES ? Math.ceil(ANSWER_GROWTH * bodyBytes) : 0);
  writtenCarts.piece(ITEMS);
  return writtenCarts;
}

/** Makes the id of the cart at an index of the body. */
export type CartId = (index: number) => string | Uint8Array;

/** Calculates one cart with the settings of this service. */
export function outcomeOf(
  { precisionMin, refuseUnruled }: WireContext,
  engine: Engine,
  query: CartQuery,
  nowMs: number,
): CartOutcome | Failure {
  return engine.calculate(query, nowMs, precisionMin, refuseUnruled);
}

/** The outcome of the cart at an index of the body. */
type OutcomeAt = (index: number, cart: ReadCart) => CartOutcome | Failure;

/**
 * Writes carts and returns their marks, or a refusal of the first that cannot be read or
 * calculated.
 */
function writeCarts(
  carts: BodyCarts,
  outcomeAt: OutcomeAt,
  cartId: CartId,
  into: ByteWriter,
): Marks | Problem {
  const marks = noMarks();
  let refused: Problem | null = null;
  for (let index = 0; index < carts.count; index += 1) {
    const cart = carts.at(index);
    // A cart that cannot be read refuses the body before any that cannot be calculated.
    if (isProblem(cart)) return cart;
    if (refused !== null) continue;
    const outcome = outcomeAt(index, cart);
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

/** Carts of a merchant that are read and calculated in separate steps of a task. */
export interface CartsUnderWay {
  /** The carts, or why the body is refused. */
  readonly carts: readonly ReadCart[] | Problem;
  /** The outcomes of the carts that were calculated, up to the first that is refused. */
  readonly outcomes: (CartOutcome | Failure)[];
}

/**
 * Reads an ordinary body of carts of merchants. Null for any other body, which is read when its
 * answer is made.
 */
export function readCarts({ endpoint, optionBits, payload }: SentCarts): CartsUnderWay | null {
  if (endpoint !== 'merchant' || payload.length > LARGE_BODY_BYTES) return null;
  const body = readMerchantBody(payload);
  if (body === null) return null;
  return { carts: readMerchantCarts(body, optionsOfBits(optionBits), true), outcomes: [] };
}

/** Calculates carts that were read before. */
export function calculateCarts(
  context: WireContext,
  engine: Engine,
  { carts, outcomes }: CartsUnderWay,
  nowMs: number,
): void {
  if (isProblem(carts)) return;
  for (const { query } of carts) {
    const outcome = outcomeOf(context, engine, query, nowMs);
    outcomes.push(outcome);
    if (isFailure(outcome)) return;
  }
}

/** Writes carts that were read before, and calculates those that were not calculated yet. */
export function writeRead(
  context: WireContext,
  engine: Engine,
  { carts, outcomes }: CartsUnderWay,
  cartId: CartId,
  nowMs: number,
): Marks | Problem {
  if (isProblem(carts)) return carts;
  const read = { count: carts.length, at: (index: number): ReadCart => carts[index]! };
  const outcomeAt: OutcomeAt = (index, { query }) =>
    outcomes[index] ?? outcomeOf(context, engine, query, nowMs);
  return writeCarts(read, outcomeAt, cartId, beginItems());
}

/** Calculates and writes the carts of a large body, reading each one when it is its turn. */
export function calculateInTurn(
  context: WireContext,
  engine: Engine,
  inTurn: BodyCarts,
  nowMs: number,
  cartId: CartId,
  bodyBytes: number,
): Marks | Problem {
  const outcomeAt: OutcomeAt = (_, { query }) => outcomeOf(context, engine, query, nowMs);
  return writeCarts(inTurn, outcomeAt, cartId, beginItems(bodyBytes));
}
