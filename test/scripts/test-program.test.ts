/** What tests start as processes in a whole run does what the compiled files do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BUNDLE_ENDING, KEEP, keepCode } from '../../scripts/code-cache.js';
import { makeTestProgram } from '../../scripts/test-program.js';
import { packageRoot } from '../../src/ingest/source-files.js';

/** Compiled files: a command that runs a worker, and the service after it. */
const FILES: Readonly<Record<string, string>> = {
  'src/main.js':
    "import { fileURLToPath } from 'node:url';\n" +
    "console.log('service', fileURLToPath(import.meta.url));\n",
  'src/cli.js':
    "#!/usr/bin/env node\nimport { run } from './cli/program.js';\nvoid run(process.argv[2]);\n",
  'src/cli/program.js':
    "import { once } from 'node:events';\n" +
    "import { Worker } from 'node:worker_threads';\n" +
    "import { folder, worker } from './deep.js';\n" +
    'export async function run(name) {\n' +
    "  console.log('command', name, folder);\n" +
    '  const thread = new Worker(worker);\n' +
    "  console.log((await once(thread, 'message'))[0]);\n" +
    "  await once(thread, 'exit');\n" +
    "  await import('../main.js');\n" +
    '}\n',
  'src/cli/deep.js':
    "export const worker = new URL('../../workers/one.js', import.meta.url);\n" +
    'export const folder = import.meta.dirname;\n',
  'workers/one.js':
    "import { parentPort } from 'node:worker_threads';\n" +
    "parentPort.postMessage(['worker', import.meta.url].join(' '));\n",
};

/** Bundles these files in a folder of their own. */
async function program(context: TestContext): Promise<{ root: string; folder: string }> {
  const root = mkdtempSync(join(tmpdir(), 'situs-program-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const dir of ['dist/src/cli', 'dist/workers', 'node_modules']) {
    mkdirSync(join(root, dir), { recursive: true });
  }
  symlinkSync(join(packageRoot(), 'node_modules/esbuild'), join(root, 'node_modules/esbuild'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, 'dist', name), text);
  const folder = await makeTestProgram(root);
  assert.ok(folder !== null, 'npm ci installs the bundler');
  return { root, folder };
}

/** The lines that the command prints. */
function printed(folder: string, env: NodeJS.ProcessEnv = {}): readonly string[] {
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'cli.js'), 'Ann'], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}

test('modules find what lies beside where they were compiled to, and the command its worker and the service', async (context) => {
  const { root, folder } = await program(context);
  rmSync(join(root, 'dist'), { recursive: true });
  assert.deepEqual(printed(folder), [
    `command Ann ${join(root, 'dist/src/cli')}`,
    `worker file://${join(root, 'dist/workers/one.js')}`,
    `service ${join(folder, 'main.js')}`,
  ]);
});

test('what V8 made of a bundle is taken for the main thread and for workers, and nothing else changes', async (context) => {
  const { folder } = await program(context);
  const first = printed(folder, { [KEEP]: 'main' });
  assert.deepEqual(printed(folder, { [KEEP]: 'worker' }), first);
  const kept = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => /\.bundle\.\d+$/.test(path))
    .map((path) => path.replace(/\.\d+$/, ''));
  assert.deepEqual(
    kept.sort(),
    ['cli.js', 'main.js', 'workers/one.js'].map((file) => file + BUNDLE_ENDING),
  );
  rename(folder, kept);
  assert.deepEqual(printed(folder), first);
});

/** Changes what bundles print, but not their length, which is all that V8 compares with its code. */
function rename(folder: string, bundles: readonly string[]): void {
  for (const path of bundles) {
    const text = readFileSync(join(folder, path), 'utf8');
    const other = text.replaceAll(/(?<=")(?:command|worker|service)(?=")/g, (word) =>
      '_'.repeat(word.length),
    );
    assert.notEqual(other, text);
    writeFileSync(join(folder, path), other);
  }
}

test('code that was kept of another bundle of the same length is not taken', async (context) => {
  const { folder } = await program(context);
  await keepCode(folder, [[]]);
  const kept = (): readonly string[] =>
    readdirSync(folder)
      .filter((file) => file.startsWith(`cli.js${BUNDLE_ENDING}.`))
      .map((file) => `${file} ${statSync(join(folder, file)).mtimeMs}`);
  const before = kept();
  assert.equal(before.length, 1);
  await keepCode(folder, [[]]);
  assert.deepEqual(kept(), before, 'of the same bundles it stays');
  rename(folder, [`cli.js${BUNDLE_ENDING}`]);
  assert.match(printed(folder)[0]!, /^command Ann/, 'the kept code is what runs');
  await keepCode(folder, [[]]);
  assert.match(printed(folder)[0]!, /^_{7} Ann/);
});
