/** A line of a cart with its exact tax, and lines added up. */
import { type Exact, plus, times } from '../../tax/exact.js';
import { COARSE, FINE, type LineTax, type Scale } from '../../tax/scale.js';
import type { HolidayReach } from '../../tax/line-tax.js';
import type { SharedTax } from '../../tax/shared-tax.js';
import { exactTax, type ExactLine } from '../../tax/round-lines.js';
import type { Failure } from '../../failure.js';
import { type CartLine, QUANTITY_ONE } from './outcome.js';
import type { Holiday } from './holidays.js';
import { isUnruled, type Treatment } from './treatment.js';
import { GENERAL } from '../../tax/product-rule.js';

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
export interface GoodsTotal extends LineTax {
  /** Whether the goods are taxed at shares of their price that differ from one to another. */
  readonly mixed: boolean;
}

/** Whether two lines are taxed at different shares of their price. */
function differ(one: TaxedLine, other: TaxedLine): boolean {
  if (one.flat !== null && other.flat !== null) return one.flat !== other.flat;
  const grossOf = ({ gross, scale }: TaxedLine): bigint => BigInt(gross) * scale.gross;
  return exactTax(one) * grossOf(other) !== exactTax(other) * grossOf(one);
}

/** Adds up lines of one scale. */
function sumOf(lines: readonly TaxedLine[], scale: Scale): LineTax {
  let gross: Exact = 0;
  let state: Exact = 0;
  let local: Exact = 0;
  for (const line of lines) {
    if (line.scale !== scale) continue;
    gross = plus(gross, line.gross);
    state = plus(state, line.state);
    local = plus(local, line.local);
  }
  return { scale, gross, state, local };
}

/** Adds up goods; charges are UNTAXED as yet. */
export function totalOf(lines: readonly TaxedLine[]): GoodsTotal {
  let first: TaxedLine | null = null;
  let mixed = false;
  let fine = false;
  for (const line of lines) {
    if (line.gross <= 0) continue;
    fine ||= line.scale !== COARSE;
    if (first === null) first = line;
    else mixed ||= differ(first, line);
  }
  const coarse = sumOf(lines, COARSE);
  if (!fine) {
    const { scale, gross, state, local } = coarse;
    return { scale, gross, state, local, mixed };
  }
  const rest = sumOf(lines, FINE);
  return {
    scale: FINE,
    gross: BigInt(rest.gross) + BigInt(coarse.gross) * COARSE.gross,
    state: BigInt(rest.state) + BigInt(coarse.state) * COARSE.tax,
    local: BigInt(rest.local) + BigInt(coarse.local) * COARSE.tax,
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
export const NO_GOODS: GoodsTotal = { scale: FINE, gross: 0, state: 0, local: 0, mixed: false };

/**
 * A delivery charge with its tax. Members are named one by one, in the order that goods have them:
 * what is copied as a whole is laid out anew in memory each time.
 */
export function chargeLine(
  { scale, gross, state, local, denominator }: SharedTax,
  freight: FreightCharge,
  flat: number | null,
): TaxedLine {
  return {
    scale,
    gross,
    state,
    local,
    denominator,
    treatment: null,
    holiday: null,
    reach: 'none',
    freight,
    flat,
  };
}

/** Stands in for a delivery charge until the goods are known. */
export const UNTAXED: TaxedLine = chargeLine(
  { scale: FINE, gross: 0, state: 0, local: 0, denominator: 1 },
  'exempt',
  0,
);

/** A delivery charge that is not taxed. */
export function exemptLine({ price, quantity }: CartLine): TaxedLine {
  const gross = times(price, quantity);
  return chargeLine({ scale: FINE, gross, state: 0, local: 0, denominator: 1 }, 'exempt', 0);
}

/** Positions of lines whose code no rule is held for. */
export function unruledOf(taxed: readonly TaxedLine[]): readonly number[] {
  const found: number[] = [];
  for (let at = 0; at < taxed.length; at += 1) {
    const { treatment } = taxed[at]!;
    if (treatment !== null && treatment.rule === null && isUnruled(treatment)) found.push(at);
  }
  return found;
}

/** The codes of lines, each once. */
export function codesOf(
  lines: readonly CartLine[],
  positions: readonly number[],
): readonly string[] {
  if (positions.length === 0) return [];
  return [...new Set(positions.map((at) => lines[at]!.tic ?? GENERAL))];
}
