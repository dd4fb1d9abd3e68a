/** Releases of the fixture or of next to nothing, in a folder of their own, with a fault planted. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { AreaRecord, ComponentRecord } from '../../src/dataset/records.js';
import { buildDataset } from '../../src/ingest/build.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { type ReleaseContent, writeRelease } from '../../src/ingest/release-writer.js';
import type { DateInt } from '../../src/tax/date.js';
import type { Rate } from '../../src/tax/rate.js';
import { tinyContent } from '../support/tiny-release.js';

export const folder = mkdtempSync(join(tmpdir(), 'situs-findings-'));

/** Builds the fixture with changes of its recipe; `facts` changes a fact table. */
export async function planted(
  change: (fixture: Fixture) => Fixture,
  files: Readonly<Record<string, string>> = {},
  facts: readonly (readonly [file: string, change: (text: string) => string])[] = [],
): Promise<string> {
  const sources = mkdtempSync(join(folder, 'sources-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(sources, name), text);
  cpSync(join(datasetsDir(), 'fixture', 'facts'), join(sources, 'facts'), { recursive: true });
  for (const [file, edit] of facts) {
    const path = join(sources, 'facts', file);
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
  }
  const { recipe, rates } = change(readRecipe('fixture'));
  return buildDataset({
    varDir: folder,
    sources,
    layers: [],
    progress: () => undefined,
    report: () => undefined,
    recipe: {
      recipe: { ...recipe, facts: relative(datasetsDir(), join(sources, 'facts')) },
      rates,
    },
  });
}

type Fixture = Pick<ReturnType<typeof readRecipe>, 'recipe' | 'rates'>;

export const withBoundary =
  (layer: 'county' | 'place') =>
  ({ recipe, rates }: Fixture): Fixture => {
    const own = { layer, path: 'own.geojson', key: 'GEOID', source: 'invented' };
    return { rates, recipe: { ...recipe, boundaries: [...recipe.boundaries, own] } };
  };

export async function write(content: ReleaseContent): Promise<string> {
  return writeRelease(folder, content, () => undefined);
}

/** A release with the periods of a county beside its state's rate. */
export async function writePeriods(
  percents: readonly number[],
  more: Partial<ReleaseContent['manifest']> = {},
  state: Partial<AreaRecord> = {},
): Promise<string> {
  const content = tinyContent(50);
  const periods = percents.map((percent, at) => ({
    from: (20200101 + at * 10_000) as DateInt,
    to: (at + 1 < percents.length ? 20201231 + at * 10_000 : 99991231) as DateInt,
    sales: (percent * 10_000_000) as Rate,
    use: 0 as Rate,
    source: 0,
    asOf: 20260101 as DateInt,
  }));
  const county: ComponentRecord = {
    id: 1,
    level: 'county',
    jurName: 'ASH',
    jurCode: '001',
    kind: null,
    periods,
  };
  return write({
    ...content,
    manifest: { ...content.manifest, ...more },
    areas: content.areas.map((area) => ({ ...area, components: [0, 1], ...state })),
    components: [...content.components, county],
  });
}
