/** Copies that a server answers from. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LOCK_FILE } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import { ReleaseCopies } from '../../src/dataset/release-copy.js';
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
