/** Exact fractions for oracles: slow, plain, and nothing of the project's own arithmetic. */
export interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

export const ZERO: Rational = { over: 0n, under: 1n };

export function add(one: Rational, other: Rational): Rational {
  return { over: one.over * other.under + other.over * one.under, under: one.under * other.under };
}

export function subtract(one: Rational, other: Rational): Rational {
  return add(one, { over: -other.over, under: other.under });
}

export function times(one: Rational, other: Rational): Rational {
  return { over: one.over * other.over, under: one.under * other.under };
}

export function divided(one: Rational, other: Rational): Rational {
  return times(one, { over: other.under, under: other.over });
}

/** Below zero, zero or above, as `one` is less than, equal to or more than `other`. */
export function compare(one: Rational, other: Rational): number {
  const difference = one.over * other.under - other.over * one.under;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function least(one: Rational, other: Rational): Rational {
  return compare(one, other) < 0 ? one : other;
}

/** Reads "1.25", "7", or "2/3". */
export function rational(text: string): Rational {
  const [over = '', under] = text.split('/');
  if (under !== undefined) return { over: BigInt(over), under: BigInt(under) };
  const [whole = '0', fraction = ''] = over.split('.');
  return { over: BigInt(whole + fraction), under: 10n ** BigInt(fraction.length) };
}

/** Whole units by a rule of rounding; the value is 0 or more. */
export function rounded({ over, under }: Rational, mode: string): bigint {
  const floor = over / under;
  const rest = over - floor * under;
  if (rest === 0n || mode === 'down') return floor;
  if (mode === 'up') return floor + 1n;
  const middle = rest * 2n - under;
  if (middle !== 0n) return middle > 0n ? floor + 1n : floor;
  return mode === 'half-up' || floor % 2n === 1n ? floor + 1n : floor;
}

/** Parts of a rounded total: floors, then a unit each by the largest remainder. */
export function apportioned(
  parts: readonly Rational[],
  mode: string,
  rank: (at: number) => number,
): readonly bigint[] {
  const total = rounded(parts.reduce(add, ZERO), mode);
  const floors = parts.map(({ over, under }) => over / under);
  let left = total - floors.reduce((sum, each) => sum + each, 0n);
  const order = parts
    .map((_, at) => at)
    .sort((one, other) => {
      const rest = (at: number): Rational => subtract(parts[at]!, { over: floors[at]!, under: 1n });
      return (
        compare(rest(other), rest(one)) ||
        compare(parts[other]!, parts[one]!) ||
        rank(one) - rank(other)
      );
    });
  for (const at of order) {
    if (left <= 0n) break;
    floors[at] = floors[at]! + 1n;
    left -= 1n;
  }
  return floors;
}
