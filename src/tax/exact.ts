/**
 * Exact integers of 0 or more: safe integers, which cost a fraction of a bigint, and bigints where
 * a product or a sum does not fit one. What is above 2⁵³ - 1 stays above it when it is rounded to a
 * double, so the test of a result never lets a wrong one pass.
 */
export type Exact = number | bigint;

/** The product. */
export function times(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const product = one * other;
    if (product <= Number.MAX_SAFE_INTEGER) return product;
  }
  return BigInt(one) * BigInt(other);
}

/** The sum. */
export function plus(one: Exact, other: Exact): Exact {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return BigInt(one) + BigInt(other);
}

/** The difference; `other` is at most `one`. */
export function minus(one: Exact, other: Exact): Exact {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other : BigInt(one) - BigInt(other);
}

/** How often a divisor above 0 goes into a number. */
export function quotient(one: Exact, divisor: Exact): Exact {
  // A quotient of safe integers that is not whole differs from the next whole number by more than
  // half the distance of doubles there: rounding it never reaches that number.
  return typeof one === 'number' && typeof divisor === 'number'
    ? Math.floor(one / divisor) : BigInt(one) / BigInt(divisor);
}
