/** What both cart endpoints share in reading: refusals, lines, the JSON text itself. */
import type { CartLine } from '../engine/cart-query.js';
import { isTooDeep, JSON_DEPTH_MAX } from '../provider/json-depth.js';
import {
  PRICE_DECIMALS_MAX, PRICE_MAX, QUANTITY_DECIMALS_MAX, readPrice, readQuantity,
} from './cart-amount.js';
import { longNumber, NUMBER_DIGITS_MAX } from './json-digits.js';
import type { BodyError } from './validation.js';

/** Why a request with carts is refused; the front end makes a problem document of it. */
export interface CartProblem {
  readonly problem: number;
  readonly detail: string;
  readonly errors: readonly BodyError[];
}

export type Members = Readonly<Record<string, unknown>>;

/** Tells a refusal from anything that was read. */
export function isProblem(value: object): value is CartProblem {
  return 'problem' in value;
}

/** A refusal with its errors. */
export function cartProblem(
  problem: number, detail: string, errors: readonly BodyError[] = [],
): CartProblem {
  return { problem, detail, errors };
}

/** Tells an object from every other JSON value. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Parses a body whose numbers are exact; 400 for what is not JSON, 422 for longer numbers. */
export function readJson(body: Uint8Array): Members | CartProblem {
  if (isTooDeep(body)) {
    return cartProblem(400, `The body has more than ${JSON_DEPTH_MAX} levels.`);
  }
  let text: string;
  let value: unknown;
  try {
    text = DECODER.decode(body);
    value = JSON.parse(text);
  } catch {
    return cartProblem(400, 'The body is not JSON in UTF-8.');
  }
  if (!isMembers(value)) {
    return cartProblem(422, 'validation failed', [
      { location: 'body', message: 'expected an object' },
    ]);
  }
  const long = longNumber(text);
  if (long === null) return value;
  return cartProblem(422, 'validation failed', [{
    location: 'body', message: `a number has more than ${NUMBER_DIGITS_MAX} significant digits`,
    value: long.slice(0, 40),
  }]);
}

const TIC_DIGITS = 5;

/** A code as five digits; null for general goods. */
export function ticOf(tic: number | null | undefined): string | null {
  return tic === null || tic === undefined || tic === 0
    ? null : String(tic).padStart(TIC_DIGITS, '0');
}

/** A line of either endpoint after its schema was checked. */
export interface SentLine {
  readonly itemId: string;
  readonly price: number;
  readonly quantity: number;
}

/** The exact line, or the member with more digits than are kept. */
export function readLine(
  line: SentLine, index: number, tic: string | null, location: string,
): CartLine | BodyError {
  const price = line.price > PRICE_MAX ? null : readPrice(line.price);
  if (price === null) {
    return {
      location: `${location}.price`, value: line.price,
      message: `expected at most ${PRICE_MAX} with at most ${PRICE_DECIMALS_MAX} decimals`,
    };
  }
  const quantity = readQuantity(line.quantity);
  if (quantity === null) {
    return {
      location: `${location}.quantity`, value: line.quantity,
      message: `expected at most ${QUANTITY_DECIMALS_MAX} decimals`,
    };
  }
  return { index, itemId: line.itemId, price, quantity, tic };
}
