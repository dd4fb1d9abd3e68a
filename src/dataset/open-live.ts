/** Opens the active release of a folder, and follows which one is active, for one process. */
import type { Log } from '../log.js';
import { probeRelease } from './generations.js';
import { LiveDataset } from './live.js';
import { openProcessCopies, removeLeftCopies } from './process-copies.js';
import { ReleaseCopies } from './release-copy.js';
import type { Dataset } from './dataset.js';
import { openDataset } from './open.js';

/** Differences from the usual case, which is the only server on a folder of datasets. */
interface OpenLiveOptions {
  /** Opens a dataset that has no files instead, so that nothing is copied or checked. */
  readonly open?: ((dir: string) => Dataset) | undefined;
  /** Another process may answer from the same folder, so copies lie in a folder of this process. */
  readonly beside?: boolean;
}

/**
 * Opens the active release of a folder after it was copied and checked. Without an active release,
 * waits for one. `signedBy` are public keys, one of whose holders must have signed each release;
 * empty where none is required.
 * @throws Error with a sentence when the active release is not sound.
 */
export async function openLive(
  varDir: string,
  log: Log,
  signedBy: readonly string[],
  { open, beside = false }: OpenLiveOptions = {},
): Promise<LiveDataset> {
  const own = beside && open === undefined ? openProcessCopies(varDir) : null;
  if (own === null) removeLeftCopies(varDir);
  const prepared = new ReleaseCopies(varDir, log, signedBy, own?.folder);
  const live = new LiveDataset({
    varDir,
    log,
    probe: probeRelease,
    open: open ?? openDataset,
    closed: () => own?.close(),
    ...(open === undefined ? { prepare: prepared.prepare.bind(prepared) } : {}),
  });
  try {
    await live.ready();
  } catch (error) {
    live.close();
    throw error;
  }
  return live;
}
