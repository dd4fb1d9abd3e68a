/** Where a cart's exact taxes become amounts, and how a rounded total is spread over its parts. */
import { GROSS_DIGITS, TAX_DIGITS } from './line-tax.js';
import type { Rate } from './rate.js';
import { halfUp, ROUNDINGS, type RoundingLevel, type RoundingMode } from './round.js';
import { roundSmall, SMALL_DIGITS } from './small-tax.js';

/** The exact tax of a line: (state + local) ÷ denominator, in 10⁻³¹ dollars. */
export interface ExactLine {
  readonly state: bigint;
  readonly local: bigint;
  readonly denominator: bigint;
  /** Price × quantity in 10⁻¹³ dollars. */
  readonly gross: bigint;
  /** The same tax in 10⁻¹² dollars, where it is a small one; else NOT_SMALL. */
  readonly small: number;
}

export interface RoundingWish {
  readonly mode: RoundingMode;
  readonly level: RoundingLevel;
  readonly digits: number;
}

/** Decimals of amounts inside. */
const AMOUNT_DIGITS = 9;
/** Decimals of an effective rate (specification, cart calculate), and of rates inside. */
const RATE_DIGITS = 5;
const RATE_SCALE = 10_000;

/** 10⁻³¹ dollars in a unit of so many decimals. */
const UNITS = Array.from({ length: AMOUNT_DIGITS + 1 }, (_, digits) =>
  10n ** BigInt(TAX_DIGITS - digits));
/** 10⁻⁹ dollars in the same. */
const AMOUNTS = Array.from({ length: AMOUNT_DIGITS + 1 }, (_, digits) =>
  10n ** BigInt(AMOUNT_DIGITS - digits));
/** 10⁻¹² dollars in a unit of so many decimals, and 10⁻⁹ dollars in it. */
const SMALL_UNITS = Array.from({ length: AMOUNT_DIGITS + 1 }, (_, digits) =>
  10 ** (SMALL_DIGITS - digits));
const SMALL_AMOUNTS = Array.from({ length: AMOUNT_DIGITS + 1 }, (_, digits) =>
  10 ** (AMOUNT_DIGITS - digits));
const RATE_NUMERATOR = 10n ** BigInt(RATE_DIGITS);
const RATE_DENOMINATOR = 10n ** BigInt(TAX_DIGITS - GROSS_DIGITS);

/** Rounds a line on its own to 10⁻⁹ dollars. */
function roundLine(line: ExactLine, mode: RoundingMode, digits: number): bigint {
  const { small } = line;
  if (small >= 0) {
    return small === 0
      ? 0n : BigInt(roundSmall(small, SMALL_UNITS[digits]!, mode) * SMALL_AMOUNTS[digits]!);
  }
  const { denominator } = line;
  const tax = line.state + line.local;
  return tax === 0n ? 0n : ROUNDINGS[mode](tax, UNITS[digits]! * denominator) * AMOUNTS[digits]!;
}

/**
 * Rounds every line, or the total with its units spread over the lines by largest remainder. Gives
 * 10⁻⁹ dollars a line. `ranks` orders lines of equal claims.
 */
export function roundAmounts(
  ranks: readonly { readonly index: number }[], lines: readonly ExactLine[],
  { mode, level, digits }: RoundingWish,
): readonly bigint[] {
  const unit = UNITS[digits];
  const amount = AMOUNTS[digits];
  if (unit === undefined || amount === undefined) throw new RangeError(`${digits} decimals`);
  if (level === 'line') return lines.map((line) => roundLine(line, mode, digits));
  const round = ROUNDINGS[mode];
  const common = lines.reduce((most, { denominator }) =>
    (denominator === 1n || denominator === most ? most : most * denominator), 1n);
  const shares = lines.map(({ state, local, denominator }, at) =>
    ({ numerator: (state + local) * (common / denominator), rank: ranks[at]?.index ?? at }));
  const sum = shares.reduce((all, { numerator }) => all + numerator, 0n);
  const whole = unit * common;
  return distribute(round(sum, whole), shares, whole).map((units) => units * amount);
}

/** The effective rate of a line, to five decimals; zero where there is none. */
export function roundRate(line: ExactLine | null): Rate {
  if (line === null || line.gross === 0n) return 0 as Rate;
  const { state, local, denominator, gross } = line;
  const units = halfUp((state + local) * RATE_NUMERATOR, gross * RATE_DENOMINATOR * denominator);
  return (Number(units) * RATE_SCALE) as Rate;
}

/** A rate to five decimals; a tie goes up. */
export function fiveDecimals(rate: number): Rate {
  return (Math.floor((rate + RATE_SCALE / 2) / RATE_SCALE) * RATE_SCALE) as Rate;
}

/** A part: its exact size as a numerator over a denominator common to all parts. */
export interface Share {
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
  total: bigint, shares: readonly Share[], denominator: bigint,
): readonly bigint[] {
  let left = total;
  const units = shares.map(({ numerator }) => {
    const whole = numerator / denominator;
    left -= whole;
    return whole;
  });
  if (left === 0n) return units;
  const remainders: Remainder[] = shares.map((share, at) =>
    ({ at, rest: share.numerator % denominator, share }));
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
