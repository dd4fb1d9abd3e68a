/** What a start waits for is one file each, of the sources as they are. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BUNDLED, bundleWorkers } from '../../scripts/bundled.js';

/** Modules that a file loads by their place, at once or later. */
const NEAR = /\b(?:from ?|import ?|import\()["']\.[^"']*["']/g;

/** What is loaded beside packages, and what that has to contain. */
const LOADED = new Map<string, { readonly near: readonly string[] | null; readonly has: RegExp }>([
  ['workers/engine', { near: null, has: /from"lmdb"/ }],
  ['workers/release', { near: ['import("../src/ingest/verify.js"'], has: /function checkFiles\(/ }],
]);

test('what workers load beside packages is themselves, and what most of them need not', () => {
  assert.deepEqual([...BUNDLED].sort(), [...LOADED.keys()]);
  for (const [name, { near, has }] of LOADED) {
    const built = fileURLToPath(new URL(`../../${name}.js`, import.meta.url));
    const text = readFileSync(built, 'utf8');
    assert.match(text, has);
    assert.deepEqual(text.match(NEAR), near, name);
  }
});

test('a bundle is written over what the compiler wrote, with what it imports as it is now', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-bundled-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['src', 'workers', 'dist/workers'])
    mkdirSync(join(root, folder), { recursive: true });
  const built = BUNDLED.map((each) => join(root, 'dist', `${each}.js`));
  for (const each of built) writeFileSync(each, "// the compiler's\n");
  for (const each of BUNDLED) {
    writeFileSync(
      join(root, `${each}.ts`),
      "import { said } from '../src/shared.js';\nexport const told: string = said;\n",
    );
  }
  for (const said of ['one', 'another']) {
    writeFileSync(join(root, 'src', 'shared.ts'), `export const said: string = '${said}';\n`);
    assert.ok(bundleWorkers(root), 'npm ci installs the bundler');
    for (const each of built) assert.match(readFileSync(each, 'utf8'), new RegExp(`"${said}"`));
  }
});
