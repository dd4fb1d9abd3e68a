/** The questions a release is asked before it answers anybody. */
import type { Dataset } from './dataset.js';
import type { ReleaseFacts } from './live.js';
import { readManifest } from './manifest.js';

/**
 * Reads a release's facts.
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
