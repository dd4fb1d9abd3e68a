/**
 * `situs dataset …` for releases on this machine: verify, activate, rollback, list, prune,
 * coverage.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config.js';
import { keepings, removeLeft, removeRelease } from '../dataset/keeping.js';
import { type CoverageState, readManifest } from '../dataset/manifest.js';
import { activeRelease, earlierRelease, findRelease, releasesDir } from '../dataset/release.js';
import { coverageTable } from '../ingest/coverage.js';
import { createProgress } from '../ingest/progress.js';
import { listJobs } from '../store/jobs.js';
import { print, progress } from './command-line.js';
import { hasStore, withStore } from './open-store.js';
import { activateSound, problemsOf, requiredKeys, soundRelease } from './sound-release.js';

/** The options of a verification. */
interface VerifyAsked {
  readonly against?: string;
  readonly json?: boolean;
}

function chosen(varDir: string, text: string | undefined): string {
  if (text !== undefined) return findRelease(varDir, text);
  const current = activeRelease(varDir);
  if (current === null) throw new Error('no dataset is active; see: npx situs dataset list');
  return current;
}

/**
 * Runs `situs dataset verify [RELEASE]`, where RELEASE may also be a folder. Checks whether the
 * files are those that were built, and then whether their figures are plausible; 1 where a byte or
 * a figure is wrong.
 */
export async function verifyCommand(
  text: string | undefined,
  { against, json = false }: VerifyAsked,
): Promise<number> {
  const { varDir } = loadConfig();
  const began = performance.now();
  const name =
    text !== undefined && existsSync(text) ? text : join(releasesDir(varDir), chosen(varDir, text));
  const problems = await problemsOf(name);
  for (const problem of problems) progress(problem);
  if (problems.length > 0) {
    print(`${name}: ${problems.length} problems`);
    return 1;
  }
  const { errorsIn, findingsBeside, tellFindings } = await import('./findings.js');
  const findings = await findingsBeside(
    varDir,
    name,
    against === undefined ? null : findRelease(varDir, against),
  );
  const said = tellFindings(json ? [] : findings);
  progress(`${json ? '' : `${said}; `}${((performance.now() - began) / 1000).toFixed(1)} s`);
  const errors = errorsIn(findings);
  print(
    json
      ? JSON.stringify(findings, null, 1)
      : errors === 0
        ? `${name}: sound`
        : `${name}: ${errors} errors`,
  );
  return errors === 0 ? 0 : 1;
}

/** Runs `situs dataset activate RELEASE`. */
export async function activateCommand(
  text: string,
  { requireSignature }: { readonly requireSignature?: readonly string[] },
): Promise<void> {
  const { varDir } = loadConfig();
  const signedBy = requiredKeys(requireSignature);
  const name = findRelease(varDir, text);
  await activateSound(varDir, name, { signedBy });
  print(name);
}

/** Runs `situs dataset rollback`. */
export async function rollbackCommand(): Promise<void> {
  const { varDir } = loadConfig();
  const name = earlierRelease(varDir);
  await activateSound(varDir, name, { action: 'rollback' });
  print(name);
}

/** Names of the releases that jobs use which have not ended. */
async function inJobs(varDir: string): Promise<ReadonlySet<string>> {
  if (!hasStore({ varDir, storeUrl: loadConfig().storeUrl })) return new Set();
  return withStore(
    (store) =>
      new Set(
        listJobs(store)
          .filter(({ endedAt }) => endedAt === null)
          .map(({ dataset }) => dataset),
      ),
  );
}

/**
 * What a release was made of, or why that cannot be read: one damaged release must not keep the
 * others from being listed.
 */
type Made =
  | Readonly<Record<'areas' | 'streets', number> & { recipe: string }>
  | { readonly unread: string };

