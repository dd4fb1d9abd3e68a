/**
 * A cart as a row or message: the body of a cart endpoint with one item, and possibly an `id`. With
 * `merchantId` it is a merchant's cart. Without, it may have either shape, which the form of
 * `origin` tells.
 */
import { createHash, randomUUID } from 'node:crypto';
import { isObject, type JsonObject } from '../../base/json-object.js';
import type { CartOutcome, CartQuery } from '../../engine/cart/outcome.js';
import { GRANT_GEO, type BodyPart } from '../../pool/types.js';
import { type FailureKind, isFailure } from '../../failure.js';
import { ByteWriter } from '../../base/byte-writer.js';
import { hashId } from '../../base/uuid.js';
import { LONG_NUMBER } from '../../api/cart/cart-text.js';
import { readCalculation } from '../../api/cart/calculation.js';
import { codesRefused } from '../../api/cart/answer.js';
import { refusalProblem } from '../../api/cart/body-carts.js';
import { NO_GEO } from '../../api/cart/refusals.js';
import { CART_DEFAULTS, type CartOptions, OPTION_MEMBERS } from '../../api/cart/options.js';
import { invalid, isProblem, type Problem } from '../../base/problem.js';
import { longNumber, longNumberPlace } from '../../base/json-scan.js';
import { withoutMember } from '../../base/json-member.js';
import { readMerchantCarts } from '../../api/cart/merchant-cart.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { writeCalculation, writeCart } from '../../api/cart/print-cart.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { situsJson } from '../../wire/situs-note.js';
import {
  refusedCart,
  type JsonRow,
  type RowAnswer,
  type RowEngine,
  refused,
  refusedRow,
  type Place,
} from './row.js';
import { cartOptions, merchantOf } from './cart-parameters.js';

/** `subject` of runs whose merchants were found by the front end to be the caller's. */
export const OWN_MERCHANTS = 'merchants';

/** The answer to a cart of no merchant where the key has no geocoded lookups. */
export const NOT_GEOCODED = refusedCart(NO_GEO);
/** Locations of faults in a body, and in its one item. */
const BODY = 'body';
const ITEM = 'body.items[0]';

/** Where the cart is in a row: the row itself, or the one item of its body. */
type CartPosition = 'row' | 'items[0]';

/**
 * The member of a row that stands at a location of the body read from it; null for the row itself.
 */
function memberOf(location: string, at: CartPosition): string | null {
  const ofItem = at === 'row' && location.startsWith(ITEM);
  return location.slice((ofItem ? ITEM : BODY).length + 1) || null;
}

/** Refuses a row with the detail of the problem and the message of its first error. */
function problemAnswer(
  { detail, errors: [first] = [] }: Problem,
  at: CartPosition,
  kind: FailureKind = 'invalid-format',
): RowAnswer {
  const { code } = RESPONSE_CODES[kind];
  if (first === undefined) return refusedRow({ code, message: detail, field: null });
  const lead = /[.!?]$/.test(detail) ? detail : `${detail}:`;
  const message = `${lead} ${first.message}`;
  return refusedRow({ code, message, field: memberOf(first.location, at) });
}

/** The name of the product code in a line. */
type CodeName = 'taxabilityCode' | 'tic';

/** The digits that may begin the fourth group of a UUID (its variant). */
const VARIANTS = '89ab';

/**
 * A UUID made from the hash of run, line number and row, for a cart without an id. The same row of
 * the same run always gets the same id, whichever server answers it.
 */
export function rowCartId(run: string, line: number, row: string | Uint8Array): string {
  const hash = createHash('sha256').update(`${run}\n${line}\n`).update(row).digest('hex');
  return hashId(hash, VARIANTS.charAt(parseInt(hash.charAt(16), 16) % VARIANTS.length));
}

/** The bytes of a printed item. */
type Item = Uint8Array;

/** Memory for an ordinary cart. A longer one gets its own memory, which is not kept. */
const ITEM_BYTES = 16_384;

/** The item that is being written. It is copied before the next one begins. */
const written = new ByteWriter(ITEM_BYTES);

/** The item that `write` prints; valid until the next item is written. */
export function itemOf(write: (into: ByteWriter) => void): Item {
  written.clear();
  write(written);
  return written.bytes();
}

/** An item with the member `situs` added, as lines of files have it. */
export function itemWith(item: Item, situs: string): readonly BodyPart[] {
  return [item.subarray(0, -1), `,${situs}}`];
}

/** How a cart is read, and how its answer is put together. */
interface CartReading {
  readonly ofMerchant: boolean;
  readonly at: CartPosition;
  /** Options where the body has none of its own. */
  readonly options: CartOptions;
  /** Makes an id for a cart without one. */
  newId(): string;
  /** The body of the answer, from its item and the member `situs`. */
  wrap(item: Item, situs: string): readonly BodyPart[];
}

/** A cart that was read, and how its outcome is printed. */
interface Asked {
  readonly query: CartQuery;
  readonly code: CodeName;
  write(into: ByteWriter, outcome: CartOutcome): void;
}

function isOneLine(item: unknown): boolean {
  if (!isObject(item)) return true;
  const { origin } = item;
  return !isObject(origin) || !('line1' in origin);
}

