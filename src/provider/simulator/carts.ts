/** The carts of a connection: taxed on arrival, and replaced by later ones with the same id. */
import {
  addressOf,
  currencyOf,
  exemptionOf,
  type Fields,
  fieldsOf,
  type Json,
  listOf,
  numberOf,
  refuse,
  type SimulatedReply,
  textOf,
} from './fields.js';
import { hashOf, type Random } from './faults.js';

/* Money of the simulated provider: whole units of 10⁻⁹ dollars, as in the service. */

const DIGITS = 9;
const UNIT = 10n ** BigInt(DIGITS);
const CENT = UNIT / 100n;

/** A rate is 4 % to 10 % in steps of 0.05 %, and depends on the ZIP. */
const RATE_LEAST = 40_000_000;
const RATE_STEP = 500_000;
const RATE_STEPS = 121;

/** The units of a JSON number, rounded to whole ones. */
export function unitsOf(value: number): bigint {
  const digits = value.toFixed(DIGITS);
  return BigInt(digits.replace('.', ''));
}

/** The JSON number for some units. */
export function numberOfUnits(units: bigint): number {
  const digits = String(units < 0n ? -units : units).padStart(DIGITS + 1, '0');
  const sign = units < 0n ? '-' : '';
  return Number(`${sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`);
}

/** An invented rate, always the same for a ZIP, in units. */
export function rateOf(zip: string): bigint {
  return BigInt(RATE_LEAST + RATE_STEP * hashOf(zip.slice(0, 5), RATE_STEPS));
}

/** price × quantity × rate, rounded half up to a cent. */
export function taxOf(price: bigint, quantity: bigint, rate: bigint): bigint {
  const scale = UNIT * UNIT * CENT;
  return ((price * quantity * rate * 2n + scale) / (2n * scale)) * CENT;
}

/** The share `part / whole` of an amount, rounded half up to a cent. */
export function shareOf(amount: bigint, part: bigint, whole: bigint): bigint {
  if (whole === 0n) return 0n;
  return ((amount * part * 2n + whole * CENT) / (2n * whole * CENT)) * CENT;
}

/** How many carts are remembered; the oldest are forgotten. */
const CARTS_MAX = 10_000;

function unitPriceAfter(discount: Fields, price: bigint): bigint {
  const value = unitsOf(numberOf(discount['value']));
  const off = discount['type'] === 'percentage' ? (price * value) / 1_000_000_000n : value;
  return off > price ? 0n : price - off;
}

/**
 * A line with its tax. Discounts of the line lower the unit price; those of the order are ignored.
 */
function taxedLine(line: Fields, rate: bigint, discounts: readonly Fields[]): Fields {
  const itemId = textOf(line['itemId']);
  const original = unitsOf(numberOf(line['price']));
  const price = discounts
    .filter((discount) => discount['itemId'] === itemId)
    .reduce((left, discount) => unitPriceAfter(discount, left), original);
  const quantity = numberOf(line['quantity']);
  const amount = taxOf(price, unitsOf(quantity), rate);
  return {
    index: numberOf(line['index']),
    itemId,
    price: numberOfUnits(price),
    originalPrice: numberOfUnits(original),
    quantity,
    tic: line['tic'] ?? null,
    tax: { rate: numberOfUnits(rate), amount: numberOfUnits(amount) },
  };
}

function taxedCart(cart: Fields, cartId: string): Fields {
  const destination = addressOf(cart['destination']);
  const exemption = exemptionOf(cart['exemption']);
  const isExempt = exemption['isExempt'] === true || textOf(exemption['exemptionId']) !== '';
  const rate = isExempt ? 0n : rateOf(textOf(destination['zip']));
  const discounts = listOf(fieldsOf(cart['discounts'])['lineItemDiscounts']);
  return {
    cartId,
    customerId: textOf(cart['customerId']),
    currency: currencyOf(cart['currency']),
    origin: addressOf(cart['origin']),
    destination,
    deliveredBySeller: cart['deliveredBySeller'] === true,
    exemption,
    lineItems: listOf(cart['lineItems']).map((line) => taxedLine(line, rate, discounts)),
  };
}

export class Carts {
  readonly #carts = new Map<string, { readonly cart: Fields; readonly date: string }>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** POST /carts: 201 when any cart is new, 200 when all were known. */
  calculate(connectionId: string, body: Fields, now: string, path: string): SimulatedReply {
    const items = listOf(body['items']);
    if (items.length === 0) return refuse(422, 'Unprocessable Entity', 'items is required');
    const transactionDate = textOf(body['transactionDate']) || now;
    let isNew = false;
    const carts = items.map((item): Json => {
      const cartId = textOf(item['cartId']) || this.#random.uuid();
      isNew ||= !this.#carts.has(cartId);
      const cart = taxedCart(item, cartId);
      this.#keep(cartId, cart, transactionDate);
      return cart;
    });
    return {
      status: isNew ? 201 : 200,
      body: { connectionId, items: carts, transactionDate },
      ...(isNew ? { location: path } : {}),
    };
  }

  find(cartId: string): { readonly cart: Fields; readonly date: string } | null {
    return this.#carts.get(cartId) ?? null;
  }

  #keep(cartId: string, cart: Fields, date: string): void {
    this.#carts.delete(cartId);
    if (this.#carts.size >= CARTS_MAX) {
      const [oldest] = this.#carts.keys();
      if (oldest !== undefined) this.#carts.delete(oldest);
    }
    this.#carts.set(cartId, { cart, date });
  }
}
