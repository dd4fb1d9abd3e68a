/** The invented country and one thread that answers rows of files, for all tests of a file. */
import { after, before } from 'node:test';
import { openChunkPool, type ClosingPool } from '../../src/bulk/run/chunk-pool.js';
import { SILENT } from '../../src/log.js';
import { buildRecipe, type Built } from './built-dataset.js';

/** Opens both before the first test and closes them after the last; `opened` is told of them. */
export function withRowWorkers(opened: (built: Built, pool: ClosingPool) => void): void {
  let close = async (): Promise<void> => undefined;
  before(() => {
    const built = buildRecipe('fixture');
    const release = { id: built.name, dir: built.dir };
    const pool = openChunkPool({
      releases: { pin: () => release, unpin: () => undefined },
      log: SILENT,
      threads: 1,
      settings: { baseUrl: '', precisionMin: 'postal', logLevel: 'error' },
    });
    close = async () => {
      await pool.close();
      built.remove();
    };
    opened(built, pool);
  });
  after(() => close());
}
