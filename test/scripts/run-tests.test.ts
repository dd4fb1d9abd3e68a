/** Test files that failed are run once more, alone; what passes then has passed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OVER_NODE_TOO } from '../../scripts/over-node-too.js';

const RUN_TESTS = new URL('../../scripts/run-tests.js', import.meta.url).href;
const TRANSPORT = new URL('../../src/http/open-transport.js', import.meta.url).href;
const BEGIN = 'import { existsSync, writeFileSync } from "node:fs";'
  + 'import { test } from "node:test";';
/** True in the first run of a file. */
const FIRST = '!existsSync(import.meta.filename + ".ran") && '
  + '(writeFileSync(import.meta.filename + ".ran", ""), true)';

const FILES: Readonly<Record<string, string>> = {
  'good.test.mjs': 'test("good", () => {});',
  'todo.test.mjs': 'test("to do", { todo: true }, () => { throw new Error("not yet"); });',
  'once.test.mjs': `test("a", () => {}); test("b", async (t) => {
    await t.test("c", () => { if (${FIRST}) throw new Error("under load"); }); });`,
  'killed.test.mjs': `test("a", () => {}); if (${FIRST}) process.kill(process.pid, "SIGKILL");`,
  'ended.test.mjs': `test("a", () => { if (${FIRST}) process.exit(3); });`,
  'wrong.test.mjs': 'test("wrong", () => { throw new Error("always"); });',
  'over.test.mjs': `test("over", async () => {
    const { createServer } = await import(${JSON.stringify(TRANSPORT)});
    const { transport } = await createServer();
    if (transport !== "node") throw new Error(transport + " answers");
  });`,
  'broken.test.mjs': 'test("no file of tests", (((',
};

interface Ran {
  readonly code: number | null;
  readonly output: string;
  /** Lines about files that failed. */
  readonly told: readonly string[];
}

/** Runs the named files in a folder of their own. */
function run(
  context: TestContext, names: readonly string[], again: boolean, options: readonly string[] = [],
  overNode = false,
): Ran {
  const root = mkdtempSync(join(tmpdir(), 'situs-again-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of names) writeFileSync(join(root, name), BEGIN + FILES[name]);
  // Inside a test run, node --test would report to that one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    '--input-type=module', '-e',
    `import { runTests } from ${JSON.stringify(RUN_TESTS)}; process.exitCode = runTests(${
      JSON.stringify({
        root, options, files: names.map((name) => join(root, name)), again, overNode,
      })});`,
  ], { env, encoding: 'utf8' });
  assert.deepEqual(readdirSync(root).filter((name) => !/\.mjs(?:\.ran)?$/.test(name)), []);
  const told = stdout.split('\n').filter((line) => line.includes('failed once'));
  return { code: status, output: stdout + stderr, told };
}

const UNDER_LOAD = ['good', 'todo', 'once', 'killed', 'ended'].map((name) => `${name}.test.mjs`);

test('files that failed, crashed or ended pass when they pass alone, and are named', (context) => {
  const { code, output, told } = run(context, UNDER_LOAD, true);
  assert.equal(code, 0, output);
  assert.deepEqual(told, ['ended', 'killed', 'once'].map((name) =>
    `${name}.test.mjs failed once, passed when run alone`));
  assert.ok(output.trimEnd().endsWith(told.at(-1)!), output);
});

test('without it one failure fails the run', (context) => {
  const { code, told } = run(context, UNDER_LOAD, false);
  assert.deepEqual([code, told], [1, []]);
});

test('a file that fails twice fails the run, whatever the others do', (context) => {
  const { code, told } = run(
    context, ['good.test.mjs', 'once.test.mjs', 'wrong.test.mjs', 'broken.test.mjs'], true,
  );
  assert.equal(code, 1);
  assert.deepEqual(told, [
    'broken.test.mjs failed once, and again when run alone',
    'once.test.mjs failed once, passed when run alone',
    'wrong.test.mjs failed once, and again when run alone',
  ]);
});

test('a run without failures tells of none, and options are kept', (context) => {
  const good = run(context, ['good.test.mjs'], true);
  assert.deepEqual([good.code, good.told], [0, []], good.output);
  const options = ['--test-name-pattern=none', '--test-reporter=dot'];
  const none = run(context, ['wrong.test.mjs'], true, options);
  assert.deepEqual([none.code, none.told], [0, []], none.output);
  assert.ok(!none.output.includes('TAP version'), none.output);
});

test('a run that breaks off before it told what failed is no success', (context) => {
  const { code, told } = run(context, ['once.test.mjs'], true, ['--no-such-option']);
  assert.deepEqual([code, told], [9, []]);
});

test('a run over the HTTP server of Node.js is one', (context) => {
  const { code, output } = run(context, ['over.test.mjs'], false, [], true);
  assert.equal(code, 0, output);
});

/** They start servers, and are run once: what they hold is not the server's affair, or they ask both. */
const ONCE: readonly string[] = ['hostile-json', 'transport'];

test('every test of HTTP that starts a server is run over both', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  for (const file of OVER_NODE_TOO) assert.ok(existsSync(join(root, file)), file);
  const starting = readdirSync(join(root, 'test', 'http')).filter((name) =>
    /startStubServer|startChildServer|App\.start|startMerchants|createServer/.test(
      readFileSync(join(root, 'test', 'http', name), 'utf8')));
  assert.ok(starting.length > 5);
  for (const name of starting) {
    const once = ONCE.includes(name.replace('.test.ts', ''));
    assert.equal(OVER_NODE_TOO.includes(`test/http/${name}`), !once, name);
  }
});
