/**
 * `situs dataset update`: gets what publishers have changed, builds a release of it and activates
 * it. An interrupted run leaves the results of each step for the next run.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { loadConfig } from '../config.js';
import { readManifest } from '../dataset/manifest.js';
import {
  activateRelease,
  activeRelease,
  currentFile,
  listReleases,
  releasesDir,
} from '../dataset/release.js';
import { OPTIONAL_LAYERS } from '../ingest/build.js';
import { FileSums } from '../ingest/file-sums.js';
import type { HeldRecipe } from '../ingest/held-recipe.js';
import { inputHash } from '../ingest/inputs.js';
import { partsDir, releaseMadeOf } from '../ingest/part-cache.js';
import { layerLabel, readLayers } from '../ingest/layer/layer-files.js';
import type { Wanted } from '../ingest/publisher/catalogue.js';
import { readRecipe } from '../ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../ingest/source-files.js';
import { auditRelease } from './open-store.js';
import { askedFor, fetchSources } from './catalogue-fetch.js';
import { superviseBuild } from './dataset-build.js';
import { findingsBeside, releaseBefore, tellFindings } from './findings.js';
import { print, progress, UsageError } from './command-line.js';
import { hasRecipe, requireRecipe } from './recipe-names.js';
import { releaseSummary } from './dataset-diff.js';
import { activateSound, requiredKeys, soundRelease } from './sound-release.js';

/** Exit code where some files could not be got; others are 0, 1 and those of signals. */
const SOME_NOT_GOT = 3;
const WAITS = 4;
const INTERRUPTED = 130;

interface UpdateAsked {
  readonly all?: boolean;
  readonly mirror?: string;
  readonly sources?: string;
  readonly recipe?: string;
  /** Files of the operator's own layers. */
  readonly layer?: readonly string[];
  readonly workers?: number;
  /** File of the private key that signs the release. */
  readonly sign?: string;
  readonly yes?: boolean;
  readonly quiet?: boolean;
}

interface Plan {
  readonly varDir: string;
  /** The active release; null where there is none yet. */
  readonly active: string | null;
  readonly recipe: string;
  readonly layers: readonly string[];
  /** Names of the operator's own layers. */
  readonly own: readonly string[];
  /** Folder of publishers' files. */
  readonly sources: string;
}

/** What to do: the recipe that is asked for, or that of the active release with its layers. */
async function planOf(asked: UpdateAsked): Promise<Plan> {
  const { varDir } = loadConfig();
  // A first update that was killed may have built a release without activating it.
  const active = existsSync(currentFile(varDir)) ? activeRelease(varDir) : null;
  const known = active ?? listReleases(varDir).at(-1) ?? null;
  const sources = resolve(asked.sources ?? join(varDir, 'sources'));
  const [own = 'default', ...layers] =
    known === null || asked.recipe !== undefined
      ? [asked.recipe ?? 'default']
      : readManifest(join(releasesDir(varDir), known)).recipe.split('+');
  if (asked.recipe === undefined && known !== null && !hasRecipe(own)) {
    throw new UsageError(
      `the active release is made by the recipe "${own}", which is not one of ` +
        'the program: say which with --recipe PATH.json',
    );
  }
  requireRecipe(own);
  const laid = (await readLayers(asked.layer ?? [])).map(({ name }) => name);
  const optional = layers.filter((name) => (OPTIONAL_LAYERS as readonly string[]).includes(name));
  const lost = layers.find(
    (name) => !optional.includes(name) && !laid.some((each) => layerLabel(each) === name),
  );
  if (lost !== undefined) {
    throw new UsageError(
      `the active release has the ${lost.replace(':', ' ')}: say where its ` +
        'table is with --layer FILE, or leave it out by naming the recipe with --recipe',
    );
  }
  return { varDir, active, recipe: own, layers: optional, own: laid, sources };
}

/** Whether a recipe reads a source. */
function reads({ keys }: HeldRecipe, { key, source, state }: Wanted): boolean {
  return keys.includes(key) || (state !== '' && keys.includes(`${source.name}/{state}`));
}

/**
 * Gets files that are new. Null when interrupted; otherwise the keys of those that could not be
 * got.
 */
async function fetchNew(
  { sources, recipe }: Plan,
  states: readonly string[],
  asked: UpdateAsked,
): Promise<readonly string[] | null> {
  const { all = false, mirror = null, quiet = false } = asked;
  const own = readRecipe(recipe, sources);
  const named = states.length > 0 || all;
  const wanted = askedFor({ sources: [], states, all }).filter((one) =>
    named ? !all || one.source.reader != null || one.source.pages != null : reads(own, one),
  );
  const { failed, interrupted } = await fetchSources(
    {
      to: sources,
      sources: [],
      states,
      all,
      again: false,
      quiet,
      mirror,
    },
    wanted,
  );
  if (interrupted) return null;
  const unread = wanted
    .filter((one) => one.find !== null && !reads(own, one) && !failed.includes(one.key))
    .map(({ key }) => key);
  if (unread.length > 0) print(`the recipe ${recipe} does not read: ${unread.join(', ')}`);
  return failed;
}

