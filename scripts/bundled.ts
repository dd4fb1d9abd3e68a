/**
 * The worker as one file, in the place of what the compiler wrote: to load the 140 modules of a
 * thread takes twice the processor time of loading the same code as one, and every start of the
 * service waits for it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.js';

/** The worker of single lookups, which that of bulk files loads too. */
export const BUNDLED = join('workers', 'engine');
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
  '--sourcemap',
  '--sources-content=false',
  '--legal-comments=none',
  '--log-level=warning',
];

/**
 * Writes it below `root` from its sources, which the compiler has found sound. Where the bundler is
 * not installed it stays as it was compiled, which answers the same. Tells whether it was written.
 */
export function bundleWorker(root: string): boolean {
  if (!existsSync(BUNDLER)) return false;
  execFileSync(
    BUNDLER,
    [`${BUNDLED}.ts`, `--outfile=${join(COMPILED, `${BUNDLED}.js`)}`, ...OPTIONS],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return true;
}
