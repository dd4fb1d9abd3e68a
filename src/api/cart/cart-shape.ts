/** The shape of carts of self-managed merchants, with its check and its readers. */
import type { JsonObject } from '../../base/json-object.js';
import {
  anything,
  anyText,
  checkOf,
  choice,
  closed,
  flag,
  list,
  number,
  open,
  optional,
  readerOf,
  stated,
  uuid,
  whole,
  type Of,
  type Shape,
} from '../../base/shape.js';
import { placed } from '../../base/placed-values.js';
import { QUANTITY_MAX, TIC_MAX } from '../../engine/cart/outcome.js';
import { PRICE_MAX } from './wire-amount.js';
import { OPTION_MEMBERS } from './options.js';
import {
  ADDRESS_CHARS,
  CARTS_MAX,
  LINE_INDEX_MAX,
  PROVIDER_ID_CHARS_MAX,
  RELAYED_BODIES,
} from '../merchant/relay-shape.js';

const ID = anyText(1, PROVIDER_ID_CHARS_MAX);

const ADDRESS = closed({
  line1: anyText(1, ADDRESS_CHARS.line),
  line2: optional(anyText(0, ADDRESS_CHARS.line)),
  city: anyText(1, ADDRESS_CHARS.city),
  state: anyText(1, ADDRESS_CHARS.state),
  zip: anyText(1, ADDRESS_CHARS.zip),
  countryCode: optional(choice(['US', 'CA'])),
});
export type SentAddress = Of<typeof ADDRESS>;

const LINE_MEMBERS = {
  index: whole({ min: 0, max: LINE_INDEX_MAX }),
  itemId: ID,
  price: stated(number({ min: 0 }), { maximum: PRICE_MAX }),
  quantity: number({ min: 0, max: QUANTITY_MAX }),
  tic: optional(whole({ min: 0, max: TIC_MAX })),
  productId: optional(anyText()),
};
const LINE = closed(LINE_MEMBERS);
export type SentCartLine = Of<typeof LINE>;

/** A cart as Situs accepts it; the compliance provider accepts more. */
export const CART = closed({
  cartId: optional(ID),
  customerId: ID,
  currency: closed({ currencyCode: optional(choice(['USD'])) }),
  origin: ADDRESS,
  destination: ADDRESS,
  lineItems: list(LINE, { min: 1 }),
  deliveredBySeller: optional(flag()),
  discounts: optional(anything()),
  exemption: optional(anything()),
});
export type SentCart = Of<typeof CART>;

/** Shapes that parts of the answer share with the request. */
export const CART_PARTS = { id: ID, line: LINE_MEMBERS } as const;

/** Finds what is wrong with a cart. */
export const checkCart = checkOf(CART);

/** The shape of a body with carts of some shape. All other members are ignored. */
function bodyOf<T>(cart: Shape<T>) {
  return open({
    items: list(cart, { min: 1, max: CARTS_MAX }),
    transactionDate: optional(anyText()),
    ...OPTION_MEMBERS,
  });
}

/**
 * Reads a body whose carts have the right shape, so that they need no separate check. Null for any
 * other body; `readJson` and the check then find what is wrong.
 */
export const readMerchantBody: (body: Uint8Array) => JsonObject | null = readerOf(bodyOf(CART));

/**
 * Reads a body whose carts have the right shape and are to be read one by one: `items` has the
 * places of the carts in the body. Null for any other body.
 */
export const readPlaces = readerOf(bodyOf(placed(CART)));

/** A request for a merchant of either type. */
export const CART_REQUEST = open({
  merchantId: uuid(),
  ...RELAYED_BODIES['cart/calculate'],
  ...OPTION_MEMBERS,
});
