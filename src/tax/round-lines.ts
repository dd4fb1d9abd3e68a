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

/** Decimals of amounts inside. */
const AMOUNT_DIGITS = 9;
/** A hundred-thousandth in parts per billion. */
const RATE_SCALE = 10_000;

/** 10⁻⁹ dollars in a unit of so many decimals. */
const AMOUNTS = Array.from(
  { length: AMOUNT_DIGITS + 1 },
  (_, digits) => 10 ** (AMOUNT_DIGITS - digits),
);

/** The tax of a line over its denominator, in 10⁻³¹ dollars. */
export function exactTax({ state, local, scale }: LineTax): bigint {
  return BigInt(plus(state, local)) * scale.tax;
}

/** A unit of so many decimals of a dollar in FINE. */
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
 * Rounds every line, or the total with its units spread over the lines by largest remainder. Gives
 * 10⁻⁹ dollars a line. `ranks` orders lines of equal claims.
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

/** The effective rate of a line, to five decimals; zero where there is none. */
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
