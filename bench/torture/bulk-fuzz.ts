/** Random bulk bodies, cut at random positions, must always give as many rows as they have. */
import { memoryDataset, NOW_MS } from '../../test/support/memory-dataset.js';
import { fuzzOnce } from '../../test/support/bulk-check.js';
import { seeded } from '../case/case.js';

export const FUZZ_BODIES = 100_000;

interface FuzzResult {
  readonly bodies: number;
  /** The faults, in one sentence each. */
  readonly wrong: readonly string[];
}

/** Sends `bodies` bodies; each fault names the seed of its body. */
export function bulkFuzz(bodies: number, seed: number, report: (line: string) => void): FuzzResult {
  const dataset = memoryDataset();
  const wrong: string[] = [];
  for (let index = 0; index < bodies; index += 1) {
    const faults = fuzzOnce(seeded(seed + index), { dataset, nowMs: NOW_MS });
    wrong.push(...faults.map((fault) => `body of seed ${seed + index}: ${fault}`));
    if ((index + 1) % 10_000 === 0) report(`${index + 1} bodies, ${wrong.length} faults`);
  }
  return { bodies, wrong };
}
