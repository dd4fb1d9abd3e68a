/**
 * Runs test files with node:test. On request, files that failed run once more by themselves, so
 * that none fails because the machine was busy. This module is also the reporter that lists the
 * failed files.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepTimes, keptTimes, readTimes, timesReport } from './file-times.js';
import { OVER_NODE_ENDING, planOf, type Unit } from './plan.js';
import type { RunOrder } from './run-files.js';
import { programOf } from './together.js';

/**
 * Many tests wait for a process, a clock or a disk: with four at once, two cores were idle for a
 * fifth of the time.
 */
const AT_ONCE_MIN = 6;
/**
 * Makes V8 of Node.js 20 optimize a function only after it has run nine times as much as the
 * default of 67,584. Most test processes end before optimizing has paid for itself, and those that
 * only calculate take up to a fifth less processor time. Later versions of V8 have no such option.
 */
export const LATER_OPTIMIZED: readonly string[] = process.versions.v8.startsWith('11.3.')
  ? ['--interrupt-budget=600000']
  : [];
/**
 * Test processes allocate and drop much in a short life. With more room for new objects, collecting
 * takes a tenth less processor time.
 */
const NODE_OPTIONS_OF_TESTS: readonly string[] = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=64',
  ...LATER_OPTIMIZED,
];
/**
 * No file takes as long even on the slowest machine. One that hangs fails after this time, and the
 * run ends.
 */
const FILE_MS_MAX = 1_800_000;
/** The exit code of node when tests failed. */
const FAILED = 1;
/** The last line of the reporter; without it, the run was interrupted. */
const END = 'end';

interface TestRun {
  /** The folder that `files` are below. */
  readonly root: string;
  /** Options of node --test. */
  readonly options: readonly string[];
  /** Paths below the root, or absolute ones. */
  readonly files: readonly string[];
  /** Whether files that failed are run once more. */
  readonly again: boolean;
  /** Whether the HTTP server of Node.js is used instead of the native one. */
  readonly overNode?: boolean;
  /** Files that also run over that server, in the same run. */
  readonly overNodeToo?: readonly string[];
  /**
   * The folder of compiled tests below the root, if files may share processes; otherwise none does.
   */
  readonly together?: string;
}

interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly file?: string;
    readonly todo?: string | boolean;
  };
}

/**
 * A reporter for node --test. It writes a line for each test that failed, with the path of its file
 * and its name in JSON, even if the file ended before its tests did; and at the end a line "end".
 */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there alone
export default async function* failedFiles(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const {
    type,
    data: { name, file, todo },
  } of events) {
    const expected = todo !== undefined && todo !== false;
    if (type === 'test:fail' && !expected && file !== undefined) {
      yield `${JSON.stringify([file, name])}\n`;
    }
  }
  yield `${END}\n`;
}

/**
 * Node.js 20 reads the certificates of NODE_EXTRA_CA_CERTS at each start, needed or not; those of a
 * whole system take two thirds of the time of an empty process. So tests pass them on only to
 * programs that ask a registry.
 */
const AUTHORITIES_OF_NPM = 'SITUS_TEST_AUTHORITIES';
/**
 * A module that keeps the native server from loading, in tests and in all processes that they
 * start.
 */
const OVER_NODE = new URL('../test/support/node-transport.js', import.meta.url).href;
const REPORT_TIME = new URL('./report-time.js', import.meta.url).href;
const RUN_FILES = fileURLToPath(new URL('./run-files.js', import.meta.url));

/** Runs the files in the order given, and returns the exit code. `dir` is a folder of this run. */
function nodeTest(
  { root, overNode = false }: TestRun,
  options: readonly string[],
  dir: string,
  files: readonly string[],
): number | null {
  const order: RunOrder = {
    files,
    atOnceMin: AT_ONCE_MIN,
    fileMsMax: FILE_MS_MAX,
    times: join(dir, 'times'),
  };
  writeFileSync(join(dir, 'order.json'), JSON.stringify(order));
  const { NODE_OPTIONS = '', NODE_EXTRA_CA_CERTS: authorities, ...given } = process.env;
  const imported = overNode ? `${NODE_OPTIONS} --import=${OVER_NODE}`.trimStart() : NODE_OPTIONS;
  const env = {
    ...given,
    ...(imported === '' ? {} : { NODE_OPTIONS: imported }),
    ...(authorities === undefined ? {} : { [AUTHORITIES_OF_NPM]: authorities }),
  };
  return spawnSync(
    process.execPath,
    [
      ...NODE_OPTIONS_OF_TESTS,
      `--import=${REPORT_TIME}`,
      ...options,
      RUN_FILES,
      join(dir, 'order.json'),
    ],
    { cwd: root, stdio: 'inherit', env },
  ).status;
}

