/** Finds the compiled file of a source, and removes compiled files without a source. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

/** The folder the compiler writes to, below the package's root. */
export const COMPILED = 'dist';

/** The ending of a compiled file, in place of ".ts". */
const ENDING = /\.js(?:\.map)?$/;

/** Removes compiled files whose source no longer exists, and returns their paths below `root`. */
export function removeStale(root: string): readonly string[] {
  const dir = join(root, COMPILED);
  if (!existsSync(dir)) return [];
  const stale = readdirSync(dir, { recursive: true })
    .map(String)
    .filter((path) => ENDING.test(path) && !existsSync(join(root, path.replace(ENDING, '.ts'))))
    .sort();
  for (const path of stale) rmSync(join(dir, path));
  return stale.map((path) => join(COMPILED, path));
}

/**
 * The compiled file of a source file, or of a compiled file itself, as a path below `root`.
 * @throws Error when the path leads outside `root`.
 */
export function compiledOf(root: string, path: string): string {
  const below = relative(root, resolve(root, path));
  if (below.startsWith('..')) throw new Error(`${path} is not in ${root}`);
  if (below.startsWith(COMPILED + sep)) return below;
  return join(COMPILED, below.replace(/\.ts$/, '.js'));
}
