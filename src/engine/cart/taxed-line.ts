/** A cart's line with its exact tax, and sums of lines. */
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
  /** The rate in parts per billion, if it is the same at every price; otherwise null. */
  readonly flat: number | null;
}

/**
 * Whether a line has a tax rather than a refusal. A separate function, because V8 reads members
 * faster where it has met few object shapes; `isFailure` meets many, this one only two.
 */
export function isTaxed(tax: TaxedLine | Failure): tax is TaxedLine {
  return (tax as Partial<TaxedLine>).scale !== undefined;
}

/** How a delivery charge was taxed. */
export type FreightCharge = 'exempt' | 'ordinary' | 'as-goods' | 'whole';

/** All goods of a cart together, as delivery charges need them. */
export interface GoodsTotal extends LineTax {
  /** Whether the goods are taxed at different shares of their prices. */
  readonly mixed: boolean;
}

/** Whether two lines are taxed at different shares of their prices. */
function differ(one: TaxedLine, other: TaxedLine): boolean {
  if (one.flat !== null && other.flat !== null) return one.flat !== other.flat;
  const grossOf = ({ gross, scale }: TaxedLine): bigint => BigInt(gross) * scale.gross;
  return exactTax(one) * grossOf(other) !== exactTax(other) * grossOf(one);
}

/** Adds up lines in the units of one scale. */
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

/** Adds up the goods; the delivery charges are still UNTAXED. */
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

/** The sum of price × quantity, in 10⁻⁹ dollars, of all lines with a local tax. */
export function locallyTaxed(lines: readonly TaxedLine[]): bigint {
  const gross = lines.reduce(
    (sum, line) => (line.local > 0 ? sum + BigInt(line.gross) * line.scale.gross : sum),
    0n,
  );
  return gross / BigInt(QUANTITY_ONE);
}

/** Used as the goods where a charge does not depend on them. */
export const NO_GOODS: GoodsTotal = { scale: FINE, gross: 0, state: 0, local: 0, mixed: false };

/**
 * A delivery charge with its tax. The members are listed in the order that goods have, because
 * spreading an object would make a new shape each time.
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

/** Placeholder for a delivery charge until the tax of the goods is known. */
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

/** Whether the tax of a line depends on the origin, whatever the sourcing rule asks. */
export function isByOrigin(taxed: readonly TaxedLine[]): boolean {
  for (let at = 0; at < taxed.length; at += 1) {
    if (taxed[at]!.treatment?.byOrigin === true) return true;
  }
  return false;
}

/** Positions of lines whose code has no rule. */
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
