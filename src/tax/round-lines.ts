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
import { FINE, type LineTax } from './scale.js';
import type { SharedTax } from './shared-tax.js';
import type { Rate } from './rate.js';

/** The exact tax of a line: (state + local) ÷ denominator. */
export type ExactLine = SharedTax;

interface RoundingWish {
  readonly mode: RoundingMode;
  readonly level: RoundingLevel;
  readonly digits: number;
}

/** Decimals of dollars in the amounts that are returned. */
const AMOUNT_DIGITS = 9;
/** One hundred-thousandth as a rate, in parts per billion. */
const RATE_SCALE = 10_000;

/** The amount, in 10⁻⁹ dollars, of one unit in the last of 0 to 9 decimals. */
const AMOUNTS = Array.from(
  { length: AMOUNT_DIGITS + 1 },
  (_, digits) => 10 ** (AMOUNT_DIGITS - digits),
);

/** The numerator of a line's exact tax, in 10⁻³¹ dollars; the line's denominator is not applied. */
export function exactTax({ state, local, scale }: LineTax): bigint {
  return BigInt(plus(state, local)) * scale.tax;
}

/** One unit in the last of `digits` decimals of a dollar, in FINE. */
function fineUnit(digits: number): bigint {
  return BigInt(FINE.units[digits]!);
}

/** Rounds a line on its own to 10⁻⁹ dollars. */
export function roundLine(
  line: ExactLine,
  { mode, digits }: Pick<RoundingWish, 'mode' | 'digits'>,
): Exact {
  const { state, local, scale, denominator } = line;
  const tax = plus(state, local);
  if (tax <= 0) return 0;
  const unit = scale.units[digits]!;
  const units =
    unit === null
      ? rounded(exactTax(line), BigInt(denominator) * fineUnit(digits), mode)
      : rounded(tax, times(unit, denominator), mode);
  const amount = times(units, AMOUNTS[digits]!);
  return typeof amount === 'number' ? amount : exactOf(amount);
}

/**
 * Rounds every line, or rounds the total and spreads its units over the lines by largest remainder.
 * Returns 10⁻⁹ dollars for each line. `ranks` decides between lines with equal claims.
 */
export function roundAmounts(
  ranks: readonly { readonly index: number }[],
  lines: readonly ExactLine[],
  wish: RoundingWish,
): readonly Exact[] {
  const { mode, level, digits } = wish;
  const amount = AMOUNTS[digits];
  if (amount === undefined) throw new RangeError(`${digits} decimals`);
  if (level === 'line') return lines.map((line) => roundLine(line, wish));
  const common = lines.reduce(
    (most, { denominator }) =>
      denominator === 1 || BigInt(denominator) === most ? most : most * BigInt(denominator),
    1n,
  );
  const shares = lines.map((line, at) => ({
    numerator: exactTax(line) * (common / BigInt(line.denominator)),
    rank: ranks[at]?.index ?? at,
  }));
  const sum = shares.reduce((all, { numerator }) => all + numerator, 0n);
  const whole = fineUnit(digits) * common;
  const total = BigInt(rounded(sum, whole, mode));
  return distribute(total, shares, whole).map((units) => exactOf(units * BigInt(amount)));
}

/** The effective rate of a line, to five decimals; zero where nothing was charged. */
export function roundRate(line: ExactLine | null): Rate {
  if (line === null || line.gross <= 0) return 0 as Rate;
  const { state, local, gross, denominator, scale } = line;
  const units = rounded(
    times(plus(state, local), scale.rate.times),
    times(times(gross, denominator), scale.rate.over),
    'half-up',
  );
  return (Number(units) * RATE_SCALE) as Rate;
}

/** A rate to five decimals; a tie goes up. */
export function fiveDecimals(rate: number): Rate {
  return (Math.floor((rate + RATE_SCALE / 2) / RATE_SCALE) * RATE_SCALE) as Rate;
}

/** One part of a total: its exact size as a numerator over a denominator common to all parts. */
interface Share {
  readonly numerator: bigint;
  /**
   * Decides between parts of equal size and remainder, so that the order of the list never matters.
   */
  readonly rank: number;
}

interface Remainder {
  readonly at: number;
  readonly rest: bigint;
  readonly share: Share;
}

/**
 * Splits `total` into whole units by largest remainder. Each part gets the whole units that it
 * covers; the rest of `total` goes, a unit each, to the parts with the largest remainder. Of equal
 * remainders the larger part comes first, then the lower rank. `total` must lie between the sum of
 * the parts rounded down and that sum plus one unit for each part.
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
