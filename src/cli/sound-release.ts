/** Releases as commands use them: none is opened that was not checked. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config.js';
import { checkFiles } from '../dataset/file-check.js';
import { MANIFEST_FILE } from '../dataset/manifest.js';
import { protectRelease } from '../dataset/put-release.js';
import { checkRelease, UnfinishedCheck } from '../dataset/release-check.js';
import {
  activateRelease,
  activeRelease,
  otherFormat,
  releasesDir,
  unsoundRelease,
} from '../dataset/release.js';
import { readPublicKeys, signRelease, type SigningKey } from '../dataset/signature.js';
import { readStamp, stampHolds } from '../dataset/stamp.js';
import { isStamped } from '../dataset/stamped-copy.js';
import { createProgress } from '../ingest/progress.js';
import { UsageError } from './command-line.js';

/** @throws Error where no release is active. */
export function requireActive(varDir: string): string {
  const release = activeRelease(varDir);
  if (release !== null) return release;
  throw new Error('no dataset is active; build one with: npx situs dataset build --activate');
}

/** Name of a release that is asked for by it. @throws UsageError where it is not kept here. */
export function keptRelease(varDir: string, name: string): string {
  if (existsSync(join(releasesDir(varDir), name, MANIFEST_FILE))) return name;
  throw new UsageError(`the dataset ${name} is not kept here; see: npx situs dataset list`);
}

/**
 * Public keys of which one must have signed a release, so that it may answer: those that the
 * command names, else those of the setting. None where it need not be signed.
 */
export function requiredKeys(named: readonly string[] = []): readonly string[] {
  return named.length > 0
    ? readPublicKeys(named, '--require-signature')
    : readPublicKeys(loadConfig().requireSignature, 'SITUS_REQUIRE_SIGNATURE');
}

/**
 * Checks the release in a folder, in a process of its own where its records have to be read, with
 * progress on standard error unless `quiet`; one of the public keys has to have signed it, where
 * there are any. Returns what is wrong, nothing when it is sound; a check without an end counts as
 * wrong.
 */
export async function problemsOf(
  dir: string,
  quiet = false,
  signedBy: readonly string[] = [],
): Promise<readonly string[]> {
  const progress = quiet ? () => undefined : createProgress(process.stderr);
  if (await isStamped({ dir, progress, signedBy })) return [];
  try {
    const { problems } = await checkRelease({
      dir,
      copyTo: null,
      background: false,
      progress,
      signedBy,
    });
    return problems;
  } catch (error) {
    if (error instanceof UnfinishedCheck) return [error.message];
    throw error;
  }
}

/** Reads a release from end to end. @throws Error with a sentence when it is not sound. */
export async function checkSound(
  dir: string,
  name: string,
  quiet: boolean,
  signedBy: readonly string[] = [],
): Promise<void> {
  const problems = await problemsOf(dir, quiet, signedBy);
  if (problems.length > 0) throw unsoundRelease(name, problems);
}

/**
 * Folder of a release whose files are those that were checked; checks it where that is not known.
 * @throws Error with a sentence when it is not sound.
 */
export async function soundRelease(varDir: string, name: string): Promise<string> {
  const dir = join(releasesDir(varDir), name);
  const unread = otherFormat(varDir, name);
  if (unread !== null) throw unread;
  if (stampHolds(dir)) return dir;
  await checkSound(dir, name, true);
  return dir;
}

/** Signs the release in a folder, which has just been found sound. */
export function signSound(dir: string, key: SigningKey): void {
  const stamp = readStamp(dir) ?? checkFiles(dir).stamp;
  if (stamp === null) throw new Error(`the dataset in ${dir} changed after it was checked`);
  signRelease(dir, stamp, key);
}

interface Activation {
  readonly quiet?: boolean;
  readonly action?: 'activate' | 'rollback';
  /** Keys of which one must have signed it; those of the setting unless given. */
  readonly signedBy?: readonly string[];
}

/**
 * Reads a release from end to end and makes it the active one.
 * @throws Error with a sentence when it is not sound; the active one then stays.
 */
export async function activateSound(
  varDir: string,
  name: string,
  { quiet = false, action = 'activate', signedBy = requiredKeys() }: Activation = {},
): Promise<void> {
  const dir = join(releasesDir(varDir), name);
  await checkSound(dir, name, quiet, signedBy);
  protectRelease(dir);
  const { auditRelease } = await import('./open-store.js');
  await auditRelease(varDir, `release.${action}`, name);
  activateRelease(varDir, name);
}
