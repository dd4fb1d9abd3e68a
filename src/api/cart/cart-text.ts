/** What both cart endpoints share in reading: refusals, lines, the JSON text itself. */
import { isObject, jsonOfBody, type JsonObject } from '../../base/json-object.js';
import { invalid, isProblem, problem, type Problem } from '../../base/problem.js';
import { TIC_MAX, type CartLine } from '../../engine/cart/outcome.js';
import {
  PRICE_DECIMALS_MAX,
  PRICE_MAX,
  QUANTITY_DECIMALS_MAX,
  readPrice,
  readQuantity,
} from './wire-amount.js';
import {
  EXCESSES,
  excessOf,
  longNumberPlace,
  NUMBER_DIGITS_MAX,
  numberText,
} from '../../base/json-scan.js';

/** What is wrong with a body that has a number which is not exact as it is read. */
export const LONG_NUMBER = {
  location: 'body',
  message: `a number has more than ${NUMBER_DIGITS_MAX} significant digits`,
} as const;

/** Longer numbers are cut in an error. */
const NUMBER_ECHO_MAX = 40;

/** Parses a body whose numbers are exact; 400 for what is not JSON, 422 for longer numbers. */
export function readJson(body: Uint8Array): JsonObject | Problem {
  const excess = excessOf(body);
  if (excess !== null) return problem(400, `The body has ${EXCESSES[excess]}.`);
  const read = jsonOfBody(body);
  if (isProblem(read)) return read;
  const { value } = read;
  if (!isObject(value)) {
    return invalid({ location: 'body', message: 'expected an object' });
  }
  const long = longNumberPlace(body);
  if (long < 0) return value;
  return invalid({ ...LONG_NUMBER, value: numberText(body, long, NUMBER_ECHO_MAX) });
}

const TIC_DIGITS = 5;
/** Texts of the codes that were met, by code, so that there are never more than this. */
const TICS = new Array<string | undefined>(TIC_MAX + 1);

/** A code as five digits; null for general goods. */
export function ticOf(tic: number | null | undefined): string | null {
  if (tic === null || tic === undefined || tic === 0) return null;
  const known = TICS[tic];
  if (known !== undefined) return known;
  const text = String(tic).padStart(TIC_DIGITS, '0');
  if (tic <= TIC_MAX) TICS[tic] = text;
  return text;
}

/** A line of either endpoint after its schema was checked. */
interface SentLine {
  readonly itemId: string;
  readonly price: number;
  readonly quantity: number;
}

/** The place of a line in the body; `at` is the cart's. */
export function lineLocation(at: string, position: number): string {
  return `${at}.lineItems[${position}]`;
}

/**
 * The exact line, or the member with more digits than are kept. `at` is the cart's place in the
 * body, and `position` the line's in the cart.
 */
export function readLine(
  line: SentLine,
  index: number,
  tic: string | null,
  at: string,
  position: number,
): CartLine | Problem {
  const price = line.price > PRICE_MAX ? null : readPrice(line.price);
  if (price === null) {
    return invalid({
      location: `${lineLocation(at, position)}.price`,
      value: line.price,
      message: `expected at most ${PRICE_MAX} with at most ${PRICE_DECIMALS_MAX} decimals`,
    });
  }
  const quantity = readQuantity(line.quantity);
  if (quantity === null) {
    return invalid({
      location: `${lineLocation(at, position)}.quantity`,
      value: line.quantity,
      message: `expected at most ${QUANTITY_DECIMALS_MAX} decimals`,
    });
  }
  return { index, itemId: line.itemId, price, quantity, tic };
}
