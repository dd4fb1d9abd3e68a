/** CONTRIBUTING.md's worked example, done as it stands there in a copy of the sources. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { copyCompiled } from '../support/kept-folders.js';

/** What the compiler and the commands need of a checkout. */
const COPIED = ['src', 'workers', 'datasets', 'test/support', 'package.json', 'tsconfig.json'];

interface Block {
  readonly language: string;
  readonly text: string;
  /** The file that was named last before it, "" before the first. */
  readonly file: string;
}

/** The code blocks of the worked example, each with the file of its step. */
function blocksOf(page: string): readonly Block[] {
  const example = page.slice(page.indexOf('## A new state'));
  let file = '';
  return [
    ...example.matchAll(/^\*\*\d.*?`([\w/.-]+\.(?:csv|ts|json))`|^```(\w+)\n(.*?)^```$/gms),
  ].flatMap(([, named, language = '', text = '']) => {
    file = named ?? file;
    return named === undefined ? [{ language, text, file }] : [];
  });
}

/** Applies a block of lines that stay (" "), go ("-") and come ("+"); they must be there once. */
function patched(source: string, block: string): string {
  const lines = block.split('\n').slice(0, -1);
  const side = (out: string): string =>
    lines
      .filter((line) => !line.startsWith(out))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  assert.equal(source.split(side('+')).length, 2, `these lines are not there once:\n${side('+')}`);
  return source.replace(side('+'), () => side('-'));
}

function apply(root: string, { language, text, file }: Block): void {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, language === 'diff' ? patched(readFileSync(path, 'utf8'), text) : text);
}

/** Runs a command; its output is in the error when it fails. */
function run(root: string, args: readonly string[]): string {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    return execFileSync(process.execPath, args, {
      cwd: root,
      env: { ...env, SITUS_VAR: join(root, 'var') },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${args.join(' ')}\n${stdout}${stderr}`);
  }
}

/** The arguments of node for a line that the page shows after "$ ". */
function argsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const tested = /^npm run test:one -- (\S+)\.ts$/.exec(line)?.[1];
  if (tested !== undefined) return ['--test', `dist/${tested}.js`];
  assert.deepEqual(words.slice(0, 2), ['npx', 'situs'], line);
  return ['dist/src/cli.js', ...words.slice(2)];
}

test('the worked example compiles, passes its test and gives the rate it shows', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-contributing-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const here = packageRoot();
  for (const name of COPIED) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    execFileSync('cp', ['-aT', join(here, name), join(root, name)]);
    // What is not changed was compiled of the same sources.
    copyCompiled(name, root);
  }
  symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'));
  const blocks = blocksOf(readFileSync(join(here, 'CONTRIBUTING.md'), 'utf8'));
  const changes = blocks.filter(({ language }) => language !== 'console');
  const console = blocks.filter(({ language }) => language === 'console');
  assert.deepEqual([changes.length, console.length], [6, 1]);
  for (const block of changes) apply(root, block);
  const tests = changes.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'));
  writeFileSync(
    join(root, 'tsconfig.example.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      compilerOptions: { preserveSymlinks: true },
      include: ['src', 'workers', ...tests],
    }),
  );
  run(root, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.example.json']);
  for (const [line = '', ...shown] of (console[0]?.text ?? '')
    .split(/^\$ /m)
    .slice(1)
    .map((command) => command.trimEnd().split('\n'))) {
    const printed = run(root, argsOf(line));
    const expected = shown.join('\n');
    assert.ok(printed.startsWith(expected), `${line}\n${printed}\nand not\n${expected}`);
  }
});
