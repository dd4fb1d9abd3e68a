/** Compares random carts with the oracle, which calculates in plain fractions. */
import { RandomCarts } from '../../test/support/random-carts.js';
import { seeded } from './case.js';

/** The result: carts compared, how many had amounts, and the first differences. */
interface OracleRun {
  readonly carts: number;
  readonly answered: number;
  readonly differences: readonly string[];
}

const DIFFERENCES_MAX = 10;

/** Compares `count` random carts of a seed with the oracle. */
export function compareCarts(
  count: number,
  seed: number,
  report: (done: number) => void = () => undefined,
): OracleRun {
  const carts = new RandomCarts();
  const next = seeded(seed);
  const differences: string[] = [];
  let answered = 0;
  for (let at = 0; at < count && differences.length < DIFFERENCES_MAX; at += 1) {
    const cart = carts.cart(next);
    const difference = carts.compare(cart);
    if (difference !== '') differences.push(`cart ${at} of seed ${seed}: ${difference}`);
    if (carts.isAnswered(cart)) answered += 1;
    if (at % 100_000 === 99_999) report(at + 1);
  }
  return { carts: count, answered, differences };
}
