/**
 * Runs test files with node:test, and those that failed once more when that is wished: alone, so
 * that a loaded machine fails none. This module is also the reporter that tells which failed.
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

/** Many tests wait for a process, a clock or a disk: with four, two cores had nothing to do for a fifth of the time. */
const AT_ONCE_MIN = 6;
/**
 * V8 of Node.js 20 optimizes a function here when it has run nine times as much as it would wait for by
 * itself, 67,584: most processes of tests end before that has paid, and those that only calculate take
 * up to a fifth less processor time. Later V8 has no such option.
 */
const LATER_OPTIMIZED = process.versions.v8.startsWith('11.3.')
  ? ['--interrupt-budget=600000']
  : [];
/**
 * Test processes make and drop much in a short life: with more room for what is new it is looked
 * through a tenth less often, by the time of processors.
 */
const NODE_OPTIONS_OF_TESTS: readonly string[] = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=64',
  ...LATER_OPTIMIZED,
];
/** No file takes as long on the slowest machine: what hangs fails, and the run ends. */
const FILE_MS_MAX = 1_800_000;
/** What node exits with when tests failed. */
const FAILED = 1;
/** Ends what the reporter writes: without it the run itself broke off. */
const END = 'end';

interface TestRun {
  /** Folder the files are below. */
  readonly root: string;
  /** Options of node --test. */
  readonly options: readonly string[];
  /** Below the root, or absolute. */
  readonly files: readonly string[];
  /** Whether files that failed are run once more. */
  readonly again: boolean;
  /** Where the HTTP server of Node.js answers, whichever else could. */
  readonly overNode?: boolean;
  /** Of the files, those that run once more, over that server, among the others. */
  readonly overNodeToo?: readonly string[];
  /** The folder of compiled tests below the root, whose files may share processes; else none does. */
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
 * A reporter for node --test: a line for each test that failed, with the path of its file and its
 * name in JSON, also where the file ended before its tests did; then a line "end".
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
 * Node.js 20 reads the certificates of NODE_EXTRA_CA_CERTS at each start, needed or not: those of a
 * whole system are two thirds of an empty process. Tests give them to what asks a registry alone.
 */
const AUTHORITIES_OF_NPM = 'SITUS_TEST_AUTHORITIES';
/** Keeps the native server from loading, in tests and in all processes that they start. */
const OVER_NODE = new URL('../test/support/node-transport.js', import.meta.url).href;
const REPORT_TIME = new URL('./report-time.js', import.meta.url).href;
const RUN_FILES = fileURLToPath(new URL('./run-files.js', import.meta.url));

/** Runs what a folder of this run says, and returns the exit code. */
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

/** What is reported as it would be without a second reporter. */
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

/** What a file is called in the process of a unit. */
function calledIn({ overNode }: Unit, file: string): string {
  return overNode ? file + OVER_NODE_ENDING : file;
}

/** Begins a program in which, and in whose processes, the HTTP server of Node.js answers. */
const BEGIN_OVER_NODE = `import ${JSON.stringify(OVER_NODE)};
const { NODE_OPTIONS: given = '' } = process.env;
process.env.NODE_OPTIONS = \`\${given} --import=${OVER_NODE}\`.trimStart();
`;

/** The file that a unit's process runs: its own, or a program in `dir` that runs what is the unit's. */
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

/** A file that failed, and whether it did so over the HTTP server of Node.js beside the other. */
interface Failed {
  readonly path: string;
  readonly overNode: boolean;
}

/** The files that lines of the reporter above are about. */
function filesOf(
  root: string,
  entries: ReadonlyMap<string, Unit>,
  lines: readonly string[],
): readonly Failed[] {
  const found = lines.flatMap((line): readonly Failed[] => {
    const [file, name] = JSON.parse(line) as [string, string];
    const unit = entries.get(file);
    // A test within a program: the suite of its file has failed with it, and is the program's.
    if (unit === undefined) return [];
    // A suite of a program is one of its files; else it ended as a whole.
    const own = unit.files.filter((each) => calledIn(unit, each) === name);
    return (own.length > 0 ? own : unit.files).map((each) => ({
      path: resolve(root, each),
      overNode: unit.overNode,
    }));
  });
  const unique = new Map(found.map((each) => [`${each.path}\0${each.overNode}`, each]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** In which processes the files of a run are run, in order. */
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

/** Runs all; gives the exit code and the files that failed, of a run that broke off none. */
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

/** Runs one file alone, and tells whether it passed. */
function passesAlone(run: TestRun, dir: string, { path, overNode }: Failed): boolean {
  const server = overNode ? { overNode } : {};
  return nodeTest({ ...run, ...server }, run.options, dir, [path]) === 0;
}

/** Runs the files and returns the exit code: 0 when each passed, be it the second time. */
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
