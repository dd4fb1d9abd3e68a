/** What both cart endpoints need to read a body: its JSON, its lines, and refusals. */
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

/** The refusal of a body with a number that has too many digits to be read exactly. */
export const LONG_NUMBER = {
  location: 'body',
  message: `a number has more than ${NUMBER_DIGITS_MAX} significant digits`,
} as const;

/** A number is cut to this length where an error repeats it. */
const NUMBER_ECHO_MAX = 40;

/**
 * Parses a body whose numbers can be read exactly. What is not JSON is a 400, a number with too
 * many digits a 422.
 */
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
/** The texts of codes that were used before. The index is the code, which bounds their number. */
const TICS = new Array<string | undefined>(TIC_MAX + 1);

/** A product code as five digits; null for general goods. */
export function ticOf(tic: number | null | undefined): string | null {
  if (tic === null || tic === undefined || tic === 0) return null;
  const known = TICS[tic];
  if (known !== undefined) return known;
  const text = String(tic).padStart(TIC_DIGITS, '0');
  if (tic <= TIC_MAX) TICS[tic] = text;
  return text;
}

/** A line of either endpoint whose shape was checked. */
interface SentLine {
  readonly itemId: string;
  readonly price: number;
  readonly quantity: number;
}

/** The place of a line in the body; `at` is the place of its cart. */
export function lineLocation(at: string, position: number): string {
  return `${at}.lineItems[${position}]`;
}

/**
 * The line with exact amounts, or the refusal of a member with too many digits. `at` is the place
 * of the cart in the body, and `position` that of the line in the cart.
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
