/** Address lines to look up: doors of the reference recipe, or cities with their ZIPs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseStreetName, formatStreetName } from '../../src/address/street-name.js';
import { DATA_FILE } from '../../src/dataset/manifest.js';
import { openTables } from '../../src/dataset/layout.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { readPoints } from '../../src/ingest/source/address-source.js';
import { seeded } from './case.js';

/** One in so many doors is used. */
const STRIDE = 40;
const POSTAL_LINES = 3_000;

/** The folder of publishers' files beside the repository; null where there is none. */
export function sourcesDir(): string | null {
  const dir = join(packageRoot(), '..', 'shared', 'data');
  return existsSync(dir) ? dir : null;
}

async function doorLines(folder: string): Promise<string[]> {
  const lines: string[] = [];
  let seen = 0;
  for (const source of readRecipe('reference').recipe.points) {
    for await (const { number, street, city, municipality, state, zip } of readPoints(
      folder,
      source,
    )) {
      seen += 1;
      if (seen % STRIDE !== 0 || (city === '' && municipality === '')) continue;
      const name = formatStreetName(parseStreetName(street));
      lines.push(`${number} ${name}, ${city || municipality}, ${state} ${zip}`.trim());
    }
  }
  return lines;
}

function postalLines(dataset: Dataset, datasetDir: string): string[] {
  const zips = [...openTables(join(datasetDir, DATA_FILE), 'read').number.zips.getKeys({})];
  const random = seeded(7);
  return Array.from({ length: POSTAL_LINES }, () => {
    const zip = zips[Math.floor(random() * zips.length)] as number;
    const record = dataset.zip(zip);
    const number = 100 + Math.floor(random() * 900);
    return (
      `${number} Main St, ${record?.cities[0] ?? ''}, ${record?.state ?? ''} ` +
      String(zip).padStart(5, '0')
    );
  });
}

/** Lines for a dataset: doors, if it has streets and their sources are available. */
export async function addressLines(
  dataset: Dataset,
  datasetDir: string,
): Promise<readonly string[]> {
  const folder = sourcesDir();
  return folder !== null && dataset.hasLayer('streets')
    ? doorLines(folder)
    : postalLines(dataset, datasetDir);
}

/** Paths of a thousand lookups of such lines. */
export async function addressPaths(datasetDir: string): Promise<readonly string[]> {
  const dataset = openDataset(datasetDir);
  const lines = await addressLines(dataset, datasetDir);
  dataset.close();
  return lines.slice(0, 1_000).map((line) => `/request/v60?address=${encodeURIComponent(line)}`);
}
