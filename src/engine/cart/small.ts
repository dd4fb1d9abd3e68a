/** Lines and totals of carts whose exact taxes are safe integers. */
import { GROSS_DIGITS, TAX_DIGITS, type LineRates } from '../../tax/line-tax.js';
import { RATE_ONE, type Rate } from '../../tax/rate.js';
import { SMALL_BASE_DIGITS, SMALL_DIGITS, smallBase, smallTax } from '../../tax/small-tax.js';
import type { FreightCharge, GoodsTotal, TaxedLine } from './line.js';
import type { CartLine } from './query.js';
import type { Treatment } from './treatment.js';

const ONE = BigInt(RATE_ONE);
const GROSS_OF_BASE = 10n ** BigInt(GROSS_DIGITS - SMALL_BASE_DIGITS);
const TAX_OF_SMALL = 10n ** BigInt(TAX_DIGITS - SMALL_DIGITS);

/** A line with a small tax; its bigints are made for those who ask, explanations above all. */
class SmallLine implements TaxedLine {
  readonly denominator = 1n;
  readonly holiday = null;
  readonly reach = 'none';
  readonly treatment: Treatment | null;
  readonly freight: FreightCharge | null;
  readonly flat: Rate | null;
  readonly base: number;
  readonly small: number;
  readonly rates: LineRates;

  constructor(treatment: Treatment, freight: FreightCharge | null, base: number, small: number) {
    this.rates = treatment;
    this.treatment = freight === null ? treatment : null;
    this.freight = freight;
    this.flat = treatment.flat;
    this.base = base;
    this.small = small;
  }

  get gross(): bigint {
    return BigInt(this.base) * GROSS_OF_BASE;
  }

  get state(): bigint {
    return this.gross * ONE * this.rates.plainState;
  }

  get local(): bigint {
    return this.gross * ONE * this.rates.plainLocal;
  }
}

/** The exact tax of a line, of goods or of a delivery charge; null where it is not small. */
export function smallLine(
  treatment: Treatment, { price, quantity }: CartLine, freight: FreightCharge | null,
): TaxedLine | null {
  if (treatment.small === null) return null;
  const base = smallBase(price, quantity);
  const tax = smallTax(base, treatment.small.total);
  return tax < 0 ? null : new SmallLine(treatment, freight, base, tax);
}

/** Adds up goods whose taxes are all small; null where one of them, or a sum, is not. */
export function smallTotal(lines: readonly (TaxedLine | null)[]): GoodsTotal | null {
  let state = 0;
  let total = 0;
  let gross = 0;
  let mixed = false;
  let first: number | null = null;
  for (const line of lines) {
    if (line === null || line.base === 0) continue;
    const rates = line.treatment?.small ?? null;
    if (line.base < 0 || rates === null) return null;
    // Each is the rate of its line, in lowest terms of a millionth.
    if (first === null) first = rates.total;
    else if (first !== rates.total) mixed = true;
    state += line.base * rates.state;
    total += line.small;
    gross += line.base;
  }
  // No sum is below the sum of the state's parts, and sums above the limit stay above it.
  if (total > Number.MAX_SAFE_INTEGER || gross > Number.MAX_SAFE_INTEGER) return null;
  return {
    state: BigInt(state) * TAX_OF_SMALL, local: BigInt(total - state) * TAX_OF_SMALL,
    gross: BigInt(gross) * GROSS_OF_BASE, mixed,
  };
}
