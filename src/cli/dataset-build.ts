/** `situs dataset build`: makes a release. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '../config.js';
import { activateRelease, releasesDir, unsoundRelease } from '../dataset/release.js';
import { buildDataset } from '../ingest/build.js';
import { createProgress } from '../ingest/progress.js';
import { temporaryDir } from '../ingest/writer.js';
import { makeFolder } from '../store/folder.js';
import { auditRelease } from './actor.js';
import { print, progress } from './line.js';
import { requireRecipe } from './recipe-names.js';
import { readSigningKey, type SigningKey } from '../dataset/signature.js';
import { problemsOf, protectRelease, requiredKeys, signSound } from './sound-release.js';
import { READER_GONE, SIGNAL_CODES, UsageError } from './usage.js';

/** Set in the process that builds; the one the user started watches it. */
const BUILDER = '--in-this-process';

/**
 * Builds in a process of its own: its memory goes back, and an interrupt is heard although the
 * builder computes without a pause. Nothing of an interrupted build is left.
 */
async function superviseBuild(): Promise<number> {
  const { varDir } = loadConfig();
  const [, command = '', ...words] = process.argv;
  const child = spawn(process.execPath,
    [...process.execArgv, command, ...words.slice(0, 2), BUILDER, ...words.slice(2)],
    { stdio: ['ignore', 'inherit', 'inherit'] });
  let interrupted = 0;
  for (const [signal, code] of Object.entries(SIGNAL_CODES)) {
    process.once(signal, () => {
      interrupted = code;
      child.kill('SIGKILL');
    });
  }
  const [code, signal] = await once(child, 'exit') as [number | null, NodeJS.Signals | null];
  if (child.pid !== undefined && code !== 0) {
    const temporary = temporaryDir(varDir, child.pid);
    // Removing what lies below a file would be a fault of its own.
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true });
  }
  if (interrupted > 0) process.stderr.write('\nbuild interrupted, nothing was left behind\n');
  if (interrupted > 0) return interrupted;
  return signal === 'SIGPIPE' ? READER_GONE : code ?? 1;
}

interface BuildAsked {
  readonly recipe: string;
  readonly sources?: string;
  readonly with?: readonly string[];
  readonly layer?: readonly string[];
  readonly workers?: number;
  readonly activate?: boolean;
  /** File of the private key that signs the release. */
  readonly sign?: string;
  readonly requireSignature?: readonly string[];
  readonly quiet?: boolean;
  readonly inThisProcess?: boolean;
}

/**
 * The key that signs what is built; null where nothing does.
 * @throws UsageError where the release could not be activated without another one.
 */
function signingKey({ activate, sign, requireSignature }: BuildAsked): SigningKey | null {
  const key = sign === undefined ? null : readSigningKey(sign);
  const required = activate ? requiredKeys(requireSignature) : [];
  if (required.length === 0 || (key !== null && required.includes(key.publicKey))) return key;
  throw new UsageError('a signature is required to activate what is built: --sign has to name the '
    + 'file of a private key whose public one is among those that are asked for');
}

/** Runs `situs dataset build`. */
export async function buildCommand(asked: BuildAsked): Promise<number> {
  if (!asked.inThisProcess) return superviseBuild();
  const { recipe, sources, activate, quiet = false } = asked;
  requireRecipe(recipe);
  const key = signingKey(asked);
  const { varDir } = loadConfig();
  makeFolder(releasesDir(varDir), 'SITUS_VAR');
  const name = await buildDataset({
    varDir,
    recipe,
    sources: sources === undefined ? null : resolve(sources),
    layers: asked.with ?? [],
    own: asked.layer ?? [],
    ...(asked.workers === undefined ? {} : { workers: asked.workers }),
    progress: quiet ? () => undefined : createProgress(process.stderr),
    report: progress,
  });
  const dir = join(releasesDir(varDir), name);
  const problems = await problemsOf(dir, quiet);
  if (problems.length > 0) throw unsoundRelease(name, problems);
  protectRelease(dir);
  if (key !== null) signSound(dir, key);
  if (activate) {
    await auditRelease(varDir, 'release.activate', name);
    activateRelease(varDir, name);
  }
  print(name);
  return 0;
}
