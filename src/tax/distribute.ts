/** Spreading a rounded total over the parts that it came from. */

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
