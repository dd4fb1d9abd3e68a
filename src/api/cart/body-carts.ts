/** Carts of a body from their reading to the bytes of the answer. */
import { ByteWriter, Piece } from '../../base/byte-writer.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import type { CartOutcome, CartQuery } from '../../engine/cart/outcome.js';
import type { Engine } from '../../engine/engine.js';
import { PRECISIONS } from '../../engine/situs.js';
import { isFailure, type Failure } from '../../failure.js';
import type { CartFields } from '../../pool/types.js';
import type { WireContext } from '../lookup/context.js';
import { flagsOf } from '../lookup/fragment.js';
import { readMerchantBody } from './cart-shape.js';
import { type BodyCarts, type ReadCart, readMerchantCarts } from './merchant-cart.js';
import { optionsOfBits } from './options.js';
import { writeCart } from './print-cart.js';

/** A body of carts as a worker is handed it. */
export type SentCarts = Omit<CartFields, 'kind'> & { readonly payload: Uint8Array };

/** What the weakest cart of an answer rests on. */
export interface Marks {
  precision: number;
  flags: number;
  readonly unruled: Set<string>;
}

/** Those of an answer without carts as yet. */
export function noMarks(): Marks {
  return { precision: 0, flags: 0, unruled: new Set() };
}

/** Adds what a cart rests on. */
export function mark(marks: Marks, { marks: of }: CartOutcome): void {
  marks.precision = Math.max(marks.precision, PRECISIONS.indexOf(of.precision));
  marks.flags |= flagsOf(of);
  for (const code of of.unruled) marks.unruled.add(code);
}

/** A refusal of the engine, with the member of the body that it concerns. */
export function refusalProblem({ failure, field, detail }: Failure, at: string): Problem {
  const location = field === null ? at : `${at}.${field}`;
  const message = detail ?? failure;
  return problem(422, 'The cart cannot be calculated.', [{ location, message }]);
}

const ITEMS = new Piece('{"items":[');
const COMMA = 0x2c;

/** Of an everyday answer. Larger ones have memory of their own, for once. */
const ANSWER_BYTES = 65_536;

/** The carts of an answer under way: it is copied before the next one begins. */
export const writtenCarts = new ByteWriter(ANSWER_BYTES);

/** A larger body has its carts read one by one, and memory for its answer at once. */
export const LARGE_BODY_BYTES = 65_536;
/** Of an answer against its body: a line says what it was sent, and its tax. */
const ANSWER_GROWTH = 1.75;

/** Begins an answer; to a body of so many bytes, where that is a large one. */
export function beginItems(bodyBytes = 0): ByteWriter {
  writtenCarts.clear(bodyBytes > LARGE_BODY_BYTES ? Math.ceil(ANSWER_GROWTH * bodyBytes) : 0);
  writtenCarts.piece(ITEMS);
  return writtenCarts;
}

/** Makes the id of the cart at a place of the body. */
export type CartId = (index: number) => string | Uint8Array;

/** What the engine makes of one cart, with the settings of this service. */
export function outcomeOf(
  { precisionMin, refuseUnruled }: WireContext,
  engine: Engine,
  query: CartQuery,
  nowMs: number,
): CartOutcome | Failure {
  return engine.calculate(query, nowMs, precisionMin, refuseUnruled);
}

/** What the engine makes of the cart at a place of the body. */
type OutcomeAt = (index: number, cart: ReadCart) => CartOutcome | Failure;

/** Writes carts, and tells what they rest on, or the first that cannot be read or calculated. */
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
    // One that cannot be read refuses the body, whatever was calculated before it.
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

/** Carts of a merchant on their way through the steps of a task. */
export interface CartsUnderWay {
  /** As far as the body could be read. */
  readonly carts: readonly ReadCart[] | Problem;
  /** Up to the first one that is refused. */
  readonly outcomes: (CartOutcome | Failure)[];
}

/** Reads an everyday body of carts; null for any other, which is read with its answer. */
export function readCarts({ endpoint, optionBits, payload }: SentCarts): CartsUnderWay | null {
  if (endpoint !== 'merchant' || payload.length > LARGE_BODY_BYTES) return null;
  const body = readMerchantBody(payload);
  if (body === null) return null;
  return { carts: readMerchantCarts(body, optionsOfBits(optionBits), true), outcomes: [] };
}

/** Calculates carts that were read. */
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

/** Writes carts that were read, and calculates those that were not yet. */
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

/** Calculates the carts of a large body, each read for its turn. */
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
