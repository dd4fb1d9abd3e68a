/** What a build leaves behind: nothing whose source is gone. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { compiledOf, removeStale } from '../../scripts/compiled.js';
import { packageRoot } from '../../src/ingest/source-files.js';

test('compiled files without a source are removed, and no others', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-stale-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  };
  assert.deepEqual(removeStale(root), []);
  const kept = ['dist/src/app.js', 'dist/src/app.js.map', 'dist/notes.txt'];
  const stale = ['dist/test/http/gone.test.js', 'dist/test/http/gone.test.js.map'];
  for (const path of ['src/app.ts', ...kept, ...stale]) write(path);
  assert.deepEqual(removeStale(root), stale);
  for (const path of kept) assert.ok(existsSync(join(root, path)), path);
  for (const path of stale) assert.ok(!existsSync(join(root, path)), path);
});

test('a build removes what is stale, and every way to run tests builds first', () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.match(scripts['build'] ?? '', /&& node dist\/scripts\/finish-build\.js$/);
  for (const name of ['test', 'test:one', 'prepare']) {
    assert.match(scripts[name] ?? '', /^npm run --silent build\b/, name);
  }
});

test('a test is named by its source or by what it was compiled to', () => {
  assert.equal(compiledOf('/work', 'test/tax/rate.test.ts'), 'dist/test/tax/rate.test.js');
  assert.equal(
    compiledOf('/opt/situs', '/opt/situs/test/tax/rate.test.ts'),
    'dist/test/tax/rate.test.js',
  );
  assert.equal(compiledOf('/work', 'dist/test/tax/rate.test.js'), 'dist/test/tax/rate.test.js');
  assert.throws(() => compiledOf('/work', '../other/rate.test.ts'), /is not in/);
});
