/** A dataset that is built in this process from files of a test. */
import { type BuildOptions, buildDataset } from '../../src/ingest/build.js';

/** Builds a recipe over a folder that holds its files and takes the release; its name. */
export function buildIn(
  folder: string,
  recipe: BuildOptions['recipe'],
  more: Partial<BuildOptions> = {},
): Promise<string> {
  return buildDataset({
    varDir: folder,
    sources: folder,
    layers: [],
    workers: 1,
    progress: () => undefined,
    report: () => undefined,
    recipe,
    ...more,
  });
}
