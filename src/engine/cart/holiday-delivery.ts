/** Delivery charges that may carry an item over the price limit of a sales-tax holiday. */
import { formatUsd } from '../../tax/amount.js';
import { lineTax } from '../../tax/line-tax.js';
import { SHIPPING } from '../../tax/product-rule.js';
import { type CartLine, QUANTITY_ONE } from './cart-query.js';
import { isWithin } from './holidays.js';
import type { TaxedLine } from './taxed-line.js';

/** How codes for delivery begin, but for the one for shipping: handling, postage, freight. */
const DELIVERY_CODES = '110';

function isDelivery({ tic }: CartLine): boolean {
  return tic !== null && (tic === SHIPPING || tic.startsWith(DELIVERY_CODES));
}

/** The delivery charges of a cart in 10⁻⁹ dollars, rounded up. */
function deliveryOf(lines: readonly CartLine[]): bigint {
  const one = BigInt(QUANTITY_ONE);
  let sum = 0n;
  for (const line of lines) {
    if (isDelivery(line)) sum += BigInt(line.price) * BigInt(line.quantity);
  }
  return (sum + one - 1n) / one;
}

/** An item of a cart for which it cannot be told whether a holiday covers it. */
interface OverLimit {
  /** Position of its line. */
  readonly at: number;
  readonly why: string;
}

/**
 * The first item that a holiday covers by its own price alone, in a state where delivery charges
 * may be part of the price that the limit is for: how the charges of a cart are divided among its
 * items is the seller's choice, so all of them may be the item's. Null where every item stays
 * within its limit.
 */
export function overLimit(
  lines: readonly CartLine[],
  taxed: readonly TaxedLine[],
): OverLimit | null {
  const delivery = deliveryOf(lines);
  if (delivery === 0n) return null;
  for (let at = 0; at < taxed.length; at += 1) {
    const { holiday, treatment } = taxed[at]!;
    const { price, quantity } = lines[at]!;
    if (holiday === null || holiday.limit === null || holiday.deliveryInPrice === 'no') continue;
    if (isDelivery(lines[at]!)) continue;
    if (isWithin(holiday, BigInt(price) + delivery) === true) continue;
    const whole = treatment === null ? null : lineTax(treatment, price, quantity, 'none');
    // Where nothing is levied the answer is the same either way.
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
