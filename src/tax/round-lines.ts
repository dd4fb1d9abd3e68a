/** Where a cart's exact taxes become amounts, and how a rounded total is spread over its parts. */
import {
  type Exact,
  exactOf,
  plus,
  rounded,
  type RoundingLevel,
  type RoundingMode,
  times,
} from './exact.js';
import { COARSE, GROSS_DIGITS, TAX_DIGITS, type LineTax } from './line-tax.js';
import type { Rate } from './rate.js';

/** The exact tax of a line: (state + local) ÷ denominator, which is 1 in COARSE. */
export interface ExactLine extends LineTax {
  readonly denominator: bigint;
}

interface RoundingWish {
  readonly mode: RoundingMode;
  readonly level: RoundingLevel;
  readonly digits: number;
}

/** Decimals of amounts inside. */
const AMOUNT_DIGITS = 9;
/** Decimals of an effective rate (specification, cart calculate), and of rates inside. */
const RATE_DIGITS = 5;
const RATE_SCALE = 10_000;

/** Taxes of a unit of so many decimals in FINE and in COARSE, and 10⁻⁹ dollars in the same. */
const UNITS = Array.from(
  { length: AMOUNT_DIGITS + 1 },
  (_, digits) => 10n ** BigInt(TAX_DIGITS - digits),
);
const COARSE_UNITS = UNITS.map((unit) => Number(unit / COARSE.tax));
const AMOUNTS = Array.from(
  { length: AMOUNT_DIGITS + 1 },
  (_, digits) => 10 ** (AMOUNT_DIGITS - digits),
);
const RATE_NUMERATOR = 10n ** BigInt(RATE_DIGITS);
const RATE_DENOMINATOR = 10n ** BigInt(TAX_DIGITS - GROSS_DIGITS);

/** The tax of a line over its denominator, in 10⁻³¹ dollars. */
export function exactTax({ state, local, scale }: LineTax): bigint {
  return BigInt(plus(state, local)) * scale.tax;
}

/** Rounds a line on its own to 10⁻⁹ dollars. */
function roundLine(line: ExactLine, mode: RoundingMode, digits: number): Exact {
  const { state, local, scale, denominator } = line;
  const tax = plus(state, local);
  if (tax <= 0) return 0;
  const unit: Exact = scale === COARSE ? COARSE_UNITS[digits]! : UNITS[digits]! * denominator;
  const amount = times(rounded(tax, unit, mode), AMOUNTS[digits]!);
  return typeof amount === 'number' ? amount : exactOf(amount);
}

/**
 * Rounds every line, or the total with its units spread over the lines by largest remainder. Gives
 * 10⁻⁹ dollars a line. `ranks` orders lines of equal claims.
 */
export function roundAmounts(
  ranks: readonly { readonly index: number }[],
  lines: readonly ExactLine[],
  { mode, level, digits }: RoundingWish,
): readonly Exact[] {
  const unit = UNITS[digits];
  const amount = AMOUNTS[digits];
  if (unit === undefined || amount === undefined) throw new RangeError(`${digits} decimals`);
  if (level === 'line') return lines.map((line) => roundLine(line, mode, digits));
  const common = lines.reduce(
    (most, { denominator }) =>
      denominator === 1n || denominator === most ? most : most * denominator,
    1n,
  );
  const shares = lines.map((line, at) => ({
    numerator: exactTax(line) * (common / line.denominator),
    rank: ranks[at]?.index ?? at,
  }));
  const sum = shares.reduce((all, { numerator }) => all + numerator, 0n);
  const whole = unit * common;
  const total = BigInt(rounded(sum, whole, mode));
  return distribute(total, shares, whole).map((units) => exactOf(units * BigInt(amount)));
}

/** The effective rate of a line, to five decimals; zero where there is none. */
export function roundRate(line: ExactLine | null): Rate {
  if (line === null || line.gross <= 0) return 0 as Rate;
  const gross = BigInt(line.gross) * line.scale.gross;
  const units = rounded(
    exactTax(line) * RATE_NUMERATOR,
    gross * RATE_DENOMINATOR * line.denominator,
    'half-up',
  );
  return (Number(units) * RATE_SCALE) as Rate;
}

/** A rate to five decimals; a tie goes up. */
export function fiveDecimals(rate: number): Rate {
  return (Math.floor((rate + RATE_SCALE / 2) / RATE_SCALE) * RATE_SCALE) as Rate;
}

/** A part: its exact size as a numerator over a denominator common to all parts. */
interface Share {
  readonly numerator: bigint;
  /** Orders parts of equal size and remainder, so that the order they are given in never counts. */
  readonly rank: number;
}

interface Remainder {
  readonly at: number;
  readonly rest: bigint;
  readonly share: Share;
}

/**
 * Whole units for every part, by largest remainder: each part has the whole units that it covers,
 * and what is left of `total` goes, a unit each, to the parts with the largest remainder; of equal
 * remainders the larger part comes first, then the lower rank. The units add up to `total`.
 * `total` lies between the sum of the parts rounded down and the same with a unit more for each.
 */
export function distribute(
  total: bigint,
  shares: readonly Share[],
  denominator: bigint,
): readonly bigint[] {
  let left = total;
  const units = shares.map(({ numerator }) => {
    const whole = numerator / denominator;
    left -= whole;
    return whole;
  });
  if (left === 0n) return units;
  const remainders: Remainder[] = shares.map((share, at) => ({
    at,
    rest: share.numerator % denominator,
    share,
  }));
  remainders.sort(byRemainder);
  for (const { at } of remainders) {
    if (left === 0n) break;
    units[at] = (units[at] ?? 0n) + 1n;
    left -= 1n;
  }
  return units;
}

function byRemainder(one: Remainder, other: Remainder): number {
  if (one.rest !== other.rest) return one.rest > other.rest ? -1 : 1;
  const [first, second] = [one.share, other.share];
  if (first.numerator !== second.numerator) return first.numerator > second.numerator ? -1 : 1;
  return first.rank - second.rank;
}
