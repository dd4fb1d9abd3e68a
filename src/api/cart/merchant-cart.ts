/**
 * Reads carts of self-managed merchants (POST /merchant/cart/calculate), and refuses members that
 * only the compliance provider can use. Amounts have two decimals.
 */
import { isObject, type JsonObject } from '../../base/json-object.js';
import { PlacedValues } from '../../base/placed-values.js';
import { invalid, isProblem, problem, type Problem } from '../../base/problem.js';
import { type BodyError, isFaultless } from '../../base/validator.js';
import {
  CART_LINES_MAX,
  type CartLine,
  type CartQuery,
  type SplitPlace,
} from '../../engine/cart/outcome.js';
import {
  CART,
  checkCart,
  readPlaces,
  type SentAddress,
  type SentCart,
  type SentCartLine,
} from './cart-shape.js';
import { optionsOfBody, type CartOptions } from './options.js';
import { lineLocation, readLine, ticOf } from './cart-text.js';
import { parseInstant } from '../../wire/instant.js';
import { CARTS_MAX } from '../merchant/relay-shape.js';

/** Decimals of a dollar in amounts. */
export const AMOUNT_DIGITS = 2;

/** An address as it was sent: in parts, or on one line, as a table of carts may have it. */
export type SentPlace =
  | (SentAddress & { readonly address?: undefined })
  | { readonly address: string };

/** The members of a line that the answer repeats. */
export interface RepeatedLine extends Pick<SentCartLine, 'index' | 'itemId' | 'quantity' | 'tic'> {
  /**
   * In dollars, or in 10⁻⁹ dollars where it was sent as text, since a double may not have enough
   * digits.
   */
  readonly price: number | bigint;
}

/** The members of a cart that the answer repeats. */
interface RepeatedCart extends Pick<SentCart, 'cartId' | 'customerId'> {
  readonly origin: SentPlace;
  readonly destination: SentPlace;
  readonly lineItems: readonly RepeatedLine[];
}

/** A cart from a body or from a row of a table, with the members that its answer repeats. */
export interface ReadCart {
  readonly sent: RepeatedCart;
  readonly query: CartQuery;
}

/**
 * Members that mean something to the compliance provider only, refused where they have an effect.
 */
const REFUSED: readonly (readonly [name: string, isRefused: (value: unknown) => boolean])[] = [
  ['discounts', isFilled],
  ['exemption', isFilled],
  ['deliveredBySeller', (value) => value === true],
];
const PLACES = ['origin', 'destination'] as const;

/**
 * Whether a value is more than null, false, empty text or a list or object without any such value.
 */
function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' ? Object.values(value).some(isFilled) : true;
}

/** Faults that only self-managed merchants have (contract 7); they are a 400. */
function refuse(cart: JsonObject, at: string): readonly BodyError[] {
  const errors: BodyError[] = [];
  for (const [name, isRefused] of REFUSED) {
    if (!isRefused(cart[name])) continue;
    errors.push({ location: `${at}.${name}`, message: 'not accepted for self-managed merchants' });
  }
  const { currency, lineItems } = cart;
  const code = isObject(currency) ? currency['currencyCode'] : null;
  if (typeof code === 'string' && code !== 'USD') {
    errors.push({
      location: `${at}.currency.currencyCode`,
      message: 'expected USD',
      value: code.slice(0, 40),
    });
  }
  for (const name of PLACES) {
    const address = cart[name];
    if (!isObject(address) || address['countryCode'] !== 'CA') continue;
    errors.push({ location: `${at}.${name}.countryCode`, message: 'expected US' });
  }
  if (Array.isArray(lineItems) && lineItems.length > CART_LINES_MAX) {
    const message = `expected at most ${CART_LINES_MAX} items`;
    errors.push({ location: `${at}.lineItems`, message });
  }
  return errors;
}

function placeOf({ line1, line2, city, state, zip }: SentAddress): SplitPlace {
  return { kind: 'split', line1, line2: line2 ?? '', city, state, zip };
}

const NO_ERRORS: readonly BodyError[] = [];

