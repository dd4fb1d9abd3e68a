/** Copies that a server answers from. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFiles } from '../../src/dataset/file-check.js';
import { LOCK_FILE } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import { ReleaseCopies } from '../../src/dataset/release-copy.js';
import { UnfinishedCheck } from '../../src/dataset/release-check.js';
import { RELEASE_FILES, STAMP_FILE } from '../../src/dataset/stamp.js';
import {
  isStamped,
  makeStampedCopy,
  type StampedCopyOptions,
} from '../../src/dataset/stamped-copy.js';
import { SILENT } from '../../src/log.js';
import { buildRecipe } from '../support/built-dataset.js';

test('a copy has all of the disk that opening it takes', async (context) => {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const prepared = await new ReleaseCopies(built.varDir, SILENT, []).prepare(built.name, {
    background: false,
    signal: new AbortController().signal,
  });
  const lock = join(prepared.dir, LOCK_FILE);
  const before = statSync(lock);
  assert.ok(before.blocks * 512 >= before.size, 'a hole in a mapped file kills on a full disk');
  const opened = openDataset(prepared.dir);
  assert.equal(statSync(lock).size, before.size, 'LMDB takes the file as it is');
  assert.equal(opened.states().length > 0, true);
  opened.close();
  prepared.remove();
});

const AT_START = { background: false, signal: new AbortController().signal };

test('a stamped release is copied and checked without a process; any other byte is found by one', async (context) => {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const { dir, name } = built;
  const asked = (copyTo: string): StampedCopyOptions => ({
    dir,
    copyTo: join(built.varDir, copyTo, name),
    progress: (stage) => stages.add(stage),
    signal: AT_START.signal,
  });
  const stages = new Set<string>();
  assert.equal(await makeStampedCopy(asked('a')), true);
  assert.deepEqual([...stages], ['bytes']);
  assert.equal(checkFiles(join(built.varDir, 'a', name)).problems.length, 0);
  assert.equal(await isStamped(asked('a')), true);
  const stamp = readFileSync(join(dir, STAMP_FILE));
  for (const file of RELEASE_FILES) {
    const whole = readFileSync(join(dir, file));
    const other = Buffer.from(whole);
    other[whole.length >> 1]! ^= 1;
    writeFileSync(join(dir, file), other);
    assert.equal(await makeStampedCopy(asked('b')), false, file);
    assert.equal(await isStamped(asked('b')), false, file);
    assert.equal(existsSync(join(built.varDir, 'b', name)), false, file);
    writeFileSync(join(dir, file), whole);
  }
  rmSync(join(dir, STAMP_FILE));
  assert.equal(await makeStampedCopy(asked('b')), false, 'nothing says what it is to be');
  writeFileSync(join(dir, STAMP_FILE), stamp);
  assert.equal(await makeStampedCopy({ ...asked('b'), signedBy: ['nobody'] }), false);
  const prepared = await new ReleaseCopies(built.varDir, SILENT, []).prepare(name, AT_START);
  prepared.remove();
});

test('a check at the start that is ended tells nothing of the release', async (context) => {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const { dir, name } = built;
  for (const [signal, end] of endings()) {
    const copy = makeStampedCopy({
      dir,
      copyTo: join(built.varDir, 'c', name),
      progress: end,
      signal,
    });
    await assert.rejects(copy, UnfinishedCheck);
    rmSync(join(built.varDir, 'c'), { recursive: true, force: true });
  }
});

/** Ended before it begins, and while it reads. */
function endings(): readonly (readonly [AbortSignal, () => void])[] {
  const later = new AbortController();
  return [
    [AbortSignal.abort(), (): void => undefined],
    [later.signal, (): void => later.abort()],
  ];
}
