/** Opens the release that a server answers from, and follows CURRENT. */
import type { Log } from '../log.js';
import type { Dataset } from './dataset.js';
import { LiveDataset, type ReleaseFacts } from './live.js';
import { openDataset } from './open.js';
import { ReleaseCopies } from './release-copy.js';
import { readManifest } from './manifest.js';

/**
 * Reads the facts of a release before it answers anybody.
 * @throws Error when it holds nothing.
 */
export function probeRelease(dataset: Dataset, dir: string): ReleaseFacts {
  const manifest = readManifest(dir);
  const areas = manifest.counts['areas'] ?? 0;
  if (areas === 0 || dataset.states().length === 0) throw new Error('the dataset is empty');
  const today = new Date().toISOString().slice(0, 10);
  const stale = manifest.coverage.flatMap(({ state, levels }) => levels
    .filter(({ until }) => until !== '' && until < today)
    .map(({ level, source }) => `${state} ${level} ${source}`));
  return { areas, stale };
}

/**
 * Opens the active release of a folder once it is copied and checked; with none active, waits for
 * one. `signedBy` are public keys, one of whose holders must have signed each release; none where
 * it need not be signed. `open` puts a dataset without files in the place of one: there is nothing
 * to be checked.
 * @throws Error with a sentence when the active release is not sound.
 */
export async function openLive(
  varDir: string, log: Log, signedBy: readonly string[], open?: (dir: string) => Dataset,
): Promise<LiveDataset> {
  const copies = new ReleaseCopies(varDir, log, signedBy);
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
