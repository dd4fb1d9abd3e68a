/** A process that builds one synthetic nation: DIR [WORKERS] [kept]. Prints one line of JSON. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { releasesDir } from '../../src/dataset/release.js';
import { buildDataset } from '../../src/ingest/build.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import type { NationFiles } from './nation.js';

const [folder = '', workers = '', kept = ''] = process.argv.slice(2);
const files = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as NationFiles;
const { recipe, rates } = readRecipe('default');
const varDir = join(folder, 'var');
const began = performance.now();
const stages: Record<string, number> = {};
let [stage, since] = ['input', began];
const name = await buildDataset({
  varDir, recipe: { recipe: { ...recipe, name: 'nation', ...files }, rates }, sources: folder,
  layers: [], report: () => undefined, keepParts: kept !== '',
  ...(workers === '' ? {} : { workers: Number(workers) }),
  progress: (next) => {
    if (next === stage) return;
    const now = performance.now();
    stages[stage] = Math.round((now - since) / 100) / 10;
    [stage, since] = [next, now];
  },
});
stages[stage] = Math.round((performance.now() - since) / 100) / 10;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
process.stdout.write(`${JSON.stringify({
  release: name,
  seconds: Math.round((performance.now() - began) / 100) / 10,
  cpuSeconds: Math.round((userCPUTime + systemCPUTime) / 1e5) / 10,
  peakMiB: Math.round(maxRSS / 1024),
  dataMiB: Math.round(statSync(join(releasesDir(varDir), name, 'data.mdb')).size / 1_048_576),
  stages,
})}\n`);
