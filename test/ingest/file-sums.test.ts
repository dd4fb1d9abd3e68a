/** Sums of files that were read before: only a file that is the same in every respect is not read. */
import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileSha256 } from '../../src/dataset/stamp.js';
import { FileSums, SUMS_FILE } from '../../src/ingest/file-sums.js';

const dir = mkdtempSync(join(tmpdir(), 'situs-sums-'));
const file = join(dir, 'doors.csv');
const kept = join(dir, SUMS_FILE);
const LARGE = 100_000;
/** No sum of anything: who gives it has not read the file. */
const PLANTED = 'planted';
const later = (): number => Date.now() + 60_000;

after(() => rmSync(dir, { recursive: true }));

/** Keeps the sum of the file, with another in its place. */
function plant(now = later): void {
  rmSync(kept, { force: true });
  const sums = new FileSums(dir, now);
  const sum = sums.of(file);
  sums.write();
  writeFileSync(kept, readFileSync(kept, 'utf8').replace(sum, PLANTED));
}

test('a large file that is as it was is not read again', () => {
  writeFileSync(file, Buffer.alloc(LARGE, 'a'));
  plant();
  assert.equal(new FileSums(dir, later).of(file), PLANTED);
  assert.equal(new FileSums(null, later).of(file), fileSha256(file));
});

test('other bytes of the same size and time are read, and so is a file put in its place', () => {
  writeFileSync(file, Buffer.alloc(LARGE, 'a'));
  const { atime, mtime } = statSync(file);
  plant();
  writeFileSync(file, Buffer.alloc(LARGE, 'b'));
  utimesSync(file, atime, mtime);
  assert.equal(new FileSums(dir, later).of(file), fileSha256(file));
  plant();
  const other = join(dir, 'other.csv');
  writeFileSync(other, Buffer.alloc(LARGE, 'c'));
  renameSync(other, file);
  assert.equal(new FileSums(dir, later).of(file), fileSha256(file));
});

test('a file that changed a moment ago, a small one, and damaged sums: files are read', () => {
  writeFileSync(file, Buffer.alloc(LARGE, 'a'));
  plant(Date.now);
  assert.equal(readFileSync(kept, 'utf8'), '{}\n');
  plant();
  assert.equal(new FileSums(dir).of(file), fileSha256(file));
  writeFileSync(kept, '{"doors.csv":');
  assert.equal(new FileSums(dir, later).of(file), fileSha256(file));
  writeFileSync(file, 'few');
  plant();
  assert.equal(readFileSync(kept, 'utf8'), '{}\n');
});
