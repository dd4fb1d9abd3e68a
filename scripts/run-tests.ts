/**
 * Runs test files with node --test, and those that failed once more when that is wished: alone, so
 * that a loaded machine fails none. This module is also the reporter that tells which failed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Many tests wait for a process, a clock or a disk, so that three share even two cores well. */
const AT_ONCE_MIN = 3;
/** No file takes as long on the slowest machine: what hangs fails, and the run ends. */
const FILE_MS_MAX = 1_800_000;
/** What node exits with when tests failed. */
const FAILED = 1;
/** Ends what the reporter writes: without it the run itself broke off. */
const END = 'end';

export interface TestRun {
  /** Folder the files are below. */
  readonly root: string;
  /** Options of node --test. */
  readonly options: readonly string[];
  readonly files: readonly string[];
  /** Whether files that failed are run once more. */
  readonly again: boolean;
  /** Where the HTTP server of Node.js answers, whichever else could. */
  readonly overNode?: boolean;
}

interface TestEvent {
  readonly type: string;
  readonly data: { readonly file?: string; readonly todo?: string | boolean };
}

/**
 * A reporter for node --test: a line for each test that failed, with the path of its file, also
 * where the file ended before its tests did; then a line "end".
 */
// biome-ignore lint/style/noDefaultExport: node --test takes a reporter from there alone
export default async function* failedFiles(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    const expected = data.todo !== undefined && data.todo !== false;
    if (type === 'test:fail' && !expected && data.file !== undefined) yield `${data.file}\n`;
  }
  yield `${END}\n`;
}

/** Keeps the native server from loading, in tests and in all processes that they start. */
const OVER_NODE = new URL('../test/support/node-transport.js', import.meta.url).href;

function nodeTest(
  { root, overNode = false }: TestRun, options: readonly string[], files: readonly string[],
): number | null {
  const limit = `--test-timeout=${FILE_MS_MAX}`;
  const { NODE_OPTIONS = '' } = process.env;
  const env = overNode
    ? { ...process.env, NODE_OPTIONS: `${NODE_OPTIONS} --import=${OVER_NODE}`.trimStart() }
    : process.env;
  return spawnSync(process.execPath, ['--test', limit, ...options, ...files],
    { cwd: root, stdio: 'inherit', env }).status;
}

/** What is reported as it would be without a second reporter. */
function reportersOf(options: readonly string[], told: string): readonly string[] {
  const has = (name: string): boolean =>
    options.some((option) => option.startsWith(`--test-${name}=`));
  return [
    ...(has('reporter') ? [] : [`--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`]),
    ...(has('reporter-destination') ? [] : ['--test-reporter-destination=stdout']),
    `--test-reporter=${import.meta.url}`, `--test-reporter-destination=${told}`,
  ];
}

/** Exit code of the run and the files that failed; of a run that broke off, none. */
function runAll(run: TestRun, atOnce: string): readonly [number | null, readonly string[]] {
  const { options, files } = run;
  const dir = mkdtempSync(join(tmpdir(), 'situs-failed-'));
  try {
    const told = join(dir, 'files');
    const status = nodeTest(run, [atOnce, ...options, ...reportersOf(options, told)], files);
    if (status !== FAILED) return [status, []];
    const lines = readFileSync(told, 'utf8').trimEnd().split('\n');
    return [status, lines.at(-1) === END ? [...new Set(lines.slice(0, -1))].sort() : []];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Runs the files and returns the exit code: 0 when each passed, be it the second time. */
export function runTests(run: TestRun): number {
  const { root, options, files, again } = run;
  const atOnce = `--test-concurrency=${Math.max(AT_ONCE_MIN, availableParallelism())}`;
  if (!again) return nodeTest(run, [atOnce, ...options], files) ?? FAILED;
  const [status, failed] = runAll(run, atOnce);
  if (failed.length === 0) return status ?? FAILED;
  const lines = failed.map((file) => {
    const passed = nodeTest(run, options, [file]) === 0;
    return { passed, line: `${relative(root, file)} failed once, ${
      passed ? 'passed when run alone' : 'and again when run alone'}\n` };
  });
  process.stdout.write(lines.map(({ line }) => line).join(''));
  return lines.every(({ passed }) => passed) ? 0 : FAILED;
}
