/** Backups and stores of which a part was lost or changed: refused in a sentence. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupStore, verifyBackup } from '../../src/store/backup.js';
import { Store, storeDir } from '../../src/store/store.js';
import { BEGUN_FILE, STORE_FILE } from '../../src/store/store-file.js';
import { filledStore, runSitus } from '../support/filled-store.js';
import { newVarDir } from '../support/http-var-dir.js';

function storeFile(varDir: string): string {
  return join(storeDir(varDir), STORE_FILE);
}

/** A copy of a file with one bit turned. */
function flipped(file: string, copy: string, at: number, bit: number): void {
  const bytes = readFileSync(file);
  bytes[at] = bytes[at]! ^ (1 << bit);
  writeFileSync(copy, bytes);
}

test('a backup with a turned bit is refused, whichever bit it is', async (context) => {
  const varDir = await filledStore(context, 300);
  const dir = newVarDir(context);
  const [file, copy] = [join(dir, 'b.mdb'), join(dir, 'c.mdb')];
  await backupStore(varDir, file);
  assert.equal((await verifyBackup(varDir, file)).checked, true);
  const { size } = statSync(file);
  const spots = new Set<number>();
  // Every byte of the checksum, the first pages densely, and all the rest in steps.
  for (let at = size - 200; at < size; at += 1) spots.add(at);
  for (let at = 0; at < 512; at += 7) spots.add(at).add(4_096 + at);
  for (let at = 0; at < size; at += 61) spots.add(at);
  for (const at of spots) {
    flipped(file, copy, at, at % 8);
    await assert.rejects(verifyBackup(varDir, copy), /damaged/, `byte ${at} of ${size}`);
  }
  assert.ok(spots.size > 400);
});

test('the commands refuse a damaged backup and leave the store as it is', async (context) => {
  const [varDir, target] = [await filledStore(context, 300), await filledStore(context, 3)];
  const dir = newVarDir(context);
  const [file, copy] = [join(dir, 'b.mdb'), join(dir, 'c.mdb')];
  assert.equal((await runSitus(varDir, 'store', 'backup', file)).code, 0);
  const before = readFileSync(storeFile(target));
  flipped(file, copy, Math.floor(statSync(file).size / 2), 3);
  const verified = await runSitus(target, 'store', 'verify', copy);
  assert.equal(verified.code, 1);
  assert.match(verified.err, /the file is damaged: its checksum/);
  const restored = await runSitus(target, 'store', 'restore', copy, '--force');
  assert.equal(restored.code, 1);
  assert.match(restored.err, /not sound; nothing was changed/);
  assert.deepEqual(readFileSync(storeFile(target)), before);
  const whole = await runSitus(target, 'store', 'restore', file, '--force');
  assert.equal(whole.code, 0, whole.err);
  assert.equal(whole.err.includes('checksum'), false);
  assert.equal(statSync(storeFile(target)).size % 4_096, 0, 'the checksum is not part of it');
});

test('a backup of an earlier version is restored, and said to be unverifiable', async (context) => {
  const [varDir, target] = [await filledStore(context, 20), newVarDir(context)];
  const file = join(newVarDir(context), 'old.mdb');
  // They were LMDB's file alone.
  copyFileSync(storeFile(varDir), file);
  const { code, err } = await runSitus(target, 'store', 'restore', file);
  assert.equal(code, 0, err);
  assert.match(err, /no checksum, as backups of earlier versions.*cannot be verified/);
  const store = await Store.open(target);
  assert.equal(store.list(['thing']).length, 20);
  await store.close();
});

