/**
 * A process that builds a synthetic nation: DIR [WORKERS] [kept]. It prints one line of JSON, with
 * seconds for each stage: by the clock, of all processors, and of the thread that leads the build.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
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

/** Seconds of a stage: by the clock, of all processors, and of the thread that leads the build. */
type Spent = readonly [clock: number, processors: number, lead: number];

/** Hundredths of a second of the leading thread; 0 where the kernel does not tell. */
function leadTicks(): number {
  const file = `/proc/self/task/${process.pid}/stat`;
  if (!existsSync(file)) return 0;
  const [user = 0, system = 0] = readFileSync(file, 'latin1')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user + system;
}

function spent(): Spent {
  const { user, system } = process.cpuUsage();
  return [performance.now() / 1000, (user + system) / 1e6, leadTicks() / 100];
}

const stages: Record<string, readonly number[]> = {};
let [stage, since] = ['input', spent()];

function endStage(): void {
  const now = spent();
  stages[stage] = now.map((value, at) => Math.round((value - since[at]!) * 10) / 10);
  since = now;
}

const name = await buildDataset({
  varDir,
  recipe: { recipe: { ...recipe, name: 'nation', ...files }, rates },
  sources: folder,
  layers: [],
  report: () => undefined,
  keepParts: kept !== '',
  ...(workers === '' ? {} : { workers: Number(workers) }),
  progress: (next) => {
    if (next === stage) return;
    endStage();
    stage = next;
  },
});
endStage();
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
process.stdout.write(
  `${JSON.stringify({
    release: name,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    cpuSeconds: Math.round((userCPUTime + systemCPUTime) / 1e5) / 10,
    peakMiB: Math.round(maxRSS / 1024),
    dataMiB: Math.round(statSync(join(releasesDir(varDir), name, 'data.mdb')).size / 1_048_576),
    stages,
  })}\n`,
);
