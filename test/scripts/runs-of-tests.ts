/** Runs of small test files, each in a folder and a process of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const RUN_TESTS = new URL('../../scripts/run-tests.js', import.meta.url).href;
const TRANSPORT = new URL('../../src/http/open-transport.js', import.meta.url).href;
const BEGIN =
  'import { existsSync, writeFileSync } from "node:fs";' + 'import { test } from "node:test";';
/** True in the first run of a file. */
const FIRST =
  '!existsSync(import.meta.filename + ".ran") && ' +
  '(writeFileSync(import.meta.filename + ".ran", ""), true)';

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
  'authorities.test.mjs': `test("authorities", () => {
    const { NODE_EXTRA_CA_CERTS: all, SITUS_TEST_AUTHORITIES: npm } = process.env;
    if (all !== undefined || npm !== "/certificates") throw new Error(all + " " + npm);
  });`,
  'broken.test.mjs': 'test("no file of tests", (((',
  'alone.test.mjs': `import { test } from 'node:test';
process.umask(0o22);
test("alone in " + process.pid, () => {});`,
  'first.test.mjs': `import { test } from 'node:test';
test("first in " + process.pid, () => { console.log("shared: " + process.pid); });`,
  'hooked.test.mjs': `import { before, test } from 'node:test';
let hooked = 0;
before(() => { hooked += 1; });
test("hooked in " + process.pid, () => { if (hooked !== 1) throw new Error("no hook"); });`,
  'unread.test.mjs': `import { test } from 'node:test';
throw new Error("cannot be loaded");`,
  'last.test.mjs': `import { before, test } from 'node:test';
before(() => { throw new Error("a hook of this file alone"); });
test("last in " + process.pid, () => {});`,
  'dear.test.mjs': `import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
test("dear", () => execFileSync(process.execPath,
  ["-e", "const end = process.cpuUsage().user + 5e5; let sum = 0;" +
    "while (process.cpuUsage().user < end) for (let i = 0; i < 1e6; i += 1) sum += Math.sqrt(i);"]));`,
};

interface Ran {
  readonly code: number | null;
  readonly output: string;
  /** Lines about files that failed. */
  readonly told: readonly string[];
}

/** Runs the named files in a folder of their own. */
export function run(
  context: TestContext,
  names: readonly string[],
  again: boolean,
  options: readonly string[] = [],
  more: Readonly<{
    overNode?: boolean;
    files?: readonly string[];
    overNodeToo?: readonly string[];
    together?: string;
  }> = {},
  environment: NodeJS.ProcessEnv = {},
): Ran {
  const root = mkdtempSync(join(tmpdir(), 'situs-again-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of names)
    writeFileSync(
      join(root, name),
      (FILES[name] ?? '').startsWith('import') ? FILES[name]! : BEGIN + FILES[name],
    );
  // Inside a test run, node --test would report to that one.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { runTests } from ${JSON.stringify(RUN_TESTS)}; process.exitCode = runTests(${JSON.stringify(
        {
          root,
          options,
          files: names,
          again,
          ...more,
        },
      )});`,
    ],
    { env, encoding: 'utf8' },
  );
  assert.deepEqual(
    readdirSync(root).filter((name) => !/\.mjs(?:\.ran)?$/.test(name)),
    [],
  );
  const told = stdout.split('\n').filter((line) => line.includes('failed once'));
  return { code: status, output: stdout + stderr, told };
}
