/** The process that builds a release; `dataset-build.ts` starts it and waits for it. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '../config.js';
import { protectRelease } from '../dataset/put-release.js';
import { activateRelease, releasesDir } from '../dataset/release.js';
import { readSigningKey, type SigningKey } from '../dataset/signature.js';
import { buildDataset } from '../ingest/build.js';
import { findingsOf } from '../ingest/findings/release-faults.js';
import type { Progress } from '../ingest/model.js';
import { createProgress } from '../ingest/progress.js';
import { makeFolder } from '../store/folder.js';
import { auditRelease } from './open-store.js';
import { tellFindings } from './findings.js';
import { print, progress, UsageError } from './command-line.js';
import { requireRecipe } from './recipe-names.js';
import { checkSound, requiredKeys, signSound } from './sound-release.js';

/** The options of the command. */
export interface BuildAsked {
  readonly recipe: string;
  readonly sources?: string;
  readonly with?: readonly string[];
  readonly layer?: readonly string[];
  readonly workers?: number;
  readonly activate?: boolean;
  /** File of the private key that the release is signed with. */
  readonly sign?: string;
  readonly requireSignature?: readonly string[];
  readonly keepParts?: boolean;
  readonly quiet?: boolean;
  readonly inThisProcess?: boolean;
  /** Set where the command that started the build reports the findings itself. */
  readonly withoutFindings?: boolean;
}

/**
 * The key that signs the release; null where none does.
 * @throws UsageError where the release could not be activated without a signature of another key.
 */
function signingKey({ activate, sign, requireSignature }: BuildAsked): SigningKey | null {
  const key = sign === undefined ? null : readSigningKey(sign);
  const required = activate ? requiredKeys(requireSignature) : [];
  if (required.length === 0 || (key !== null && required.includes(key.publicKey))) return key;
  throw new UsageError(
    'a signature is required to activate what is built: --sign has to name the ' +
      'file of a private key whose public one is among those that are asked for',
  );
}

/**
 * @throws Error where the path is no folder. A recipe leaves out files that are missing, so a wrong
 * path would go unnoticed.
 */
function sourcesFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return resolve(path);
  throw new Error(`--sources names "${path}", which is no folder`);
}

/**
 * Ends this process when the one that waits for it is gone, since nobody would clean up after it.
 */
function endAlone(report: Progress): Progress {
  const watcher = process.ppid;
  return (...told) => {
    if (process.ppid !== watcher) process.exit(1);
    report(...told);
  };
}

/** Builds, checks and activates a release in this process. @throws Error with a sentence. */
export async function buildHere(asked: BuildAsked): Promise<void> {
  const { recipe, sources, activate, quiet = false } = asked;
  requireRecipe(recipe);
  const key = signingKey(asked);
  const { varDir } = loadConfig();
  makeFolder(releasesDir(varDir), 'SITUS_VAR');
  const name = await buildDataset({
    varDir,
    recipe,
    sources: sources === undefined ? null : sourcesFolder(sources),
    layers: asked.with ?? [],
    own: asked.layer ?? [],
    ...(asked.workers === undefined ? {} : { workers: asked.workers }),
    keepParts: asked.keepParts ?? false,
    progress: endAlone(quiet ? () => undefined : createProgress(process.stderr)),
    report: progress,
  });
  const dir = join(releasesDir(varDir), name);
  await checkSound(dir, name, quiet);
  const findings = asked.withoutFindings === true ? [] : await findingsOf(dir, null);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (findings.length > 0) progress(`${tellFindings(errors, findings)}; see: dataset verify`);
  protectRelease(dir);
  if (key !== null) signSound(dir, key);
  if (activate && errors.length > 0) {
    throw new Error(
      `${name} is built and not activated: what it says cannot be right; once it was ` +
        'looked at: situs dataset activate',
    );
  }
  if (activate) {
    await auditRelease(varDir, 'release.activate', name);
    activateRelease(varDir, name);
  }
  print(name);
}
