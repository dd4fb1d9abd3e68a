/** Opens the release that a server answers from, and follows CURRENT. */
import type { Log } from '../log.js';
import type { Dataset } from './dataset.js';
import { LiveDataset } from './live.js';
import { openDataset } from './open.js';
import { probeRelease } from './probe.js';
import { ReleaseCopies } from './release-copy.js';

/**
 * Opens the active release of a folder once it is copied and checked; with none active, waits for
 * one. `open` puts a dataset without files in the place of one: there is nothing to be checked.
 * @throws Error with a sentence when the active release is not sound.
 */
export async function openLive(
  varDir: string, log: Log, open?: (dir: string) => Dataset,
): Promise<LiveDataset> {
  const copies = new ReleaseCopies(varDir, log);
  const live = new LiveDataset({
    varDir, log, probe: probeRelease, open: open ?? openDataset,
    ...(open === undefined ? { prepare: copies.prepare.bind(copies) } : {}),
  });
  try {
    await live.ready();
  } catch (error) {
    live.close();
    throw error;
  }
  return live;
}
