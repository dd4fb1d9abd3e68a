/** What tests start as processes in a whole run does what the compiled files do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeTestProgram } from '../../scripts/test-program.js';
import { packageRoot } from '../../src/ingest/source-files.js';

test('modules find what lies beside where they were compiled to, and the command the service', async (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-program-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'dist/src/cli'), { recursive: true });
  mkdirSync(join(root, 'node_modules'));
  symlinkSync(join(packageRoot(), 'node_modules/esbuild'), join(root, 'node_modules/esbuild'));
  const files: Readonly<Record<string, string>> = {
    'main.js': "import { place } from './cli/deep.js';\nconsole.log('service', place);\n",
    'cli.js': "import { run } from './cli/program.js';\nawait run();\n",
    'cli/program.js':
      "import { folder } from './deep.js';\n" +
      "export async function run() {\n  console.log(folder);\n  await import('../main.js');\n}\n",
    'cli/deep.js':
      'export const place = new URL("../../workers/one.js", import.meta.url).href;\n' +
      'export const folder = import.meta.dirname;\n',
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(root, 'dist/src', name), text);
  const folder = await makeTestProgram(root);
  assert.ok(folder !== null, 'npm ci installs the bundler');
  rmSync(join(root, 'dist'), { recursive: true });
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'cli.js')], {
    encoding: 'utf8',
  });
  assert.deepEqual(
    [stderr, stdout.trimEnd().split('\n')],
    [
      '',
      [
        join(root, 'dist/src/cli'),
        `service ${pathToFileURL(join(root, 'dist/workers/one.js')).href}`,
      ],
    ],
  );
});
