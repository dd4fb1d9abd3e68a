/**
 * Folders that commands make of what seldom changes, such as an installation by npm: kept as datasets
 * are (kept-datasets.ts), and given to tests as links to the files that are kept.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { COMPILED } from '../../scripts/compiled.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { type Ingredients, KEPT_DIR, keptBuild } from './kept-datasets.js';

/** Npm writes them where they are, whenever it changes a folder's modules. */
const REWRITTEN = ['package.json', 'package-lock.json', join('node_modules', '.package-lock.json')];

/**
 * Where what is to be links to kept files is made: on a disk, as these are. A whole run has other
 * temporary files in memory, where it can (scripts/scratch.ts).
 */
export function besideKept(): string {
  return process.env['SITUS_TEST_DISK'] ?? tmpdir();
}

/** The environment of commands that ask npm's registry: the runner keeps its authorities from all others. */
export function registryEnvironment(): NodeJS.ProcessEnv {
  const authorities = process.env['SITUS_TEST_AUTHORITIES'];
  return authorities === undefined
    ? process.env
    : { ...process.env, NODE_EXTRA_CA_CERTS: authorities };
}

/** The version of the npm that commands find. */
export function npmVersion(): string {
  const told = /^npm\/(\S+)/.exec(process.env['npm_config_user_agent'] ?? '')?.[1];
  return told ?? execFileSync('npm', ['--version']).toString('utf8').trim();
}

/**
 * Puts a folder at a place that is not there yet, its files as links where both are of one file
 * system, else as copies. Who has links may remove files and write new ones, and changes none.
 */
export function linkAs(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    execFileSync('cp', ['-alT', from, to], { stdio: 'pipe' });
  } catch {
    execFileSync('cp', ['-aT', from, to], { stdio: 'pipe' });
  }
}

/** Gives a folder of links that npm has installed in, and is to work in, its own of what npm writes to. */
export function unlinkRewritten(folder: string): void {
  for (const path of REWRITTEN.map((name) => join(folder, name)).filter(existsSync)) {
    const bytes = readFileSync(path);
    rmSync(path);
    writeFileSync(path, bytes);
  }
}

/**
 * What `make` made of these ingredients at the path that it is given. That is outside of this
 * checkout: what commands look for in the folders above is not to be found in its own modules.
 */
export function keptFolder(ingredients: Ingredients, make: (path: string) => void): string {
  const { varDir } = keptBuild(KEPT_DIR, ingredients, (place) => {
    const dir = mkdtempSync(join(besideKept(), 'situs-made-'));
    try {
      make(join(dir, 'made'));
      // Unlike a rename it also moves between file systems.
      execFileSync('mv', [join(dir, 'made'), join(place, 'made')]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
    return '';
  });
  return join(varDir, 'made');
}

/**
 * Copies to a folder of sources what this checkout's compiler made of one of them, with its account of
 * it for `tsconfig.json`: a compiler of that folder looks at all sources, and by the account writes
 * anew, and finds faults in, what differs there. Left out are compiled files below `dist` of these names.
 */
export function copyCompiled(source: string, to: string, left: readonly string[] = []): void {
  const made = source === 'tsconfig.json' ? '.tsbuildinfo' : source;
  const path = join(packageRoot(), COMPILED, made);
  if (!existsSync(path)) return;
  const target = join(to, COMPILED, made);
  mkdirSync(dirname(target), { recursive: true });
  execFileSync('cp', ['-aT', path, target]);
  for (const name of left) rmSync(join(to, COMPILED, name), { force: true });
}
