/** What coalescing saves: requests of a turn in one task, against one message for each. */
import { EnginePool, type PoolRequest } from '../../src/pool.js';
import { GRANT_ALL, OP_LOOKUP } from '../../src/engine/frame.js';
import { createLog } from '../../src/log.js';
import { openDataset } from '../../src/dataset/open.js';
import type { BenchInput, Figure } from './case.js';
import { sampleQueries } from './queries.js';

const TOGETHER = 64;

async function requestsASecond(
  input: BenchInput, queries: readonly string[], requestsPerTask: number,
): Promise<number> {
  const release = { id: 'bench', dir: input.datasetDir };
  const pool = new EnginePool({
    releases: { pin: () => release, unpin: () => undefined },
    log: createLog('error'), threads: 1, requestsPerTask,
  });
  let [answered, at] = [0, 0];
  let running = true;
  await new Promise<void>((resolve) => {
    const submit = (): void => {
      const request: PoolRequest = {
        op: OP_LOOKUP, version: 60, grants: GRANT_ALL, payload: queries[at]!,
        answered: () => {
          answered += 1;
          if (running) submit();
        },
        failed: () => undefined,
      };
      at = (at + 1) % queries.length;
      pool.submit(request);
    };
    for (let index = 0; index < TOGETHER; index += 1) submit();
    setTimeout(() => {
      answered = 0;
      setTimeout(() => {
        running = false;
        resolve();
      }, input.seconds * 1000);
    }, 1000);
  });
  const rate = answered / input.seconds;
  await pool.close();
  return rate;
}

/** Requests a second through the pool both ways, 64 under way at once. */
export async function coalescingCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const queries = sampleQueries('zip', dataset, input.datasetDir, []);
  dataset.close();
  const together = await requestsASecond(input, queries, TOGETHER);
  const single = await requestsASecond(input, queries, 1);
  return [
    { name: 'pool coalesced', value: together, unit: 'requests/s', note: 'no HTTP, one worker' },
    { name: 'pool one message each', value: single, unit: 'requests/s' },
    { name: 'coalescing gain', value: together / single, unit: 'times' },
  ];
}
