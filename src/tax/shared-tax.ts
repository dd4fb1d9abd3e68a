/** The tax of a delivery charge, by the average share that the goods are taxed at. */
import { type Exact, hasTens, times, withoutTens } from './exact.js';
import { COARSE, coarser, FINE, type LineTax, wholeCents } from './scale.js';

/** In COARSE a whole quantity is divisible by 10⁴. Taxes are tested for up to 10⁷. */
const WHOLE_TENS = 4;
const TAX_TENS_MAX = 7;

/**
 * The scales that are coarser than COARSE by these powers of ten, of price × quantity and of tax.
 */
const COARSER = [0, WHOLE_TENS].map((gross) =>
  Array.from({ length: TAX_TENS_MAX + 1 }, (_, tax) => coarser(gross, tax)),
);

/** The tax of a line as a fraction over `denominator`. */
export interface SharedTax extends LineTax {
  readonly denominator: Exact;
}

/**
 * The exact tax of `quantity` (10⁻⁴) items at `price` (10⁻⁹ dollars) at the average share of other
 * lines, whose price × quantity is above zero.
 */
export function sharedTax(price: Exact, quantity: number, others: LineTax): SharedTax {
  const cents = others.scale === COARSE ? wholeCents(price) : null;
  if (cents === null) return finelyShared(price, quantity, others);
  const gross = times(cents, quantity);
  // Powers of ten common to both sides of a quotient are cancelled, so that more of the products
  // stay safe integers.
  const isWhole = hasTens(gross, WHOLE_TENS) && hasTens(others.gross, WHOLE_TENS);
  const ofGross = isWhole ? WHOLE_TENS : 0;
  let ofTax = TAX_TENS_MAX;
  while (ofTax > 0 && !(hasTens(others.state, ofTax) && hasTens(others.local, ofTax))) ofTax -= 1;
  const own = withoutTens(gross, ofGross);
  return {
    scale: COARSER[isWhole ? 1 : 0]![ofTax]!,
    gross: own,
    state: times(own, withoutTens(others.state, ofTax)),
    local: times(own, withoutTens(others.local, ofTax)),
    denominator: withoutTens(others.gross, ofGross),
  };
}

function finelyShared(
  price: Exact,
  quantity: number,
  { scale, gross: whole, state, local }: LineTax,
): SharedTax {
  const gross = BigInt(price) * BigInt(quantity);
  return {
    scale: FINE,
    gross,
    state: gross * BigInt(state) * scale.tax,
    local: gross * BigInt(local) * scale.tax,
    denominator: BigInt(whole) * scale.gross,
  };
}
