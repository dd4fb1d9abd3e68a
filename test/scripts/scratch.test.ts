/** Temporary files of a whole run: in memory where there is room, and gone with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryFolder } from '../../scripts/scratch.js';

const MODULE = new URL('../../scripts/scratch.js', import.meta.url).href;
/** Tells where temporary files are while it runs, and whether they are gone at its end. */
const RUN = `import { existsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useMemory } from ${JSON.stringify(MODULE)};
const remove = useMemory();
const during = tmpdir();
const { TMPDIR, SITUS_TEST_DISK } = process.env;
if (SITUS_TEST_DISK !== undefined) writeFileSync(join(during, 'one'), 'x');
const mode = statSync(during).mode & 0o7777;
remove();
console.log(JSON.stringify([during, TMPDIR, SITUS_TEST_DISK, existsSync(during), mode]));
`;
/** No process has a number so high. */
const DEAD = 2 ** 22 + 1;

type Told = readonly [
  during: string,
  given: string | null,
  disk: string | null,
  left: boolean,
  mode: number,
];

function run(tmp?: string): Told {
  const { TMPDIR: _, SITUS_TEST_DISK: __, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', RUN], {
    encoding: 'utf8',
    env: { ...env, ...(tmp === undefined ? {} : { TMPDIR: tmp }) },
  });
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Told;
}

test('a folder that the environment names is kept to, and so is a disk where memory is short', () => {
  const tmp = import.meta.dirname;
  assert.deepEqual(run(tmp).slice(0, 4), [tmp, tmp, null, true]);
  assert.equal(memoryFolder(Number.MAX_SAFE_INTEGER), null);
});

test('a run has its folder in memory and removes it, and what one that was killed has left', (context) => {
  const memory = memoryFolder(0);
  if (memory === null) return context.skip('nothing in memory can be run');
  const left = join(memory, `situs-run-${DEAD}-abc`);
  mkdirSync(left, { recursive: true });
  context.after(() => rmSync(left, { recursive: true, force: true }));
  const [during, given, disk, isLeft, mode] = run();
  if (disk === null) return context.skip('less memory is free than a run takes');
  assert.ok(during.startsWith(join(memory, 'situs-run-')), during);
  assert.equal(given, during);
  assert.notEqual(disk, during);
  assert.equal(mode, 0o1777, 'other users find their folders in it');
  assert.deepEqual([isLeft, existsSync(left)], [false, false]);
});
