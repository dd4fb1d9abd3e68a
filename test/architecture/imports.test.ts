/** The shape of the source, checked on the source itself. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  codeOf,
  importsOf,
  packageRoot,
  problemsOf,
  type SourceFile,
  widthProblemsOf,
} from '../support/http-source-rules.js';
import { exportsOf } from '../support/exported.js';
import { circleIn } from '../support/import-circles.js';

const FOLDERS = ['src', 'workers', 'bench', 'scripts', 'test'];

const ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));

function sourceFiles(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((name) => `${folder}/${String(name)}`)
      .filter((path) => path.endsWith('.ts')),
  );
}

function found(check: (file: SourceFile) => readonly string[]): readonly string[] {
  const files = sourceFiles();
  assert.ok(files.length > 30, 'the source was not found');
  return files.flatMap((path) =>
    check({ path, text: readFileSync(join(ROOT, path), 'utf8') }).map(
      (problem) => `${path}: ${problem}`,
    ),
  );
}

test('every file keeps to the rules', () => {
  assert.deepEqual(found(problemsOf), []);
});

test('no line of the program is wider than a hundred columns', () => {
  // Tables of cases in tests may be.
  const program = /^(?:src|workers)\//;
  assert.deepEqual(
    found((file) => (program.test(file.path) ? widthProblemsOf(file) : [])),
    [],
  );
});

/** Run by name: a pool of threads is told the file and the function in a text. */
const TASKS: readonly string[] = [
  'workers/ingest.ts build',
  'workers/ingest.ts parse',
  'workers/bulk.ts serve',
  'bench/load/task-worker.ts answer',
  'test/support/http-echo-worker.ts serve',
  'test/support/greedy-worker.ts serve',
];

/** What the program exports and nowhere uses, with why tests or measurements alone need it. */
const FOR_TESTS: ReadonlyMap<string, string> = new Map([
  ['src/dataset/kept-leaves.ts KEPT_LEAVES_BYTES', 'the documented memory is added up of it'],
  ['src/dataset/street-index.ts KEPT_GROUPS_BYTES', 'the documented memory is added up of it'],
  ['src/bulk/stream/session-options.ts STREAM_MEMORY_BYTES_MAX', 'it is held to what is measured'],
  ['src/address/street-words.ts ordinalWords', 'every ordinal is written out, and read again'],
]);

function exported(): ReturnType<typeof exportsOf> {
  return exportsOf(
    new Map(sourceFiles().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const)),
  );
}

test('what a file exports is imported by another', () => {
  const alone = exported()
    .filter(({ importers }) => importers.length === 0)
    .map(({ path, name }) => `${path} ${name}`);
  assert.deepEqual(alone.sort(), [...TASKS].sort());
});

