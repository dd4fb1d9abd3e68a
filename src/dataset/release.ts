/** Releases on disk: `<SITUS_VAR>/datasets/<date>-<hash12>/`, `CURRENT` and `PREVIOUS`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatProblem, MANIFEST_FILE, readManifest, type Manifest } from './manifest.js';
import { putFile } from './stamp.js';

const CURRENT = 'CURRENT';
const PREVIOUS = 'PREVIOUS';
/** The form of a release's name: a date and twelve digits of the id. */
export const RELEASE_NAME = /^\d{4}-\d{2}-\d{2}-[0-9a-f]{12}$/;

/** Whether a text has the form of a release's name. */
export function isReleaseName(text: string): boolean {
  return RELEASE_NAME.test(text);
}

/** The folder that holds all releases. */
export function releasesDir(varDir: string): string {
  return join(varDir, 'datasets');
}

/** The file that names the active release. */
export function currentFile(varDir: string): string {
  return join(releasesDir(varDir), CURRENT);
}

function pointer(varDir: string, name: string): string | null {
  try {
    const text = readFileSync(join(releasesDir(varDir), name), 'utf8').trim();
    return isReleaseName(text) ? text : null;
  } catch {
    return null;
  }
}

/** Name of the active release, or null. */
export function currentRelease(varDir: string): string | null {
  return pointer(varDir, CURRENT);
}

/**
 * Name of the active release; null where there is no dataset at all.
 * @throws Error when there are datasets and CURRENT does not say which one is active.
 */
export function activeRelease(varDir: string): string | null {
  const name = currentRelease(varDir);
  if (name !== null) return name;
  const count = listReleases(varDir).length;
  if (count === 0) return null;
  const file = currentFile(varDir);
  const state = existsSync(file) ? 'names no dataset' : 'is missing';
  throw new Error(
    `${file} ${state}, beside ${count} dataset${count === 1 ? '' : 's'}; choose ` +
      'with: npx situs dataset activate RELEASE (npx situs dataset list names them)',
  );
}

/** Thrown for a release that was checked and may not be used. Checking it again finds the same. */
export class UnsoundRelease extends Error {
  override readonly name: string = 'UnsoundRelease';
}

/** Thrown for a release that another version of Situs built; its message is a whole sentence. */
export class OtherFormat extends UnsoundRelease {
  override readonly name = 'OtherFormat';
}

/**
 * The error for a release that another version built, or null where its format is the present one.
 */
export function otherFormat(varDir: string, name: string): OtherFormat | null {
  const problem = formatProblem(join(releasesDir(varDir), name));
  return problem === null ? null : new OtherFormat(`The dataset ${name} ${problem}`);
}

/** The error for a release that may not be used. */
export function unsoundRelease(name: string, problems: readonly string[]): UnsoundRelease {
  return new UnsoundRelease(
    `dataset ${name} is not sound: ${problems.join('; ')}; ` +
      'build it again or activate another one (npx situs dataset list)',
  );
}

/** Name of the release that was active before, or null. */
export function previousRelease(varDir: string): string | null {
  return pointer(varDir, PREVIOUS);
}

/** Names of all finished releases, oldest first. */
export function listReleases(varDir: string): readonly string[] {
  const dir = releasesDir(varDir);
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => isReleaseName(name) && existsSync(join(dir, name, MANIFEST_FILE)))
    .sort();
}

/**
 * Finds one release by its whole name or an unambiguous part of it.
 * @throws Error when none or several match.
 */
export function findRelease(varDir: string, text: string): string {
  return releaseAmong(listReleases(varDir), text);
}

/**
 * As `findRelease`, among the names that are given. In messages, `at` says where they are and
 * `option` which option asks for the name.
 */
export function releaseAmong(all: readonly string[], text: string, at = '', option = ''): string {
  const names = all.filter((name) => name.includes(text));
  if (names.length === 1) return names[0]!;
  throw new Error(
    names.length === 0
      ? `no dataset${at} matches "${text}"; see: npx situs dataset list${option}`
      : `"${text}" matches ${names.length} datasets${at}: ${names.join(', ')}`,
  );
}

function writePointer(varDir: string, name: string, release: string): void {
  const dir = releasesDir(varDir);
  mkdirSync(dir, { recursive: true });
  putFile(join(dir, name), `${release}\n`);
}

/** An empty file in the folder of a release; its modification time is that of the last answer. */
export const ANSWERED_FILE = 'answered-until';

/** Records that a release answers no more. Not possible where the folder cannot be written. */
function noteAnswered(varDir: string, release: string): void {
  try {
    writeFileSync(join(releasesDir(varDir), release, ANSWERED_FILE), '');
  } catch {
    // Without the file, its days are counted from the build.
  }
}

/**
 * Makes a release the active one by a single rename; returns its manifest. If it is active already
 * it is named again, so that a server that refused it tries it again.
 */
export function activateRelease(varDir: string, release: string): Manifest {
  const manifest = readManifest(join(releasesDir(varDir), release));
  const before = currentRelease(varDir);
  if (before !== null && before !== release) {
    writePointer(varDir, PREVIOUS, before);
    noteAnswered(varDir, before);
  }
  writePointer(varDir, CURRENT, release);
  return manifest;
}

/**
 * Name of the release that was active before this one.
 * @throws Error when there is none.
 */
export function earlierRelease(varDir: string): string {
  const previous = previousRelease(varDir);
  if (previous === null) throw new Error('no earlier dataset to go back to');
  return previous;
}
