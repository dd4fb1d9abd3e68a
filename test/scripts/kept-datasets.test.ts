/** Datasets of the tests are built once, however many ask at once, and again after a change. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildModules } from '../support/built-dataset.js';
import { keptBuild, keyOf, reachedFrom, type Ingredients } from '../support/kept-datasets.js';

const BUILDER = fileURLToPath(new URL('../support/kept-builder.js', import.meta.url));
/** Beyond the largest process id of Linux and macOS. */
const NOBODY = 4_194_305;

interface Folders {
  readonly kept: string;
  readonly input: string;
  readonly log: string;
}

function folders(context: TestContext): Folders {
  const dir = mkdtempSync(join(tmpdir(), 'situs-kept-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const input = join(dir, 'input');
  mkdirSync(input);
  writeFileSync(join(input, 'one.tsv'), 'a\t1\n');
  writeFileSync(join(dir, 'log'), '');
  return { kept: join(dir, 'kept'), input, log: join(dir, 'log') };
}

function ask({ kept, input, log }: Folders): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(process.execPath, [BUILDER, kept, input, log]);
}

function ingredients(input: string): Ingredients {
  return { args: ['kept'], content: [input], listed: [] };
}

test('of processes that ask at once one builds, and all get the whole', async (context) => {
  const all = folders(context);
  const told = await Promise.all([ask(all), ask(all), ask(all)]);
  assert.deepEqual(
    told.map(({ stdout }) => stdout),
    ['told', 'told', 'told'],
  );
  assert.equal(readFileSync(all.log, 'utf8'), 'built\n');
  const [only, ...others] = readdirSync(all.kept);
  assert.deepEqual(others, []);
  assert.equal(readFileSync(join(all.kept, only!, 'data'), 'utf8'), 'whole');
});

test('what is there is taken; a change of an ingredient makes it anew and removes the old', (context) => {
  const { kept, input } = folders(context);
  let builds = 0;
  const build = (): string => {
    builds += 1;
    return String(builds);
  };
  assert.equal(keptBuild(kept, ingredients(input), build).output, '1');
  assert.equal(keptBuild(kept, ingredients(input), build).output, '1');
  writeFileSync(join(input, 'one.tsv'), 'a\t2\n');
  assert.equal(keptBuild(kept, ingredients(input), build).output, '2');
  assert.equal(readdirSync(kept).length, 1);
});

test('a builder that died is not waited for, and nothing of one that failed is kept', (context) => {
  const { kept, input } = folders(context);
  const fail = (): string => {
    throw new Error('no rates');
  };
  assert.throws(() => keptBuild(kept, ingredients(input), fail), /no rates/);
  const name = readdirSync(kept).map((each) => each.replace(/\.\d+$/, ''))[0]!;
  writeFileSync(join(kept, `${name}.lock`), String(NOBODY));
  assert.equal(keptBuild(kept, ingredients(input), () => 'made').output, 'made');
});

test('arguments, texts, names and bytes of files, and the list of large ones make the key', (context) => {
  const { input } = folders(context);
  const first = keyOf(ingredients(input));
  const keys = new Set([first, keyOf({ ...ingredients(input), args: ['other'] })]);
  keys.add(keyOf({ ...ingredients(input), listed: [input] }));
  keys.add(keyOf({ ...ingredients(input), texts: ['RUN npm ci'] }));
  writeFileSync(join(input, 'two.tsv'), '');
  keys.add(keyOf(ingredients(input)));
  writeFileSync(join(input, 'two.tsv'), 'b');
  keys.add(keyOf(ingredients(input)));
  assert.equal(keys.size, 6);
  rmSync(join(input, 'two.tsv'));
  assert.equal(keyOf(ingredients(input)), first);
});

test('what a module loads is found, at once, later, or as a thread of its own', (context) => {
  const { input } = folders(context);
  const files: Readonly<Record<string, string>> = {
    'begin.js':
      "import { a } from './at-once.js';\nimport fs from 'node:fs';\nawait import('./later.js');\n" +
      'const b = await import("./bundled.js");\n',
    'bundled.js': '',
    'at-once.js': "export * from './passed.js';\nimport './begin.js';\n",
    'passed.js': '',
    'other.js': '',
    'later.js': "const WORKER = new URL('./thread.js', import.meta.url);\n",
    'thread.js': '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(input, name), text);
  assert.deepEqual(
    reachedFrom([join(input, 'begin.js')]).map((path) => relative(input, path)),
    ['at-once.js', 'begin.js', 'bundled.js', 'later.js', 'passed.js', 'thread.js'],
  );
});

test('a build loads its own modules and workers, and nothing that serves', () => {
  const modules = buildModules().map((path) => path.replaceAll('\\', '/'));
  for (const wanted of [
    'src/cli/dataset-builder.js',
    'src/ingest/release-writer.js',
    // Which the bundled check of a release loads later.
    'src/ingest/verify.js',
    'src/ingest/street/shard.js',
    'workers/ingest.js',
    'workers/release.js',
  ]) {
    assert.ok(
      modules.some((path) => path.endsWith(wanted)),
      wanted,
    );
  }
  assert.deepEqual(
    modules.filter((path) => /\/src\/(?:http|api|engine|bulk|event)\//.test(path)),
    [],
  );
});