/** The reporters that would be used without the additional one, and that one. */
function reportersOf(options: readonly string[], told: string): readonly string[] {
  const has = (name: string): boolean =>
    options.some((option) => option.startsWith(`--test-${name}=`));
  return [
    ...(has('reporter') ? [] : [`--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`]),
    ...(has('reporter-destination') ? [] : ['--test-reporter-destination=stdout']),
    `--test-reporter=${import.meta.url}`,
    `--test-reporter-destination=${told}`,
  ];
}

/** The name of a file in the process of a unit. */
function calledIn({ overNode }: Unit, file: string): string {
  return overNode ? file + OVER_NODE_ENDING : file;
}

/**
 * The beginning of a program that uses the HTTP server of Node.js, as do processes that it starts.
 */
const BEGIN_OVER_NODE = `import ${JSON.stringify(OVER_NODE)};
const { NODE_OPTIONS: given = '' } = process.env;
process.env.NODE_OPTIONS = \`\${given} --import=${OVER_NODE}\`.trimStart();
`;

/**
 * The file that a unit's process runs: the test file itself, or a program in `dir` that runs all
 * files of the unit.
 */
function entryOf(root: string, dir: string, unit: Unit, index: number): string {
  const paths = unit.files.map((file) => resolve(root, file));
  if (paths.length === 1 && !unit.overNode) return paths[0]!;
  const path = join(dir, `together-${index}.mjs`);
  writeFileSync(
    path,
    (unit.overNode ? BEGIN_OVER_NODE : '') +
      programOf(
        paths,
        unit.files.map((file) => calledIn(unit, file)),
      ),
  );
  return path;
}

/** A file that failed, and whether it failed over the HTTP server of Node.js. */
interface Failed {
  readonly path: string;
  readonly overNode: boolean;
}

/** The files that the lines of the reporter are about. */
function filesOf(
  root: string,
  entries: ReadonlyMap<string, Unit>,
  lines: readonly string[],
): readonly Failed[] {
  const found = lines.flatMap((line): readonly Failed[] => {
    const [file, name] = JSON.parse(line) as [string, string];
    const unit = entries.get(file);
    // The line is about a test in a program. The suite of its file failed as well, and has a line
    // of its own.
    if (unit === undefined) return [];
    // The line is about the suite of one file; or the program as a whole ended.
    const own = unit.files.filter((each) => calledIn(unit, each) === name);
    return (own.length > 0 ? own : unit.files).map((each) => ({
      path: resolve(root, each),
      overNode: unit.overNode,
    }));
  });
  const unique = new Map(found.map((each) => [`${each.path}\0${each.overNode}`, each]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** The processes of a run with their files, in the order in which they begin. */
function unitsOf({ root, files, overNodeToo = [], together }: TestRun): readonly Unit[] {
  if (together !== undefined) return planOf(root, together, files, keptTimes(root), overNodeToo);
  const alone =
    (overNode: boolean) =>
    (file: string): Unit => ({
      name: overNode ? file + OVER_NODE_ENDING : file,
      files: [file],
      overNode,
    });
  return [...files.map(alone(false)), ...overNodeToo.map(alone(true))];
}

/**
 * Runs all files. Returns the exit code and the files that failed; none if the run was interrupted.
 */
function runAll(run: TestRun, dir: string): readonly [number | null, readonly Failed[]] {
  const { root, options, together } = run;
  const entries = new Map(
    unitsOf(run).map((unit, index) => [entryOf(root, dir, unit, index), unit]),
  );
  const told = join(dir, 'failed');
  const begun = performance.now();
  const status = nodeTest(run, [...options, ...reportersOf(options, told)], dir, [
    ...entries.keys(),
  ]);
  const times = readTimes(join(dir, 'times'), (file) => entries.get(file)?.name ?? file);
  if (together !== undefined) {
    keepTimes(root, times);
    process.stdout.write(timesReport(times, performance.now() - begun));
  }
  if (status !== FAILED) return [status, []];
  const lines = readFileSync(told, 'utf8').trimEnd().split('\n');
  return [status, lines.at(-1) === END ? filesOf(root, entries, lines.slice(0, -1)) : []];
}

/** Runs one file by itself, and returns whether it passed. */
function passesAlone(run: TestRun, dir: string, { path, overNode }: Failed): boolean {
  const server = overNode ? { overNode } : {};
  return nodeTest({ ...run, ...server }, run.options, dir, [path]) === 0;
}

/** Runs the files and returns the exit code: 0 when each passed, even if only the second time. */
export function runTests(run: TestRun): number {
  const dir = mkdtempSync(join(tmpdir(), 'situs-tests-'));
  try {
    const [status, failed] = runAll(run, dir);
    if (failed.length === 0 || !run.again) return status ?? FAILED;
    const lines = failed.map((file) => {
      const passed = passesAlone(run, dir, file);
      const name = relative(run.root, file.path) + (file.overNode ? OVER_NODE_ENDING : '');
      return {
        passed,
        line: `${name} failed once, ${
          passed ? 'passed when run alone' : 'and again when run alone'
        }\n`,
      };
    });
    process.stdout.write(lines.map(({ line }) => line).join(''));
    return lines.every(({ passed }) => passed) ? 0 : FAILED;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
