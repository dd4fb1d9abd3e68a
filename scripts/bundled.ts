/**
 * Bundles the modules that every start of the service waits for into one file each, which replaces
 * the compiled one. Loading the 140 modules of a thread takes twice the processor time of loading
 * the same code as one file, and checking a release takes a tenth more.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.js';

/**
 * The worker for single lookups, which that for bulk files loads too, and the process that checks a
 * release.
 */
export const BUNDLED: readonly string[] = ['engine', 'release'].map((name) =>
  join('workers', name),
);
/** Loaded by the check of a release only if that has no stamp. */
const LATER = '../src/ingest/verify.js';
/**
 * The bundler of this platform. The command named esbuild is not used: where it is a copy of this
 * file, it is removed.
 */
const BUNDLER = fileURLToPath(
  new URL(
    `../../node_modules/@esbuild/${process.platform}-${process.arch}/bin/esbuild`,
    import.meta.url,
  ),
);
const OPTIONS = [
  // The oldest version that package.json allows.
  '--bundle',
  '--platform=node',
  '--format=esm',
  '--target=node20',
  '--packages=external',
  `--external:${LATER}`,
  '--sourcemap',
  '--sources-content=false',
  '--legal-comments=none',
  // A package has no source maps, so names are kept, and lines are short enough for a stack trace.
  '--minify-whitespace',
  '--line-limit=1000',
  '--log-level=warning',
];

/**
 * Bundles the workers below `root` from their sources, which the compiler has checked. Returns
 * false where the bundler is not installed; the compiled files stay then, and do the same.
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