function madeOf(varDir: string, name: string): Made {
  try {
    const { recipe, counts } = readManifest(join(releasesDir(varDir), name));
    const { areas = 0, streets = 0 } = counts;
    return { recipe, areas, streets };
  } catch (error) {
    return { unread: (error as Error).message };
  }
}

function madeText(made: Made): string {
  if ('unread' in made) return made.unread;
  const { recipe, areas, streets } = made;
  return (
    `${recipe.padEnd(12)} ${String(areas).padStart(7)} tax areas  ` +
    `${String(streets).padStart(8)} street records`
  );
}

/**
 * Runs `situs dataset list`: all releases, and why each is kept. In JSON, `kept` is null where the
 * next prune removes the release, and `unread` says why one cannot be read.
 */
export async function listCommand({ json = false }: { readonly json?: boolean }): Promise<void> {
  const { varDir, keep } = loadConfig();
  const all = keepings(varDir, keep, await inJobs(varDir), Date.now());
  if (json) {
    const told = all.map(({ name, reason }) => ({ name, ...madeOf(varDir, name), kept: reason }));
    print(JSON.stringify(told, null, 1));
    return;
  }
  if (all.length === 0) {
    progress(
      `there is no dataset in ${varDir}, the folder that SITUS_VAR names; ` +
        'build one with: npx situs dataset build --activate',
    );
  }
  for (const { name, reason } of all) {
    print(`${name}  ${madeText(madeOf(varDir, name))}  ${reason ?? 'goes with the next prune'}`);
  }
}

/**
 * Runs `situs dataset prune`: removes the releases that there is no reason to keep, and names them.
 */
export async function pruneCommand({ list = false }: { readonly list?: boolean }): Promise<void> {
  const { varDir, keep } = loadConfig();
  const all = keepings(varDir, keep, await inJobs(varDir), Date.now());
  const gone = all.filter(({ reason }) => reason === null);
  if (!list) removeLeft(varDir);
  for (const { name } of gone) {
    if (!list) removeRelease(varDir, name);
    print(name);
  }
  progress(`${gone.length} of ${all.length} datasets ${list ? 'would go' : 'removed'}`);
}

/**
 * The options of the coverage of a release: of its lists, or with `population` or `weights` of its
 * ZIPs.
 */
interface CoverageAsked {
  readonly json?: boolean;
  readonly population?: boolean;
  /** A file with a weight for each ZIP. */
  readonly weights?: string;
}

/** Looks up every ZIP, which takes a few seconds, so that a bar shows the progress. */
async function populationCoverage(
  varDir: string,
  name: string,
  json: boolean,
  file: string | undefined,
): Promise<void> {
  // Loaded only here, since most of these commands need no engine.
  const [{ openDataset }, { Engine }, { zipCoverage, zipCoverageTable }, { readZipWeights }] =
    await Promise.all([
      import('../dataset/open.js'),
      import('../engine/engine.js'),
      import('../engine/release-survey.js'),
      import('./zip-weights.js'),
    ]);
  const weights = file === undefined ? null : await readZipWeights(file);
  const dataset = openDataset(await soundRelease(varDir, name));
  const progress = createProgress(process.stderr);
  const states = zipCoverage(
    new Engine(dataset),
    dataset,
    Date.now(),
    (done, total) => progress('ZIPs', done, total),
    weights,
  );
  dataset.close();
  print(json ? JSON.stringify(states, null, 1) : zipCoverageTable(states));
}

/** Runs `situs dataset coverage [RELEASE]`. */
export async function coverageCommand(
  text: string | undefined,
  { json = false, population = false, weights }: CoverageAsked,
): Promise<void> {
  const { varDir } = loadConfig();
  const name = chosen(varDir, text);
  if (population || weights !== undefined) return populationCoverage(varDir, name, json, weights);
  const states: readonly CoverageState[] = readManifest(join(releasesDir(varDir), name)).coverage;
  print(json ? JSON.stringify(states, null, 1) : coverageTable(states));
}
