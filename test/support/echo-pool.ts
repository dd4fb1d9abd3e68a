/** A pool over the worker that echoes, with releases that are only names, counted. */
import type { TestContext } from 'node:test';
import { SILENT } from '../../src/log.js';
import type { PoolOptions } from '../../src/pool/threads.js';
import { EnginePool, type PinnedRelease } from '../../src/pool.js';
import { ECHO_WORKER } from './http-stub-server.js';

interface Pins {
  held: number;
  taken: number;
}

/** `releaseOf` names the release of a task by its number, from one on. */
export function startEchoPool(
  context: TestContext,
  releaseOf: (taken: number) => PinnedRelease,
  options: Partial<PoolOptions> = {},
): { readonly pool: EnginePool; readonly pins: Pins } {
  const pins: Pins = { held: 0, taken: 0 };
  const pool = new EnginePool({
    releases: {
      pin: () => {
        pins.held += 1;
        pins.taken += 1;
        return releaseOf(pins.taken);
      },
      unpin: () => {
        pins.held -= 1;
      },
    },
    log: SILENT,
    threads: 1,
    worker: ECHO_WORKER,
    ...options,
  });
  context.after(() => pool.close());
  return { pool, pins };
}
