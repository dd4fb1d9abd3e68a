/** `situs dataset …`: everything about releases. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.js';
import { readManifest, type CoverageState } from '../dataset/manifest.js';
import {
  activateRelease, currentRelease, findRelease, listReleases, previousRelease, releasesDir,
  rollbackRelease,
} from '../dataset/release.js';
import { buildDataset } from '../ingest/build.js';
import { coverageTable } from '../ingest/coverage-table.js';
import { createProgress } from '../ingest/progress.js';
import { verifyRelease } from '../ingest/verify.js';
import { temporaryDir } from '../ingest/writer.js';
import { makeFolder } from '../store/folder.js';
import { diffCommand } from './dataset-diff.js';
import { fetchCommand } from './dataset-fetch.js';
import { requireRecipe } from './recipe-names.js';
import { refuseExtra, UsageError } from './usage.js';

export const USAGE =
  `situs dataset build [--recipe NAME] [--sources DIR] [--with LAYER]… [--activate]
                                    make a release; NAME is default unless given
situs dataset verify [RELEASE]      check a release byte for byte (the active one by default)
situs dataset activate RELEASE      make it the one that answers
situs dataset rollback              go back to the one before
situs dataset list                  all releases
situs dataset diff A B [--date YYYY-MM-DD] [--json]
                                    what has another rate in B than in A, today or on a day
situs dataset coverage [RELEASE] [--json]
                                    what is known, per state
situs dataset fetch --to DIR [--recipe NAME | --downloads FILE] [--only TEXT]… [--again] [--list]
                                    get publishers' files; --list says which and from where;
                                    NAME is reference unless given
`;

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Set in the process that builds; the one the user started watches it. */
const BUILDER = '--in-this-process';
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Builds in a process of its own: its memory goes back, and an interrupt is heard although the
 * builder computes without a pause. Nothing of an interrupted build is left.
 */
async function superviseBuild(args: readonly string[]): Promise<number> {
  const { varDir } = loadConfig();
  const child = spawn(process.execPath,
    [...process.execArgv, process.argv[1]!, 'dataset', 'build', BUILDER, ...args],
    { stdio: ['ignore', 'inherit', 'inherit'] });
  let interrupted = 0;
  for (const [signal, code] of Object.entries(SIGNAL_CODES)) {
    process.once(signal, () => {
      interrupted = code;
      child.kill('SIGKILL');
    });
  }
  const [code] = await once(child, 'exit') as [number | null];
  if (child.pid !== undefined && code !== 0) {
    const temporary = temporaryDir(varDir, child.pid);
    // Removing what lies below a file would be a fault of its own.
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true });
  }
  if (interrupted > 0) process.stderr.write('\nbuild interrupted, nothing was left behind\n');
  return interrupted > 0 ? interrupted : code ?? 1;
}

async function build(args: readonly string[]): Promise<number> {
  if (args[0] !== BUILDER) return superviseBuild(args);
  const { values } = parseArgs({
    args: args.slice(1),
    options: {
      recipe: { type: 'string', default: 'default' },
      sources: { type: 'string' },
      with: { type: 'string', multiple: true, default: [] },
      activate: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
    },
  });
  requireRecipe(values.recipe);
  const { varDir } = loadConfig();
  makeFolder(releasesDir(varDir), 'SITUS_VAR');
  const name = await buildDataset({
    varDir,
    recipe: values.recipe,
    sources: values.sources === undefined ? null : resolve(values.sources),
    layers: values.with,
    progress: values.quiet ? () => undefined : createProgress(process.stderr),
    report: (line) => process.stderr.write(`${line}\n`),
  });
  const problems = await verifyRelease(join(releasesDir(varDir), name));
  if (problems.length > 0) {
    process.stderr.write(`dataset ${name} is not sound:\n${problems.join('\n')}\n`);
    return 1;
  }
  if (values.activate) activateRelease(varDir, name);
  print(name);
  return 0;
}

/** The words of a command without options. */
function wordsOf(args: readonly string[], taken: number): readonly string[] {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  refuseExtra(positionals, taken);
  return positionals;
}

function chosen(varDir: string, text: string | undefined): string {
  if (text !== undefined) return findRelease(varDir, text);
  const current = currentRelease(varDir);
  if (current === null) throw new Error('no dataset is active; see: npx situs dataset list');
  return current;
}

async function verify(varDir: string, args: readonly string[]): Promise<number> {
  const [text] = wordsOf(args, 1);
  const name = text !== undefined && existsSync(text)
    ? text
    : join(releasesDir(varDir), chosen(varDir, text));
  const problems = await verifyRelease(name);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  print(problems.length === 0 ? `${name}: sound` : `${name}: ${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

function list(varDir: string): number {
  const current = currentRelease(varDir);
  const previous = previousRelease(varDir);
  const names = listReleases(varDir);
  if (names.length === 0) {
    process.stderr.write(`there is no dataset in ${varDir}, the folder that SITUS_VAR names\n`);
  }
  for (const name of names) {
    const { recipe, counts } = readManifest(join(releasesDir(varDir), name));
    const mark = name === current ? 'active' : name === previous ? 'previous' : '';
    print(`${name}  ${recipe.padEnd(12)} ${String(counts['areas'] ?? 0).padStart(7)} tax areas  ` +
      `${String(counts['streets'] ?? 0).padStart(8)} street records  ${mark}`.trimEnd());
  }
  return 0;
}

function coverage(varDir: string, args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true, options: { json: { type: 'boolean', default: false } },
  });
  refuseExtra(positionals, 1);
  const name = chosen(varDir, positionals[0]);
  const states: readonly CoverageState[] =
    readManifest(join(releasesDir(varDir), name)).coverage;
  print(values.json ? JSON.stringify(states, null, 1) : coverageTable(states));
  return 0;
}

/** Runs `situs dataset ARGS`. */
export async function datasetCommand(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  const { varDir } = loadConfig();
  switch (verb) {
    case 'build':
      return build(rest);
    case 'verify':
      return verify(varDir, rest);
    case 'activate': {
      const [text] = wordsOf(rest, 1);
      if (text === undefined) throw new UsageError('activate which dataset? name it');
      const name = findRelease(varDir, text);
      activateRelease(varDir, name);
      print(name);
      return 0;
    }
    case 'rollback':
      wordsOf(rest, 0);
      print(rollbackRelease(varDir));
      return 0;
    case 'list':
      wordsOf(rest, 0);
      return list(varDir);
    case 'diff':
      return diffCommand(varDir, rest);
    case 'coverage':
      return coverage(varDir, rest);
    case 'fetch':
      return fetchCommand(rest);
    default:
      throw new UsageError(`no such dataset command\n\n${USAGE}`);
  }
}
