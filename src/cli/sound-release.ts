/** Checks releases before a command opens them. */
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

/** Name of the active release. @throws Error where none is active. */
export function requireActive(varDir: string): string {
  const release = activeRelease(varDir);
  if (release !== null) return release;
  throw new Error('no dataset is active; build one with: npx situs dataset build --activate');
}

/** Checks that a release exists here. @throws UsageError where it does not. */
export function keptRelease(varDir: string, name: string): string {
  if (existsSync(join(releasesDir(varDir), name, MANIFEST_FILE))) return name;
  throw new UsageError(`the dataset ${name} is not kept here; see: npx situs dataset list`);
}

/**
 * Public keys, one of which must have signed a release: those that the command names, or else those
 * of the setting. Empty where no signature is required.
 */
export function requiredKeys(named: readonly string[] = []): readonly string[] {
  return named.length > 0
    ? readPublicKeys(named, '--require-signature')
    : readPublicKeys(loadConfig().requireSignature, 'SITUS_REQUIRE_SIGNATURE');
}

/**
 * Checks the release in a folder. Where its records have to be read, this happens in a process of
 * its own. Shows progress on standard error unless `quiet`. Returns the problems, none when it is
 * sound; a check that does not finish is a problem too. If there are public keys, one of them must
 * have signed the release.
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

/** Checks a release completely. @throws Error with a sentence when it is not sound. */
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
 * Folder of a sound release. Its check is repeated where the files may have changed since the last.
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

/** Signs the release in a folder, which must have just been checked. */
export function signSound(dir: string, key: SigningKey): void {
  const stamp = readStamp(dir) ?? checkFiles(dir).stamp;
  if (stamp === null) throw new Error(`the dataset in ${dir} changed after it was checked`);
  signRelease(dir, stamp, key);
}

interface Activation {
  readonly quiet?: boolean;
  readonly action?: 'activate' | 'rollback';
  /** Keys of which one must have signed the release; those of the setting unless given. */
  readonly signedBy?: readonly string[];
}

/**
 * Checks a release completely and activates it.
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
