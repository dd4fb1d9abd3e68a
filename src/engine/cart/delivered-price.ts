/**
 * Carts in which delivery charges might be part of an item's price, where its tax depends on the
 * price.
 */
import { formatUsd } from '../../tax/amount.js';
import { lineTax } from '../../tax/line-tax.js';
import { SHIPPING } from '../../tax/product-rule.js';
import { exactTax } from '../../tax/round-lines.js';
import { type CartLine, QUANTITY_ONE } from './outcome.js';
import { isWithin } from './holidays.js';
import type { TaxedLine } from './taxed-line.js';
import type { Treatment } from './treatment.js';

/** Beginning of codes for delivery, except for shipping: handling, postage, freight. */
const DELIVERY_CODES = '110';

function isDelivery({ tic }: CartLine): boolean {
  return tic !== null && (tic === SHIPPING || tic.startsWith(DELIVERY_CODES));
}

/** The sum of price × quantity of lines, in 10⁻⁹ dollars, rounded up. */
function sumOf(lines: readonly CartLine[]): bigint {
  const one = BigInt(QUANTITY_ONE);
  let sum = 0n;
  for (const { price, quantity } of lines) sum += BigInt(price) * BigInt(quantity);
  return (sum + one - 1n) / one;
}

/** An item whose tax depends on whether delivery charges are part of its price. */
interface OverLimit {
  /** Position of its line. */
  readonly at: number;
  readonly why: string;
}

/**
 * The first item whose own price is within a holiday's limit, but not with all delivery charges
 * added, in a state where these may be part of the price. The seller chooses how the charges of a
 * cart are divided among its items, so all of them may belong to this one. Null where every item
 * stays within the limit.
 */
export function overLimit(
  lines: readonly CartLine[],
  taxed: readonly TaxedLine[],
): OverLimit | null {
  const delivery = sumOf(lines.filter(isDelivery));
  if (delivery === 0n) return null;
  for (let at = 0; at < taxed.length; at += 1) {
    const { holiday, treatment } = taxed[at]!;
    const { price, quantity } = lines[at]!;
    if (holiday === null || holiday.limit === null || holiday.deliveryInPrice === 'no') continue;
    if (isDelivery(lines[at]!)) continue;
    if (isWithin(holiday, BigInt(price) + delivery) === true) continue;
    const whole = treatment === null ? null : lineTax(treatment, price, quantity, 'none');
    // Where nothing is levied, the holiday makes no difference.
    if (whole === null || (whole.state <= 0 && whole.local <= 0)) continue;
    const { name, limit, deliveryInPrice } = holiday;
    const counted =
      deliveryInPrice === 'yes'
        ? 'delivery charges count in the price'
        : 'whether delivery charges count in the price is not held';
    const why =
      `Whether "${name}" covers an item at $${formatUsd(BigInt(price))} cannot be told: ` +
      `${counted}, and with those of the cart ($${formatUsd(delivery)}) it may be over the ` +
      `limit of $${formatUsd(limit)}.`;
    return { at, why };
  }
  return null;
}

/** Whether the same share of any price is taxed. */
function isStraight({ flat, tierless, unknownTier }: Treatment): boolean {
  return flat !== null && tierless === Number.MAX_SAFE_INTEGER && unknownTier === null;
}

/**
 * Whether a different share of an item's price is taxed once the delivery charges are added to it.
 */
function isBent(treatment: Treatment, price: bigint, delivery: bigint): boolean {
  const { flat, tierless, unknownTier } = treatment;
  const whole = price + delivery;
  if (unknownTier !== null && price <= unknownTier.threshold && unknownTier.threshold < whole) {
    return true;
  }
  if (flat !== null && whole <= tierless) return false;
  const taxOf = (of: bigint): bigint => exactTax(lineTax(treatment, of, QUANTITY_ONE, 'none'));
  return taxOf(price) * whole !== taxOf(whole) * price;
}

/** Delivery charges that are taxed with the goods, in 10⁻⁹ dollars, rounded up. */
function chargedIn(lines: readonly CartLine[], taxed: readonly TaxedLine[]): bigint {
  const isCharged = (_: CartLine, at: number): boolean =>
    taxed[at]!.treatment === null && taxed[at]!.freight !== 'exempt';
  return sumOf(lines.filter(isCharged));
}

/**
 * The first item of which a different share would be taxed if all delivery charges that are taxed
 * with the goods were part of its price, for example because of a threshold for clothing or the end
 * of a local tax. In some states they are part of it (280 R.I. Code R. 20-70-6.6); for others this
 * is not recorded. Taxing charges at the goods' average share is only right if that share is the
 * same at any price.
 */
export function bentByDelivery(
  lines: readonly CartLine[],
  taxed: readonly TaxedLine[],
): OverLimit | null {
  let delivery: bigint | null = null;
  for (let at = 0; at < taxed.length; at += 1) {
    const { holiday, treatment } = taxed[at]!;
    if (treatment === null || holiday !== null || isStraight(treatment)) continue;
    delivery ??= chargedIn(lines, taxed);
    if (delivery === 0n) return null;
    const { price, quantity } = lines[at]!;
    if (price <= 0 || quantity === 0 || !isBent(treatment, BigInt(price), delivery)) continue;
    const why =
      `How an item at $${formatUsd(BigInt(price))} is taxed cannot be told: with the delivery ` +
      `charges of the cart ($${formatUsd(delivery)}) in its price another share of it is taxed, ` +
      'and how they count is not held.';
    return { at, why };
  }
  return null;
}
