/** Releases as commands use them: none is opened that was not checked. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { checkRelease, UnfinishedCheck } from '../dataset/release-check.js';
import {
  activateRelease, activeRelease, releasesDir, unsoundRelease,
} from '../dataset/release.js';
import { RELEASE_FILES, stampHolds } from '../dataset/stamp.js';
import { auditRelease } from './actor.js';
import { createProgress } from '../ingest/progress.js';

/** @throws Error where no release is active. */
export function requireActive(varDir: string): string {
  const release = activeRelease(varDir);
  if (release !== null) return release;
  throw new Error('no dataset is active; build one with: npx situs dataset build --activate');
}

/**
 * Checks the release in a folder in a process of its own, with progress on standard error unless
 * `quiet`. Returns what is wrong, nothing when it is sound; a check without an end counts as wrong.
 */
export async function problemsOf(dir: string, quiet = false): Promise<readonly string[]> {
  const progress = quiet ? () => undefined : createProgress(process.stderr);
  try {
    const { problems } = await checkRelease({ dir, copyTo: null, background: false, progress });
    return problems;
  } catch (error) {
    if (error instanceof UnfinishedCheck) return [error.message];
    throw error;
  }
}

/**
 * Folder of a release whose files are those that were checked; checks it where that is not known.
 * @throws Error with a sentence when it is not sound.
 */
export async function soundRelease(varDir: string, name: string): Promise<string> {
  const dir = join(releasesDir(varDir), name);
  if (stampHolds(dir)) return dir;
  const problems = await problemsOf(dir, true);
  if (problems.length > 0) throw unsoundRelease(name, problems);
  return dir;
}

/** Takes the permission to write a release: nobody changes one on purpose. */
export function protectRelease(dir: string): void {
  for (const name of RELEASE_FILES) {
    try {
      chmodSync(join(dir, name), 0o444);
    } catch {
      // Another's files, or a file system without modes: only an accident is made less likely.
    }
  }
}

/**
 * Reads a release from end to end and makes it the active one.
 * @throws Error with a sentence when it is not sound; the active one then stays.
 */
export async function activateSound(
  varDir: string, name: string, quiet = false, action: 'activate' | 'rollback' = 'activate',
): Promise<void> {
  const dir = join(releasesDir(varDir), name);
  const problems = await problemsOf(dir, quiet);
  if (problems.length > 0) throw unsoundRelease(name, problems);
  protectRelease(dir);
  await auditRelease(varDir, `release.${action}`, name);
  activateRelease(varDir, name);
}
