/** A line of a cart with its exact tax, and lines added up. */
import { type Exact, plus, times } from '../../tax/exact.js';
import { COARSE, FINE, type HolidayReach, type Scale } from '../../tax/line-tax.js';
import { exactTax, type ExactLine } from '../../tax/round-lines.js';
import type { Failure } from '../../failure.js';
import { type CartLine, QUANTITY_ONE } from './outcome.js';
import type { Holiday } from './holidays.js';
import type { Treatment } from './treatment.js';

/** The exact tax of a line, and what it follows from. */
export interface TaxedLine extends ExactLine {
  /** Null for a delivery charge. */
  readonly treatment: Treatment | null;
  readonly holiday: Holiday | null;
  readonly reach: HolidayReach;
  readonly freight: FreightCharge | null;
  /** The rate in parts per billion where it is the same at every price; else null. */
  readonly flat: number | null;
}

/**
 * Tells the tax of a line from a refusal. Outcomes of all kinds have many layouts, these have two:
 * what asks for them alone is faster.
 */
export function isTaxed(tax: TaxedLine | Failure): tax is TaxedLine {
  return (tax as Partial<TaxedLine>).scale !== undefined;
}

/** How a delivery charge was taxed. */
export type FreightCharge = 'exempt' | 'ordinary' | 'as-goods' | 'whole';

/** Goods of a cart together, for the delivery charges. */
export interface GoodsTotal {
  /** In FINE. */
  readonly gross: bigint;
  readonly state: bigint;
  readonly local: bigint;
  /** Whether the goods are taxed at shares of their price that differ from one to another. */
  readonly mixed: boolean;
}

/** Whether two lines are taxed at different shares of their price. */
function differ(one: TaxedLine, other: TaxedLine): boolean {
  if (one.flat !== null && other.flat !== null) return one.flat !== other.flat;
  const grossOf = ({ gross, scale }: TaxedLine): bigint => BigInt(gross) * scale.gross;
  return exactTax(one) * grossOf(other) !== exactTax(other) * grossOf(one);
}

/** Adds up the lines of a scale. */
function sumOf(lines: readonly TaxedLine[], scale: Scale): Omit<GoodsTotal, 'mixed'> {
  let gross: Exact = 0;
  let state: Exact = 0;
  let local: Exact = 0;
  for (const line of lines) {
    if (line.scale !== scale) continue;
    gross = plus(gross, line.gross);
    state = plus(state, line.state);
    local = plus(local, line.local);
  }
  return {
    gross: BigInt(gross) * scale.gross,
    state: BigInt(state) * scale.tax,
    local: BigInt(local) * scale.tax,
  };
}

/** Adds up goods; charges are UNTAXED as yet. */
export function totalOf(lines: readonly TaxedLine[]): GoodsTotal {
  let first: TaxedLine | null = null;
  let mixed = false;
  for (const line of lines) {
    if (line.gross <= 0) continue;
    if (first === null) first = line;
    else mixed ||= differ(first, line);
  }
  const coarse = sumOf(lines, COARSE);
  const fine = sumOf(lines, FINE);
  return {
    gross: coarse.gross + fine.gross,
    state: coarse.state + fine.state,
    local: coarse.local + fine.local,
    mixed,
  };
}

/** Price × quantity, 10⁻⁹ dollars, of all lines that have a local tax. */
export function locallyTaxed(lines: readonly TaxedLine[]): bigint {
  const gross = lines.reduce(
    (sum, line) => (line.local > 0 ? sum + BigInt(line.gross) * line.scale.gross : sum),
    0n,
  );
  return gross / BigInt(QUANTITY_ONE);
}

/** A cart without goods: stands in where a charge does not follow the goods. */
export const NO_GOODS: GoodsTotal = { gross: 0n, state: 0n, local: 0n, mixed: false };

/** Stands in for a delivery charge until the goods are known. */
export const UNTAXED: TaxedLine = {
  scale: FINE,
  gross: 0,
  state: 0,
  local: 0,
  denominator: 1n,
  treatment: null,
  holiday: null,
  reach: 'none',
  freight: 'exempt',
  flat: 0,
};

/** A delivery charge that is not taxed. */
export function exemptLine({ price, quantity }: CartLine): TaxedLine {
  return { ...UNTAXED, gross: times(price, quantity) };
}

/** A delivery charge that is taxed at the goods' average share. */
export function sharedLine({ price, quantity }: CartLine, goods: GoodsTotal): TaxedLine {
  const gross = BigInt(price) * BigInt(quantity);
  return {
    ...UNTAXED,
    gross,
    state: gross * goods.state,
    local: gross * goods.local,
    denominator: goods.gross > 0n ? goods.gross : 1n,
    freight: 'as-goods',
    flat: null,
  };
}
