/** What a machine lacks is skipped for a newcomer and demanded of the continuous build. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const SUPPORT = new URL('../support/wanting.js', import.meta.url).href;

/** Exit code and report of a test file whose only test wants something. */
function run(
  file: string,
  all: string,
): Promise<{ readonly failed: boolean; readonly out: string }> {
  const env = { PATH: process.env['PATH'], SITUS_TEST_ALL: all };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test-reporter=tap', file], { env }, (error, out) =>
      resolve({ failed: error !== null, out }),
    );
  });
}

test('a test in want of something is skipped, or fails where all is demanded', async (context) => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-wanting-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'one.test.mjs');
  writeFileSync(
    file,
    `import { test } from 'node:test';
    import { skipForWantOf } from '${SUPPORT}';
    test('one', (context) => skipForWantOf(context, 'no such program'));`,
  );
  const newcomer = await run(file, '');
  assert.equal(newcomer.failed, false, newcomer.out);
  assert.match(newcomer.out, /# SKIP no such program/);
  const demanding = await run(file, '1');
  assert.equal(demanding.failed, true);
  assert.match(demanding.out, /no such program, and all is to be tested/);
});
