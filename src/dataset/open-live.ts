/** The live release of a folder, opened for a process. */
import type { Log } from '../log.js';
import { probeRelease } from './generations.js';
import { LiveDataset } from './live.js';
import { openProcessCopies, removeLeftCopies } from './process-copies.js';
import { ReleaseCopies } from './release-copy.js';
import type { Dataset } from './dataset.js';
import { openDataset } from './open.js';

/** What differs from the one server of a folder with datasets in files. */
interface OpenLiveOptions {
  /** Puts a dataset without files in the place of one: there is nothing to be checked. */
  readonly open?: ((dir: string) => Dataset) | undefined;
  /** Others may answer from the same folder: copies lie in a folder of this process. */
  readonly beside?: boolean;
}

/**
 * Opens the active release of a folder once it is copied and checked; with none active, waits for
 * one. `signedBy` are public keys, one of whose holders must have signed each release; none where
 * it need not be signed.
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
