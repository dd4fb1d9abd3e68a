/**
 * POST /calculate/cart: one cart with addresses on one line, answered with amounts of five decimals
 * (contract 8).
 */
import { isObject, type JsonObject } from '../../base/json-object.js';
import {
  anyText,
  checkOf,
  choice,
  closed,
  list,
  number,
  optional,
  readerOf,
  stated,
  whole,
  type Of,
} from '../../base/shape.js';
import { invalid, isProblem, type Problem } from '../../base/problem.js';
import { isFaultless } from '../../base/validator.js';
import {
  CART_LINES_MAX,
  QUANTITY_MAX,
  TIC_MAX,
  type CartLine,
  type CartQuery,
} from '../../engine/cart/outcome.js';
import { PRICE_MAX } from './wire-amount.js';
import { OPTION_MEMBERS, optionsOfBody, type CartOptions } from './options.js';
import { readLine, ticOf } from './cart-text.js';
import { ADDRESS_CHARS_MAX } from '../lookup/parameter-table.js';

/** Decimals of a dollar in amounts. */
const AMOUNT_DIGITS = 5;
/** Longest name of a customer or an item, in characters. */
const NAME_CHARS_MAX = 50;

const NAME = anyText(1, NAME_CHARS_MAX);
const ADDRESS = anyText(1, ADDRESS_CHARS_MAX);
const PLACE = closed({ address: ADDRESS });

const CART = closed({
  customerId: NAME,
  currency: closed({ currencyCode: optional(choice(['USD'])) }),
  origin: PLACE,
  destination: PLACE,
  lineItems: list(
    closed({
      itemId: NAME,
      price: stated(number({ positive: true }), { maximum: PRICE_MAX }),
      quantity: number({ positive: true, max: QUANTITY_MAX }),
      taxabilityCode: optional(whole({ min: 0, max: TIC_MAX })),
    }),
    { min: 1, max: CART_LINES_MAX },
  ),
});
type SentCart = Of<typeof CART>;

/** Shapes that parts of the answer share with the request. */
export const CALCULATION_PARTS = { name: NAME, address: ADDRESS } as const;

const checkCart = checkOf(CART);

/** A cart of no merchant. */
export const CALCULATION_REQUEST = closed({
  items: list(CART, { min: 1, max: 1 }),
  ...OPTION_MEMBERS,
});

/** Reads a body of the right shape without a separate check; null for any other body. */
export const readCalculationBody: (body: Uint8Array) => JsonObject | null =
  readerOf(CALCULATION_REQUEST);

export interface ReadCalculation {
  readonly sent: SentCart;
  readonly query: CartQuery;
}

const BODY_MEMBERS: ReadonlySet<string> = new Set(['items', ...Object.keys(OPTION_MEMBERS)]);

/** The only item of a body; the item itself is not checked. */
function onlyItem(body: JsonObject): { readonly item: unknown } | Problem {
  const unknown = Object.keys(body).find((name) => !BODY_MEMBERS.has(name));
  if (unknown !== undefined) {
    return invalid({ location: `body.${unknown}`, message: 'unexpected property' });
  }
  const { items } = body;
  return Array.isArray(items) && items.length === 1
    ? { item: items[0] }
    : invalid({ location: 'body.items', message: 'expected an array of exactly one cart' });
}

/**
 * Reads the cart of a body. `fits` says that the body comes from `readCalculationBody`, so its
 * shape is right.
 */
export function readCalculation(
  body: JsonObject,
  base: CartOptions,
  fits = false,
): ReadCalculation | Problem {
  const options = optionsOfBody(body, base);
  if (isProblem(options)) return options;
  const only = onlyItem(body);
  if (isProblem(only)) return only;
  const { item } = only;
  const sentLines: unknown = isObject(item) ? item['lineItems'] : null;
  // A list that is too long is refused before its lines are checked.
  if (Array.isArray(sentLines) && sentLines.length > CART_LINES_MAX) {
    const message = `expected at most ${CART_LINES_MAX} items`;
    return invalid({ location: 'body.items[0].lineItems', message });
  }
  const errors = fits ? [] : checkCart(item, 'body.items[0]');
  if (!isFaultless<SentCart>(item, errors)) return invalid(...errors);
  const lines: CartLine[] = [];
  for (const [index, line] of item.lineItems.entries()) {
    const read = readLine(line, index, ticOf(line.taxabilityCode), 'body.items[0]', index);
    if (isProblem(read)) return read;
    lines.push(read);
  }
  const { mode, level, explain } = options;
  return {
    sent: item,
    query: {
      instantMs: null,
      origin: { kind: 'line', address: item.origin.address },
      destination: { kind: 'line', address: item.destination.address },
      lines,
      rounding: { mode, level, digits: AMOUNT_DIGITS },
      explain,
    },
  };
}