test('what the program exports it uses itself, but for a few things that are told here', () => {
  const unused = exported()
    .filter(
      ({ path, importers, isUsedWithin }) =>
        /^(?:src|workers)\//.test(path) &&
        !isUsedWithin &&
        importers.length > 0 &&
        importers.every((file) => /^(?:test|bench)\//.test(file)),
    )
    .map(({ path, name }) => `${path} ${name}`);
  assert.deepEqual(unused.sort(), [...FOR_TESTS.keys()].sort());
});

test('an export counts as used where it is imported, not where its name stands', () => {
  const files = new Map([
    ['src/a.ts', 'export const one = 1;\nexport function two(): void {}\nexport type T = 1;\n'],
    ['src/b/c.ts', "import {\n  one as first,\n} from '../a.js';\n/** two */ const two = 2;\n"],
    ['src/d.ts', "export { type T as U } from './a.js';\nconst later = await import('./e.js');\n"],
    ['src/e.ts', 'export const later = 1;\nexport const none = 2;\n'],
  ]);
  assert.deepEqual(
    exportsOf(files).map(({ name, importers }) => [name, ...importers]),
    [['one', 'src/b/c.ts'], ['two'], ['T', 'src/d.ts'], ['U'], ['later', 'src/d.ts'], ['none']],
  );
});

test('no two files of the program need each other at run time', () => {
  const program = sourceFiles().filter((path) => /^(?:src|workers)\//.test(path));
  const texts = program.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
  assert.ok(texts.length > 300, 'the source was not found');
  assert.equal(circleIn(new Map(texts)), null);
});

test('a circle of imports is found, through whatever files', () => {
  const files = new Map([
    ['src/a.ts', "import { b } from './room/b.js';\nimport type { C } from './c.js';\n"],
    ['src/room/b.ts', "import {\n  type C,\n  c,\n} from '../c.js';\n"],
    ['src/c.ts', "export { d } from './d.js';\n"],
    ['src/d.ts', "import type { A } from './a.js';\nconst later = import('./a.js');\n"],
  ]);
  assert.equal(circleIn(files), null);
  for (const needed of ["{ b } from './room/b.js'", "'./room/b.js'"]) {
    files.set('src/d.ts', `import ${needed};\n`);
    assert.deepEqual(circleIn(files), ['src/room/b.ts', 'src/c.ts', 'src/d.ts']);
  }
});

const BAD: readonly (readonly [path: string, text: string, problem: RegExp])[] = [
  ['src/tax/rate.ts', "import { open } from '../dataset/open.js';", /upward: src\/dataset/],
  ['src/tax/rate.ts', "import { readFileSync } from 'node:fs';", /imports node:fs/],
  ['src/geo/point.ts', 'const now = Date.now();', /no clock/],
  ['src/geo/point.ts', 'const now = new Date();', /no clock/],
  ['src/address/parse.ts', 'const pick = Math.random();', /no clock and no randomness/],
  ['src/engine/lookup.ts', "import { headOf } from '../http/reply.js';", /upward: src\/http/],
  ['src/engine/lookup.ts', "import type { A } from '../wire/v60.js';", /upward: src\/wire/],
  ['src/store/keys.ts', "import { a } from '../dataset/open.js';", /upward: src\/dataset/],
  ['src/http/router.ts', "import { App } from '../app.js';", /upward: src\/app/],
  ['src/http/router.ts', `const uws = await import('uWeb${'Sockets.js'}');`, /only src\/http\/uws/],
  ['src/http/router.ts', "import { b } from '../ingest/build.js';", /ingest/],
  ['src/app.ts', "import { b } from './ingest/build.js';", /ingest/],
  ['src/app.ts', "import { b } from '../test/support/http-client.js';", /outside src/],
  ['src/app.ts', "import { b } from './helpers/text.js';", /in no layer/],
  ['src/helpers/text.ts', '', /in no layer/],
  ['src/app.ts', "const host = process.env['HOST'];", /process\.env/],
  ['src/app.ts', 'export default class {}', /default export/],
  ['src/app.ts', 'function f(a: any): void {}', /^any$/],
  ['src/app.ts', 'const a = new Map<string, any>();', /^any$/],
  ['src/app.ts', 'const a = b as any;', /^any$/],
  ['test/http/a.test.ts', 'const a = b as unknown as string;', /cast/],
  ['src/app.ts', `// @ts-${'ignore'}`, /silenced/],
  ['src/app.ts', 'x\n'.repeat(301), /301 lines/],
];

test('the checker finds each kind of fault', () => {
  for (const [path, text, problem] of BAD) {
    assert.ok(
      problemsOf({ path, text }).some((found) => problem.test(found)),
      `${path}: ${text}`,
    );
  }
});

test('the checker finds wide lines', () => {
  const text = `short\n${'x'.repeat(101)}\n${'x'.repeat(100)}\n`;
  assert.deepEqual(widthProblemsOf({ path: 'src/app.ts', text }), ['line 2 has 101 columns']);
});

test('the checker lets sound code be', () => {
  const text = [
    "import { a } from '../tax/rate.js';",
    "import {\n  b,\n} from './other.js';",
    "import type { Log } from '../log.js';",
    "const later = await import(\n  './later.js',\n);",
    '/** Any clock, Date.now() or process.env here is only prose: any. */',
    "const text = 'as any'; // new Date()",
    'const url = `http://x/y`;',
    '',
  ].join('\n');
  assert.deepEqual(problemsOf({ path: 'src/dataset/a.ts', text }), []);
  assert.deepEqual(problemsOf({ path: 'src/geo/a.ts', text: codeOf(text) }), []);
  assert.deepEqual(importsOf(text), ['../tax/rate.js', './other.js', '../log.js', './later.js']);
});