/** Reads a body as its endpoint does. */
function readAsked(body: JsonObject, { ofMerchant, options, newId }: CartReading): Asked | Problem {
  const { items } = body;
  if (Array.isArray(items) && items.length > 1) {
    return invalid({ location: 'body.items', message: 'expected one cart' });
  }
  if (!ofMerchant && isOneLine(Array.isArray(items) ? items[0] : null)) {
    const cart = readCalculation(body, options);
    if (isProblem(cart)) return cart;
    return {
      query: cart.query,
      code: 'taxabilityCode',
      write: (into, outcome) => writeCalculation(into, cart, outcome, newId()),
    };
  }
  const carts = readMerchantCarts(body, options);
  if (isProblem(carts)) return carts;
  const cart = carts[0]!;
  return {
    query: cart.query,
    code: 'tic',
    write: (into, outcome) => writeCart(into, cart, outcome, cart.sent.cartId ?? newId()),
  };
}

/** Has the engine calculate the cart of a row, and prints the outcome or a refusal. */
export function calculated(
  { context, engine, run, grants }: RowEngine,
  query: CartQuery,
  ofMerchant: boolean,
  code: CodeName,
  at: CartPosition,
  print: (outcome: CartOutcome) => readonly BodyPart[],
): RowAnswer {
  const refusal = ofMerchant ? null : codesRefused(query, grants);
  if (refusal !== null) {
    return refusedCart({ ...refusal, field: memberOf(`${ITEM}.${refusal.field}.${code}`, at) });
  }
  const outcome = engine.calculate(query, run.nowMs, context.precisionMin, context.refuseUnruled);
  if (isFailure(outcome)) return problemAnswer(refusalProblem(outcome, ITEM), at, outcome.failure);
  return {
    code: SUCCESS.code,
    geo: true,
    merchant: ofMerchant,
    refusal: null,
    body: print(outcome),
  };
}

/** Whether a double cannot hold a number of the row; its id may be any whole number. */
function isInexact(text: string): boolean {
  if (longNumber(text) === null) return false;
  return longNumberPlace(withoutMember(Buffer.from(text), 'id')) >= 0;
}

/**
 * Answers a body with one item.
 * @param text the row as it was sent, which is searched for numbers that are not exact after
 * parsing
 */
function answerBody(
  engine: RowEngine,
  body: JsonObject,
  text: string,
  reading: CartReading,
): RowAnswer {
  const { ofMerchant, at, wrap } = reading;
  if (!ofMerchant && (engine.grants & GRANT_GEO) === 0) return NOT_GEOCODED;
  if (isInexact(text)) return problemAnswer(invalid(LONG_NUMBER), at);
  const asked = readAsked(body, reading);
  if (isProblem(asked)) return problemAnswer(asked, at);
  return calculated(engine, asked.query, ofMerchant, asked.code, at, (outcome) =>
    wrap(
      itemOf((into) => asked.write(into, outcome)),
      situsJson(outcome.marks),
    ),
  );
}

/** Answers a message that is a cart. */
export function answerCartMessage(engine: RowEngine, { object, text }: JsonRow): RowAnswer {
  const { id: _id, merchantId = null, ...body } = object;
  const ofMerchant = merchantId !== null;
  if (ofMerchant !== (engine.run.subject === OWN_MERCHANTS)) {
    return refusedCart(wrongParameter('merchantId', 'written once and without escapes.'));
  }
  return answerBody(engine, body, text, {
    ofMerchant,
    at: 'items[0]',
    options: CART_DEFAULTS,
    newId: randomUUID,
    wrap: (item, situs) => ['{"items":[', item, `],${situs}}`],
  });
}

/** Members that belong to the body; all others of a bare cart belong to the cart. */
const BODY_MEMBERS = new Set(['transactionDate', ...Object.keys(OPTION_MEMBERS)]);

/** The body that a bare cart stands for. */
function bodyOf(cart: JsonObject): JsonObject {
  // Most rows have only members of the cart, and are not copied.
  if (!Object.keys(cart).some((name) => BODY_MEMBERS.has(name))) return { items: [cart] };
  const members = Object.entries(cart);
  const isBeside = ([name]: readonly [string, unknown]): boolean => BODY_MEMBERS.has(name);
  return {
    ...Object.fromEntries(members.filter(isBeside)),
    items: [Object.fromEntries(members.filter((member) => !isBeside(member)))],
  };
}

/** Whether a row of a file for `merchant` may name this merchant. */
function isMerchant(merchantId: unknown, merchant: string | null): boolean {
  return (
    merchantId === null || (typeof merchantId === 'string' && merchantId.toLowerCase() === merchant)
  );
}

/**
 * Answers a row of an NDJSON file. It is the body of a cart endpoint with one item, or a bare cart:
 * the item, with the members that would stand beside `items` in a body. The answer is the
 * endpoint's item with the member `situs` of the endpoint's body.
 */
export function answerBulkCart(
  engine: RowEngine,
  { object, text }: JsonRow,
  { line }: Place,
): RowAnswer {
  const { id: _id, merchantId = null, ...cart } = object;
  const { name, defaults } = engine.run;
  const merchant = merchantOf(defaults);
  if (!isMerchant(merchantId, merchant)) {
    return refused(
      engine,
      wrongParameter(
        'merchantId',
        merchant === null
          ? 'the merchant of all rows is named in the query.'
          : `all rows are of merchant ${merchant}.`,
      ),
    );
  }
  const isBare = !('items' in cart);
  return answerBody(engine, isBare ? bodyOf(cart) : cart, text, {
    ofMerchant: merchant !== null,
    at: isBare ? 'row' : 'items[0]',
    options: cartOptions(defaults),
    newId: () => rowCartId(name, line, text),
    wrap: itemWith,
  });
}
