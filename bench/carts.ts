/**
 * node dist/bench/carts.js [--carts N] [--seed N]
 *
 * Compares random carts (a million unless told) with the oracle; any difference fails the run.
 */
import { parseArgs } from 'node:util';
import { compareCarts } from './case/cart-oracle.js';

const CARTS = 1_000_000;

function main(): number {
  const { values } = parseArgs({
    options: {
      carts: { type: 'string', default: String(CARTS) },
      seed: { type: 'string', default: '1' },
    },
  });
  const { carts, answered, differences } = compareCarts(Number(values.carts), Number(values.seed),
    (done) => process.stderr.write(`${done} carts\n`));
  for (const line of differences) process.stdout.write(`${line}\n`);
  process.stdout.write(`${carts} carts, ${answered} with amounts, ${differences.length} differ\n`);
  return differences.length === 0 ? 0 : 1;
}

process.exitCode = main();