test('a store that was cut off is refused at any length, and can be restored', async (context) => {
  const varDir = await filledStore(context, 2_000);
  const backup = join(newVarDir(context), 'b.mdb');
  await backupStore(varDir, backup);
  const file = storeFile(varDir);
  const whole = readFileSync(file);
  for (const bytes of [
    1,
    100,
    4_096,
    8_191,
    8_192,
    12_288,
    whole.length - 4_096,
    whole.length - 1,
  ]) {
    writeFileSync(file, whole.subarray(0, bytes));
    // In a process of its own: the one that maps it may not survive.
    const { code, err } = await runSitus(varDir, 'key', 'list');
    assert.equal(code, 1, `${bytes} bytes`);
    assert.match(err, /was cut off: it has \d+ of \d+ bytes|not a store, or is damaged/);
  }
  const refused = await runSitus(varDir, 'store', 'restore', backup);
  assert.match(refused.err, /was cut off.*--force replaces it/);
  const restored = await runSitus(varDir, 'store', 'restore', backup, '--force');
  assert.equal(restored.code, 0, restored.err);
  const store = await Store.open(varDir);
  assert.equal(store.list(['thing']).length, 2_000);
  await store.close();
});

test('an empty store where there was one is a loss, not a beginning', async (context) => {
  const varDir = await filledStore(context, 3);
  const backup = join(newVarDir(context), 'b.mdb');
  await backupStore(varDir, backup);
  truncateSync(storeFile(varDir));
  await assert.rejects(Store.open(varDir), /is empty, but .*begun says that there was a store/);
  rmSync(storeFile(varDir));
  await assert.rejects(Store.open(varDir), /is gone, but .*begun says/);
  assert.equal(existsSync(storeFile(varDir)), false, 'none was made');
  assert.equal((await runSitus(varDir, 'store', 'restore', backup)).code, 0);
  await (await Store.open(varDir)).close();
  assert.ok(existsSync(join(storeDir(varDir), BEGUN_FILE)));
});

test('of stores of earlier versions a key or a job tells that there was one', async (context) => {
  const varDir = newVarDir(context);
  mkdirSync(storeDir(varDir));
  writeFileSync(storeFile(varDir), '');
  writeFileSync(join(varDir, 'kek'), '{}');
  await assert.rejects(Store.open(varDir), /is empty, but .*kek says that there was a store/);
  rmSync(join(varDir, 'kek'));
  mkdirSync(join(varDir, 'jobs', 'job_1'), { recursive: true });
  await assert.rejects(Store.open(varDir), /is empty, but .*jobs says/);
  rmSync(join(varDir, 'jobs'), { recursive: true });
  // What a first start that was killed leaves.
  await (await Store.open(varDir)).close();
});

test("a key of one's own may be there before the first start", async (context) => {
  const varDir = newVarDir(context);
  writeFileSync(join(varDir, 'kek'), '{}');
  await (await Store.open(varDir)).close();
});

test('a turned bit in the pages that lead to everything is refused', async (context) => {
  const varDir = await filledStore(context, 300);
  const file = storeFile(varDir);
  const whole = readFileSync(file);
  const [first, second] = [0, 4_096].map((at) => whole.readBigUInt64LE(at + 152));
  const newest = first! > second! ? 0 : 4_096;
  const root = Number(whole.readBigUInt64LE(newest + 136)) * 4_096;
  for (const at of [newest + 24, newest + 136, newest + 137, newest + 144 + 2, root, root + 1]) {
    flipped(file, file, at, 4);
    await assert.rejects(Store.open(varDir), /damaged|cut off/, String(at));
    writeFileSync(file, whole);
  }
  await (await Store.open(varDir)).close();
});

test('no backup is made of a store whose records are not all found', async (context) => {
  const varDir = await filledStore(context, 10);
  const file = storeFile(varDir);
  const whole = readFileSync(file);
  const [first, second] = [0, 4_096].map((at) => whole.readBigUInt64LE(at + 152));
  const newest = first! > second! ? 0 : 4_096;
  // Where the page says up to where its list of records goes: a bit less, and the last are gone.
  const at = Number(whole.readBigUInt64LE(newest + 136)) * 4_096 + 20;
  const end = whole.readUInt16LE(at);
  whole.writeUInt16LE(end & (end - 1), at);
  writeFileSync(file, whole);
  const backup = join(newVarDir(context), 'b.mdb');
  const { code, err } = await runSitus(varDir, 'store', 'backup', backup);
  assert.equal(code, 1);
  assert.match(err, /the store is damaged: \d+ of \d+ records are found/);
  assert.equal(existsSync(backup), false);
});
