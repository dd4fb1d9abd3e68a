/**
 * Keeps what V8 makes of a bundle, so that processes and threads of a test run need not parse it
 * again: of a start, that is a third of the processor time.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a process keeps: the code of its `main` thread, or that of its `worker` threads. */
export const KEEP = 'KEEP_CODE_OF_THREAD';
/** The module that loads a bundle with what is kept of it. */
const LOADER = 'load.js';
/** The ending of a bundle; its loader has the name without it. */
export const BUNDLE_ENDING = '.bundle';
/** What stands before and after a bundle's modules, which are CommonJS. */
export const BUNDLE_HEAD = '(function (exports, require, module, __filename) {';
export const BUNDLE_TAIL = '})';

/**
 * V8 takes code only from a process with the same options, and its tag tells them; so there may be
 * several files for a bundle. A main thread that changes options keeps its code as if it had not.
 * A worker's thread never ends by itself, so its code is kept as soon as it is loaded. Where a test
 * has V8 count what is run, functions have to be compiled for it.
 */
const LOADER_TEXT = `'use strict';
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const v8 = require('node:v8');
const { Script } = require('node:vm');
const { isMainThread, threadId } = require('node:worker_threads');

exports.load = (module) => {
  const path = module.filename + '${BUNDLE_ENDING}';
  const kept = path + '.' + v8.cachedDataVersionTag();
  let cachedData;
  try {
    if (!process.env.NODE_V8_COVERAGE) cachedData = readFileSync(kept);
  } catch {}
  const keeps = process.env.${KEEP} === (isMainThread ? 'main' : 'worker');
  if (keeps && isMainThread) v8.setFlagsFromString = () => undefined;
  const filename = pathToFileURL(path).href;
  const script = new Script(readFileSync(path, 'utf8'), { filename, cachedData });
  script.runInThisContext()(module.exports, module.require.bind(module), module, module.filename);
  if (!keeps) return;
  const keep = () => {
    const part = kept + '.' + process.pid + '.' + threadId;
    writeFileSync(part, script.createCachedData());
    renameSync(part, kept);
  };
  if (isMainThread) process.on('exit', keep);
  else keep();
};
`;

/** Writes the module with which `writeLoader` loads bundles of the folder. */
export function writeLoading(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}\n');
  writeFileSync(join(folder, LOADER), LOADER_TEXT);
}

/** Writes what loads the bundle at `path` + BUNDLE_ENDING. */
export function writeLoader(folder: string, path: string): void {
  const loader = JSON.stringify(join(folder, LOADER));
  writeFileSync(path, `'use strict';\nrequire(${loader}).load(module);\n`);
}

/** An address of the recipe `fixture`. */
const ADDRESS = '120 Main St, Elmton, QA 91010';
const RECIPE = 'fixture';

/** A bundled program, the options of its processes, and their environment. */
interface Started {
  readonly folder: string;
  readonly options: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function command({ folder, options, env }: Started, args: readonly string[]): void {
  execFileSync(process.execPath, [...options, join(folder, 'cli.js'), ...args], {
    env,
    stdio: 'ignore',
  });
}

async function service({ folder, options, env }: Started): Promise<void> {
  const child = spawn(process.execPath, [...options, join(folder, 'main.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill();
  await ended;
}

/** The name of what tells which bundles the kept code is of. */
const KEPT_OF = 'kept-of';
/** The folder below the bundles in which the programs that are started work. */
const WORK = 'work';
const KEPT_CODE = /\.bundle\.\d+$/;

/** Tells bundles, the loader and lists of options apart from all others. */
function digestOf(folder: string, files: readonly string[], optionLists: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify([process.version, optionLists]));
  for (const file of files) digest.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return digest.digest('hex');
}

/**
 * Keeps the code of the bundles in `folder` for processes with each of these lists of options, by
 * starting the command and the service with a small dataset. Code that is kept of the same bundles
 * stays.
 */
export async function keepCode(
  folder: string,
  optionLists: readonly (readonly string[])[],
): Promise<void> {
  const work = join(folder, WORK);
  // An interrupt may have left it.
  rmSync(work, { recursive: true, force: true });
  const files = readdirSync(folder, { recursive: true }).map(String).sort();
  const bundles = files.filter((file) => file.endsWith(BUNDLE_ENDING) || file === LOADER);
  const digest = digestOf(folder, bundles, optionLists);
  const told = join(folder, KEPT_OF);
  if (existsSync(told) && readFileSync(told, 'utf8') === digest) return;
  rmSync(told, { force: true });
  // V8 would take them for other bundles of the same length.
  for (const file of files.filter((each) => KEPT_CODE.test(each))) rmSync(join(folder, file));
  try {
    for (const [index, options] of optionLists.entries()) {
      await keepCodeFor({ folder, dir: join(work, String(index)), options });
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  writeFileSync(told, digest);
}

/** The bundled programs, a folder for what they write, and the options of their processes. */
interface Kept {
  readonly folder: string;
  readonly dir: string;
  readonly options: readonly string[];
}

async function keepCodeFor({ folder, dir, options }: Kept): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const rows = join(dir, 'rows.csv');
  writeFileSync(rows, `id,address\n1,"${ADDRESS}"\n`);
  const { NODE_OPTIONS: _, ...given } = process.env;
  const env = { ...given, SITUS_VAR: join(dir, 'var'), SITUS_LOG: 'error', PORT: '0' };
  for (const keep of ['main', 'worker']) {
    const started: Started = { folder, options, env: { ...env, [KEEP]: keep } };
    if (keep === 'main') {
      command(started, ['dataset', 'build', '--recipe', RECIPE, '--activate']);
      command(started, ['lookup', ADDRESS]);
    }
    command(started, ['bulk', rows, '--quiet']);
    await service(started);
  }
}