/** Whether a release has layers of the operator's; true for one that cannot be read. */
function hasOwnLayers(varDir: string, name: string): boolean {
  try {
    const [, ...layers] = readManifest(join(releasesDir(varDir), name)).recipe.split('+');
    return !layers.every((layer) => (OPTIONAL_LAYERS as readonly string[]).includes(layer));
  } catch {
    return true;
  }
}

/**
 * Name of the release that the files make, which is built if it does not exist. Where that fails,
 * the name is "" and there is an exit code.
 */
async function releaseOf(
  plan: Plan,
  asked: UpdateAsked,
): Promise<{ readonly code: number; readonly name: string }> {
  const { varDir, recipe, sources, layers } = plan;
  const own = readRecipe(recipe, sources);
  const sums = new FileSums(partsDir(varDir));
  const hash = inputHash(
    own,
    new SourceFiles(join(datasetsDir(), own.recipe.facts), sources, sums),
    layers,
  );
  sums.write();
  // The hash of inputs does not include an operator's layers. With any, only building tells whether
  // something has changed.
  const plain = listReleases(varDir).filter((name) => !hasOwnLayers(varDir, name));
  const made = releaseMadeOf(varDir, hash, plain);
  if (made !== null && plan.own.length === 0) return { code: 0, name: made };
  return superviseBuild(
    [
      '--recipe',
      recipe,
      '--sources',
      sources,
      '--keep-parts',
      '--without-findings',
      ...layers.flatMap((layer) => ['--with', layer]),
      ...(asked.layer ?? []).flatMap((file) => ['--layer', file]),
      ...(asked.workers === undefined ? [] : ['--workers', String(asked.workers)]),
      ...(asked.sign === undefined ? [] : ['--sign', resolve(asked.sign)]),
      ...(asked.quiet === true ? ['--quiet'] : []),
    ],
    true,
  );
}

/** Asks at the terminal. Only a yes counts as one; Ctrl-C and the end of the input do not. */
async function agreed(name: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.once('SIGINT', () => lines.close());
  // A question that waits for an answer does not notice the end of the input.
  const ended = once(lines, 'close').then(() => '');
  try {
    const answered = lines.question(`let ${name} answer? [y/N] `);
    const answer = await Promise.race([answered.catch(() => ''), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

const WRONG = '; what it says cannot be right';

/**
 * Whether there is a release to compare with. Reports where there are only ones that cannot be
 * compared.
 */
function isCompared({ varDir, active }: Plan, name: string): boolean {
  if (active === null || releaseBefore(varDir, join(releasesDir(varDir), name)) !== null)
    return true;
  progress(
    `whether lists have lost rows cannot be told: ${active} and the release before it have ` +
      `another recipe, or layers that ${name} has not; see: ` +
      `npx situs dataset diff ${active} ${name}`,
  );
  return false;
}

/** Whether a release has no finding that could make an answer wrong. */
async function isPlausible({ varDir }: Plan, dir: string): Promise<boolean> {
  const findings = await findingsBeside(varDir, dir, null);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (findings.length === 0) return true;
  progress(
    `${tellFindings(errors, findings)}${errors.length > 0 ? WRONG : ''}; see: ` +
      'npx situs dataset verify',
  );
  return errors.length === 0;
}

async function activate(plan: Plan, name: string, asked: UpdateAsked): Promise<boolean> {
  const { varDir } = plan;
  const compared = isCompared(plan, name);
  const plausible = (await isPlausible(plan, join(releasesDir(varDir), name))) && compared;
  const asks = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const said = asked.yes === true ? plausible : asks && (await agreed(name));
  if (!said) {
    print(
      `${name} is built and verified, and waits; to let it answer: ` +
        `npx situs dataset activate ${name}`,
    );
    return false;
  }
  if (requiredKeys().length > 0) await activateSound(varDir, name, { quiet: asked.quiet ?? false });
  else {
    // The release was checked completely before.
    await auditRelease(varDir, 'release.activate', name);
    activateRelease(varDir, name);
  }
  print(`${name} answers`);
  return true;
}

/** Runs `situs dataset update [STATES...]`; its help tells the exit codes. */
export async function updateCommand(
  states: readonly string[],
  asked: UpdateAsked,
): Promise<number> {
  const plan = await planOf(asked);
  const { varDir, active } = plan;
  const failed = await fetchNew(plan, states, asked);
  if (failed === null) return INTERRUPTED;
  const done = failed.length === 0 ? 0 : SOME_NOT_GOT;
  const { code, name } = await releaseOf(plan, asked);
  if (code !== 0) return code;
  if (name === active) {
    print(`nothing has changed: ${name} is what these files make`);
    return done;
  }
  const dir = await soundRelease(varDir, name);
  if (active !== null) {
    print(`${active} -> ${name}`);
    print(releaseSummary(await soundRelease(varDir, active), dir, new Date()));
  }
  return (await activate(plan, name, asked)) ? done : WAITS;
}
