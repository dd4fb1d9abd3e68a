/** Datasets built by the real command, once for all tests. */
import { execFileSync } from 'node:child_process';
import { constants, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentRelease, releasesDir } from '../../src/dataset/release.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { KEPT_DIR, keptBuild, reachedFrom, type Kept } from './kept-datasets.js';
import { CLI } from './program.js';
export { CLI, LATER_OPTIMIZED } from './program.js';

/** Publishers' files beside the repository, or null where they are not at hand. */
export function publishersFiles(): string | null {
  const dir = join(packageRoot(), '..', 'shared', 'data');
  return existsSync(dir) ? dir : null;
}

export interface Built {
  readonly varDir: string;
  readonly dir: string;
  readonly name: string;
  remove(): void;
}

/** Runs `situs ARGS` with a folder of variables of its own. */
export function situs(
  varDir: string,
  args: readonly string[],
  env: Record<string, string> = {},
): string {
  return execFileSync(process.execPath, [CLI, ...args], {
    env: { ...process.env, SITUS_VAR: varDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString('utf8');
}

const SOURCES_OPTION = '--sources';
const BUILD_COMMAND = fileURLToPath(new URL('../../src/cli/dataset-build.js', import.meta.url));

/** Modules that a build may load: a change of another one makes no other dataset. */
export function buildModules(): readonly string[] {
  return reachedFrom([BUILD_COMMAND]);
}

/** What this process has asked for: to see that nothing has changed takes longer than a copy. */
const asked = new Map<string, Kept>();

/**
 * A build by `situs ARGS`, taken from what is kept when nothing it is made of has changed: the
 * modules that a build loads, the project's data and the publishers' files.
 */
export function buildOnce(args: readonly string[]): Kept {
  const known = asked.get(args.join('\0'));
  if (known !== undefined && existsSync(known.varDir)) return known;
  const kept = builtOnce(args);
  asked.set(args.join('\0'), kept);
  return kept;
}

function builtOnce(args: readonly string[]): Kept {
  const root = packageRoot();
  const sources = args.includes(SOURCES_OPTION)
    ? args[args.indexOf(SOURCES_OPTION) + 1]
    : undefined;
  return keptBuild(
    KEPT_DIR,
    {
      args,
      content: [...buildModules(), join(root, 'datasets'), join(root, 'package-lock.json')],
      listed: sources === undefined ? [] : [sources],
    },
    (varDir) => situs(varDir, args),
  );
}

/** Has a recipe active in a folder of variables that has none. */
export function placeRecipe(varDir: string, recipe: string, more: readonly string[] = []): void {
  const kept = buildOnce(['dataset', 'build', '--recipe', recipe, ...more, '--activate']);
  cpSync(releasesDir(kept.varDir), releasesDir(varDir), {
    recursive: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  });
}

/** A new folder of variables in which a recipe is active; a test may change all of it. */
export function buildRecipe(recipe: string, more: readonly string[] = []): Built {
  const varDir = mkdtempSync(join(tmpdir(), `situs-${recipe}-`));
  placeRecipe(varDir, recipe, more);
  const name = currentRelease(varDir);
  if (name === null) throw new Error(`recipe ${recipe} was built but is not active`);
  return {
    varDir,
    name,
    dir: join(releasesDir(varDir), name),
    remove: () => rmSync(varDir, { recursive: true, force: true }),
  };
}
