/** Every package that comes along is used, is said why, and is there where it is imported. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { READING_CODE, READING_PACKAGES } from '../../src/ingest/inputs.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { importsOf } from '../support/http-source-rules.js';

const ROOT = packageRoot();
const ROW = /^\| `([^`]+)` \| (.+) \|$/gm;
/** Gone after compilation. */
const TYPES_ONLY = /^(?:import|export) type\b[^;]*;/gm;
const REQUIRED = /createRequire\(import\.meta\.url\)\(\s*'([^']+)',?\s*\)/g;

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;

function texts(folder: string, ending: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(ending))
    .map((path) => readFileSync(join(ROOT, folder, path), 'utf8'));
}

/** "@scope/name" or "name" of "name/file". */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function imported(folders: readonly string[]): ReadonlySet<string> {
  const specifiers = folders
    .flatMap((folder) => texts(folder, '.ts'))
    .map((text) => text.replaceAll(TYPES_ONLY, ''))
    .flatMap((text) => [
      ...importsOf(text),
      ...[...text.matchAll(REQUIRED)].map(([, name]) => name!),
    ]);
  return new Set(
    specifiers.map(packageOf).filter((name) => !name.startsWith('.') && !name.startsWith('node:')),
  );
}

function ofRecipes(): ReadonlySet<string> {
  return new Set(
    texts('datasets/recipes', '.json').flatMap((text) =>
      [...text.matchAll(/["|]package:([^"]+)"/g)].map(([, path]) => packageOf(path!)),
    ),
  );
}

test('docs/dependencies.md tells of every dependency why it is there, and of no other', () => {
  const rows = [...readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8').matchAll(ROW)];
  assert.deepEqual(
    rows.map(([, name]) => name),
    Object.keys(dependencies),
  );
  for (const [, name, why] of rows) assert.ok(why!.length > 10, name);
});

test('the program imports dependencies alone, and each of them is used', () => {
  const used = new Set([...imported(['src', 'workers']), ...ofRecipes()]);
  assert.deepEqual(
    [...used].filter((name) => !Object.hasOwn(dependencies, name)),
    [],
  );
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !used.has(name)),
    [],
  );
  assert.ok(![...used].some((name) => builtinModules.includes(name)), 'built in: say node:');
});

test('what builds read through is known to the hash of what they keep', () => {
  const read = imported(READING_CODE.map((room) => join('src', room)));
  assert.deepEqual([...read].sort(), [...READING_PACKAGES].sort());
});

test('every version is exact', () => {
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version, /^(?:npm:[\w@/.-]+@)?\d+\.\d+\.\d+$/, name);
  }
});
