/**
 * What every start of the service waits for as one file each, in the place of what the compiler
 * wrote: to load the 140 modules of a thread takes twice the processor time of loading the same code
 * as one, and the check of a release a tenth more.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.js';

/**
 * The worker of single lookups, which that of bulk files loads too, and the process that checks a
 * release.
 */
export const BUNDLED: readonly string[] = ['engine', 'release'].map((name) =>
  join('workers', name),
);
/** What the check of a release loads for one that has no stamp. */
const LATER = '../src/ingest/verify.js';
/** That of this platform; the command of its name is removed where it is the same file once more. */
const BUNDLER = fileURLToPath(
  new URL(
    `../../node_modules/@esbuild/${process.platform}-${process.arch}/bin/esbuild`,
    import.meta.url,
  ),
);
const OPTIONS = [
  // The oldest release that package.json names.
  '--bundle',
  '--platform=node',
  '--format=esm',
  '--target=node20',
  '--packages=external',
  `--external:${LATER}`,
  '--sourcemap',
  '--sources-content=false',
  '--legal-comments=none',
  // A package has no source maps: names stay, and lines that a stack trace can point at.
  '--minify-whitespace',
  '--line-limit=1000',
  '--log-level=warning',
];

/**
 * Writes them below `root` from their sources, which the compiler has found sound. Where the bundler
 * is not installed they stay as they were compiled, which do the same. Tells whether they were written.
 */
export function bundleWorkers(root: string): boolean {
  if (!existsSync(BUNDLER)) return false;
  execFileSync(
    BUNDLER,
    [...BUNDLED.map((each) => `${each}.ts`), `--outdir=${join(COMPILED, 'workers')}`, ...OPTIONS],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return true;
}
