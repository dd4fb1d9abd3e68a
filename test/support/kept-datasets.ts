/**
 * Datasets that several test files need, built once: kept by what they are made of (the compiled
 * code, the project's data, the publishers' files), so that another file or another run takes them
 * as they are, and any change makes a new one.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { packageRoot } from '../../src/ingest/source-files.js';

/** Where tests of this checkout keep what they share. */
export const KEPT_DIR = join(packageRoot(), 'node_modules', '.cache', 'situs-test');
const WAIT_MS = 50;
/** Longest wait for another process that builds; after it this one builds too. */
const WAIT_MS_MAX = 300_000;
const KEY_DIGITS = 16;
const OUTPUT = 'output.txt';

/** What a build is made of. */
export interface Ingredients {
  /** Arguments of the command; they name the recipe. */
  readonly args: readonly string[];
  /** Folders and files whose bytes count. */
  readonly content: readonly string[];
  /** Folders of files that are too large to be read each time: name, size and time count. */
  readonly listed: readonly string[];
  /** Texts that count as well; what differs in them alone takes the place of what is kept. */
  readonly texts?: readonly string[];
}

/** A build that is there. */
export interface Kept {
  readonly varDir: string;
  /** What the command printed. */
  readonly output: string;
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function addContent(hash: Hash, path: string): void {
  for (const file of filesOf(path)) {
    if (file.endsWith('.map')) continue;
    const bytes = readFileSync(file);
    hash
      .update(`${file === path ? basename(path) : file.slice(path.length)}\0${bytes.length}\0`)
      .update(bytes);
  }
}

function addListing(hash: Hash, path: string): void {
  for (const file of filesOf(path)) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file}\0${size}\0${mtimeMs}\0`);
  }
}

/**
 * As the compiler and the bundler write what a module loads: at once, later, or as a thread or process
 * of its own.
 */
const LOADED = [
  /^(?:import|export) [^\n]*from ['"](\.[^'"]+)['"];$/gm,
  /^import ['"](\.[^'"]+)['"];$/gm,
  /\bimport\(\s*['"](\.[^'"]+)['"],?\s*\)/g,
  /new URL\(\s*['"](\.[^'"]+\.js)['"],\s*import\.meta\.url,?\s*\)/g,
];

/** Compiled files that these may load, with themselves, and what those load; in order. */
export function reachedFrom(entries: readonly string[]): readonly string[] {
  const reached = new Set(entries.map((path) => resolve(path)));
  for (const path of reached) {
    const text = readFileSync(path, 'utf8');
    for (const form of LOADED) {
      for (const [, name = ''] of text.matchAll(form)) reached.add(join(dirname(path), name));
    }
  }
  return [...reached].sort();
}

/** The name under which a build of these is kept. */
export function keyOf({ args, content, listed, texts = [] }: Ingredients): string {
  const hash = createHash('sha256').update(`${process.version}\0${args.join('\0')}\0`);
  for (const text of texts) hash.update(`${text.length}\0${text}\0`);
  for (const path of content) addContent(hash, path);
  for (const path of listed) addListing(hash, path);
  return hash.digest('hex').slice(0, KEY_DIGITS);
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether this process is now the one that builds; a builder that died is none. */
function claim(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const pid = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(lock, { force: true });
    return false;
  }
}

/** Builds beside the place and moves the whole there, unless another process was quicker. */
function fill(place: string, build: (varDir: string) => string): void {
  const unfinished = `${place}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, OUTPUT), build(unfinished));
  try {
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(join(place, OUTPUT))) throw error;
  }
}

/** Removes what earlier code made of the same arguments. */
function removeOthers(dir: string, kind: string, key: string): void {
  for (const name of readdirSync(dir)) {
    if (name.startsWith(`${kind}-`) && !name.startsWith(`${kind}-${key}`)) {
      rmSync(join(dir, name), { recursive: true, force: true });
    }
  }
}

/**
 * The build of these ingredients, made by `build` (which gets an empty folder and returns what is
 * to be told) unless it is there. Of several processes that ask at once one builds, the others wait.
 */
export function keptBuild(
  dir: string,
  ingredients: Ingredients,
  build: (varDir: string) => string,
): Kept {
  const kind = createHash('sha256').update(ingredients.args.join('\0')).digest('hex').slice(0, 8);
  const key = keyOf(ingredients);
  const varDir = join(dir, `${kind}-${key}`);
  const lock = `${varDir}.lock`;
  const until = Date.now() + WAIT_MS_MAX;
  mkdirSync(dir, { recursive: true });
  while (!existsSync(varDir)) {
    if (!claim(lock) && Date.now() < until) {
      sleep(WAIT_MS);
      continue;
    }
    try {
      if (!existsSync(varDir)) fill(varDir, build);
      removeOthers(dir, kind, key);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return { varDir, output: readFileSync(join(varDir, OUTPUT), 'utf8') };
}
