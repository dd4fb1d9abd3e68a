/** The worker that a start waits for is one file, of the sources as they are. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BUNDLED, bundleWorker } from '../../scripts/bundled.js';

/** Modules that a file loads by their place, at once or later. */
const NEAR = /\b(?:from |import |import\()["']\.[^"']*["']/g;

test('what the worker loads beside packages is itself', () => {
  const built = fileURLToPath(new URL(`../../${BUNDLED}.js`, import.meta.url));
  const text = readFileSync(built, 'utf8');
  assert.match(text, /from "lmdb"/);
  assert.deepEqual(text.match(NEAR), null);
});

test('a bundle is written over what the compiler wrote, with what it imports as it is now', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-bundled-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['src', 'workers', 'dist/workers'])
    mkdirSync(join(root, folder), { recursive: true });
  const built = join(root, 'dist', `${BUNDLED}.js`);
  writeFileSync(built, "// the compiler's\n");
  writeFileSync(
    join(root, `${BUNDLED}.ts`),
    "import { said } from '../src/shared.js';\nexport const told: string = said;\n",
  );
  for (const said of ['one', 'another']) {
    writeFileSync(join(root, 'src', 'shared.ts'), `export const said: string = '${said}';\n`);
    assert.ok(bundleWorker(root), 'npm ci installs the bundler');
    assert.match(readFileSync(built, 'utf8'), new RegExp(`"${said}"`));
  }
});