function readLines(cart: SentCart, at: string): readonly CartLine[] | Problem {
  const lines: CartLine[] = [];
  let highest = -1;
  for (let position = 0; position < cart.lineItems.length; position += 1) {
    const line = cart.lineItems[position]!;
    const { index } = line;
    // Most carts number their lines in ascending order, which needs no search.
    if (index > highest) highest = index;
    else if (lines.some((other) => other.index === index)) {
      const location = `${lineLocation(at, position)}.index`;
      return invalid({ location, message: 'expected unique in the cart' });
    }
    const read = readLine(line, index, ticOf(line.tic), at, position);
    if (isProblem(read)) return read;
    lines.push(read);
  }
  return lines;
}

/** What a body says of all its carts. */
interface BodyOptions extends CartOptions {
  /** The moment of the sale in milliseconds since 1970; null for now. */
  readonly instantMs: number | null;
}

/**
 * Reads one cart. `at` is its place in the body, "body.items[0]"; `fits` says that its shape is
 * right.
 */
function readCart(
  value: unknown,
  at: string,
  { mode, level, explain, instantMs }: BodyOptions,
  fits: boolean,
): ReadCart | Problem {
  const refused = isObject(value) ? refuse(value, at) : [];
  if (refused.length > 0) {
    return problem(400, 'The cart cannot be calculated for a self-managed merchant.', refused);
  }
  const errors = fits ? NO_ERRORS : checkCart(value, at);
  if (!isFaultless<SentCart>(value, errors)) return invalid(...errors);
  const lines = readLines(value, at);
  if (isProblem(lines)) return lines;
  return {
    sent: value,
    query: {
      instantMs,
      origin: placeOf(value.origin),
      destination: placeOf(value.destination),
      lines,
      rounding: { mode, level, digits: AMOUNT_DIGITS },
      explain,
    },
  };
}

/** The moment of the sale; null for now. */
function readInstant(body: JsonObject): number | null | Problem {
  const { transactionDate = null } = body;
  if (transactionDate === null) return null;
  const instant = typeof transactionDate === 'string' ? parseInstant(transactionDate) : null;
  return (
    instant ??
    invalid({
      location: 'body.transactionDate',
      message: 'expected an RFC 3339 date and time',
    })
  );
}

/** Reads the members of a body that concern all its carts. */
function readOptions(body: JsonObject, base: CartOptions): BodyOptions | Problem {
  const options = optionsOfBody(body, base);
  if (isProblem(options)) return options;
  const instantMs = readInstant(body);
  if (typeof instantMs === 'object' && instantMs !== null) return instantMs;
  const { mode, level, explain } = options;
  return { mode, level, explain, instantMs };
}

/** The carts of a body, to be read one after another. */
export interface BodyCarts {
  readonly count: number;
  /** Reads the next cart, or tells why the body is refused. Call it with ascending indexes. */
  at(index: number): ReadCart | Problem;
}

/**
 * The carts of a large body, each of which is read when it is its turn. Null for a body that does
 * not have the right shape; `readJson` and the check then find what is wrong.
 */
export function cartsInTurn(body: Uint8Array, base: CartOptions): BodyCarts | Problem | null {
  const read = readPlaces(body);
  if (read === null) return null;
  const options = readOptions(read, base);
  if (isProblem(options)) return options;
  const { items } = read;
  const carts = new PlacedValues(body, CART);
  return {
    count: items.length,
    at: (index) => readCart(carts.at(items[index]!), `body.items[${index}]`, options, true),
  };
}

/**
 * Reads all carts of a body; the first that cannot be read refuses the whole body. `fits` says that
 * the body comes from `readMerchantBody`.
 */
export function readMerchantCarts(
  body: JsonObject,
  base: CartOptions,
  fits = false,
): readonly ReadCart[] | Problem {
  const options = readOptions(body, base);
  if (isProblem(options)) return options;
  const { items } = body;
  if (!Array.isArray(items)) {
    return invalid({ location: 'body.items', message: 'expected an array' });
  }
  if (items.length < 1 || items.length > CARTS_MAX) {
    return invalid({ location: 'body.items', message: `expected 1 to ${CARTS_MAX} items` });
  }
  const carts: ReadCart[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const cart = readCart(items[index], `body.items[${index}]`, options, fits);
    if (isProblem(cart)) return cart;
    carts.push(cart);
  }
  return carts;
}
