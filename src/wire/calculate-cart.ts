/**
 * POST /calculate/cart: one cart with addresses on one line, answered with amounts of five decimals
 * (contract 8). Everything wrong with the body is a 400 here.
 */
import { CART_LINES_MAX, type CartLine, type CartQuery } from '../engine/cart-query.js';
import type { CartOutcome } from '../engine/cart-outcome.js';
import { formatRate } from '../tax/rate.js';
import { formatDollars, formatPrice, QUANTITY_MAX } from './cart-amount.js';
import { optionsOfBody, isBodyError, type CartOptions } from './cart-options.js';
import {
  cartProblem, isMembers, readLine, ticOf, type CartProblem, type Members,
} from './cart-read.js';
import { ADDRESS_CHARS_MAX } from './parameter.js';
import { compileCheck, type BodyError } from './validation.js';

/** Decimals of a dollar in amounts. */
const AMOUNT_DIGITS = 5;

interface SentLine {
  readonly itemId: string;
  readonly price: number;
  readonly quantity: number;
  readonly taxabilityCode?: number | null;
}

interface SentCart {
  readonly customerId: string;
  readonly origin: { readonly address: string };
  readonly destination: { readonly address: string };
  readonly lineItems: readonly SentLine[];
}

export interface ReadCalculation {
  readonly sent: SentCart;
  readonly query: CartQuery;
}

const PLACE = {
  type: 'object', strict: true,
  props: { address: { type: 'string', min: 1, max: ADDRESS_CHARS_MAX } },
};

const checkCart = compileCheck({
  $$strict: true,
  customerId: { type: 'string', min: 1, max: 50 },
  currency: {
    type: 'object', strict: true,
    props: { currencyCode: { type: 'enum', values: ['USD'], optional: true, nullable: true } },
  },
  origin: PLACE,
  destination: PLACE,
  lineItems: {
    type: 'array', min: 1, max: CART_LINES_MAX, items: {
      type: 'object', strict: true, props: {
        itemId: { type: 'string', min: 1, max: 50 },
        price: { type: 'number', positive: true },
        quantity: { type: 'number', positive: true, max: QUANTITY_MAX },
        taxabilityCode: {
          type: 'number', integer: true, min: 0, max: 100_000, optional: true, nullable: true,
        },
      },
    },
  },
});

const BODY_MEMBERS: ReadonlySet<string> = new Set(['items', 'rounding', 'explain']);

function isCart(value: unknown, errors: readonly BodyError[]): value is SentCart {
  return errors.length === 0 && isMembers(value);
}

function invalid(...errors: readonly BodyError[]): CartProblem {
  return cartProblem(400, 'validation failed', errors);
}

/** The one item of a body, unchecked. */
function onlyItem(body: Members): { readonly item: unknown } | CartProblem {
  const unknown = Object.keys(body).find((name) => !BODY_MEMBERS.has(name));
  if (unknown !== undefined) {
    return invalid({ location: `body.${unknown}`, message: 'unexpected property' });
  }
  const { items } = body;
  return Array.isArray(items) && items.length === 1
    ? { item: items[0] }
    : invalid({ location: 'body.items', message: 'expected an array of exactly one cart' });
}

/** Reads the cart of a body. */
export function readCalculation(body: Members, base: CartOptions): ReadCalculation | CartProblem {
  const options = optionsOfBody(body, base);
  if (isBodyError(options)) return invalid(options);
  const only = onlyItem(body);
  if ('problem' in only) return only;
  const { item } = only;
  const sentLines: unknown = isMembers(item) ? item['lineItems'] : null;
  // Told before each of them is checked.
  if (Array.isArray(sentLines) && sentLines.length > CART_LINES_MAX) {
    const message = `expected at most ${CART_LINES_MAX} items`;
    return invalid({ location: 'body.items[0].lineItems', message });
  }
  const errors = checkCart(item, 'body.items[0]');
  if (!isCart(item, errors)) return invalid(...errors);
  const lines: CartLine[] = [];
  for (const [index, line] of item.lineItems.entries()) {
    const read = readLine(line, index, ticOf(line.taxabilityCode), 'body.items[0]', index);
    if ('location' in read) return invalid(read);
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

/** Prints a calculated cart under a new id. */
export function calculationJson(
  { sent }: ReadCalculation, outcome: CartOutcome, cartId: string,
): string {
  const lines = sent.lineItems.map((line, position) => {
    const { amount, rate, explain } = outcome.lines[position]!;
    return `{"itemId":${JSON.stringify(line.itemId)},"price":${formatPrice(line.price)},`
      + `"quantity":${line.quantity},`
      + `"tax":{"rate":${formatRate(rate)},"amount":${formatDollars(amount)}}`
      + `${explain === null ? '' : `,"explain":${JSON.stringify(explain)}`}}`;
  });
  const { customerId, destination, origin } = sent;
  return `{"cartId":"${cartId}","customerId":${JSON.stringify(customerId)},`
    + `"destination":{"address":${JSON.stringify(destination.address)}},`
    + `"origin":{"address":${JSON.stringify(origin.address)}},"lineItems":[${lines.join(',')}]`
    + `${outcome.explain === null ? '' : `,"explain":${JSON.stringify(outcome.explain)}`}}`;
}
