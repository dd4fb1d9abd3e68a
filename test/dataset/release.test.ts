import assert from 'node:assert/strict';
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { readManifest } from '../../src/dataset/manifest.js';
import {
  activateRelease,
  currentRelease,
  earlierRelease,
  findRelease,
  listReleases,
  previousRelease,
  releasesDir,
} from '../../src/dataset/release.js';
import { putRelease } from '../../src/dataset/put-release.js';
import { checkFiles } from '../../src/dataset/file-check.js';
import { checkRecords } from '../../src/ingest/verify.js';
import { makeTemporary, scratchDir, writeRelease } from '../../src/ingest/release-writer.js';
import { tinyContent } from '../support/tiny-release.js';

const folders: string[] = [];

function varDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'situs-release-'));
  folders.push(dir);
  return dir;
}

after(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

const quiet = (): void => undefined;

/** What is wrong with a release: with its bytes, else with its records. */
async function verifyRelease(dir: string): Promise<readonly string[]> {
  const { problems } = checkFiles(dir);
  return problems.length > 0 ? problems : checkRecords(dir);
}

test('the same content gives the same id, another rate another one', async () => {
  const [one, other] = [varDir(), varDir()];
  const first = await writeRelease(one, tinyContent(50), quiet);
  assert.equal(await writeRelease(other, tinyContent(50), quiet), first);
  assert.notEqual(await writeRelease(other, tinyContent(51), quiet), first);
  assert.match(first, /^2026-01-01-[0-9a-f]{12}$/);
});

test('building what is already there leaves one folder and nothing half-written', async () => {
  const dir = varDir();
  const name = await writeRelease(dir, tinyContent(50), quiet);
  await writeRelease(dir, tinyContent(50), quiet);
  assert.deepEqual(readdirSync(releasesDir(dir)), [name]);
});

/** Has another process put a copy of whatever next gets a release's name there just before. */
function otherIsFirst(context: TestContext): void {
  const { renameSync } = fs;
  const restore = (): void => {
    fs.renameSync = renameSync;
    syncBuiltinESMExports();
  };
  fs.renameSync = (from, to) => {
    restore();
    cpSync(from as string, to as string, { recursive: true });
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  context.after(restore);
}

test('a release that another build or process has put there meanwhile stays', async (context) => {
  const dir = varDir();
  otherIsFirst(context);
  const name = await writeRelease(dir, tinyContent(50), quiet);
  assert.deepEqual(readdirSync(releasesDir(dir)), [name]);
  const release = join(releasesDir(dir), name);
  assert.deepEqual(await verifyRelease(release), []);

  const unpacked = join(dir, 'unpacked');
  cpSync(release, unpacked, { recursive: true });
  rmSync(release, { recursive: true });
  otherIsFirst(context);
  putRelease(unpacked, release);
  assert.deepEqual(await verifyRelease(release), []);
});

test('what a build keeps until the release is written is no part of it', async () => {
  const dir = varDir();
  const temporary = makeTemporary(dir);
  mkdirSync(scratchDir(temporary));
  writeFileSync(join(scratchDir(temporary), 'run'), 'rows');
  const name = await writeRelease(dir, tinyContent(50), quiet, temporary);
  assert.deepEqual(readdirSync(releasesDir(dir)), [name]);
  assert.equal(existsSync(scratchDir(join(releasesDir(dir), name))), false);
  const broken = { ...tinyContent(51), streets: [...tinyContent(51).streets].reverse() };
  await assert.rejects(writeRelease(dir, broken, quiet), /the key a does not come after b/);
  assert.deepEqual(readdirSync(releasesDir(dir)), [name]);
});

test('a sound release verifies; a changed byte or manifest does not', async () => {
  const dir = varDir();
  const release = join(releasesDir(dir), await writeRelease(dir, tinyContent(50), quiet));
  assert.deepEqual(await verifyRelease(release), []);

  const manifestFile = join(release, 'manifest.json');
  const manifest = readFileSync(manifestFile, 'utf8');
  writeFileSync(manifestFile, manifest.replace('"nobody"', '"somebody"'));
  assert.match((await verifyRelease(release)).join(), /manifest is not the one/);
  writeFileSync(manifestFile, manifest);

  const data = readFileSync(join(release, 'data.mdb'));
  const at = data.indexOf('Aldermark');
  assert.ok(at > 0);
  data[at] = data[at]! ^ 1;
  writeFileSync(join(release, 'data.mdb'), data);
  assert.match((await verifyRelease(release)).join(), /data differ/);
});

test('a rate out of bounds and a missing component are found', async () => {
  const dir = varDir();
  const content = tinyContent(600);
  const broken = { ...content, areas: [{ ...content.areas[0]!, components: [0, 9] }] };
  const release = join(releasesDir(dir), await writeRelease(dir, broken, quiet));
  const problems = (await verifyRelease(release)).join('\n');
  assert.match(problems, /out of bounds/);
  assert.match(problems, /no component 9/);
});

test('activation names the current and the previous release, rollback swaps them', async () => {
  const dir = varDir();
  const one = await writeRelease(dir, tinyContent(50), quiet);
  const other = await writeRelease(dir, tinyContent(60), quiet);
  assert.equal(currentRelease(dir), null);
  activateRelease(dir, one);
  activateRelease(dir, other);
  assert.equal(currentRelease(dir), other);
  assert.equal(previousRelease(dir), one);
  assert.equal(earlierRelease(dir), one);
  activateRelease(dir, earlierRelease(dir));
  assert.equal(currentRelease(dir), one);
  assert.deepEqual([...listReleases(dir)].sort(), [one, other].sort());
  assert.equal(findRelease(dir, one.slice(11)), one);
  assert.throws(() => findRelease(dir, 'zzz'), /no dataset matches/);
});

test('a release of another format is refused with the way out', async () => {
  const dir = varDir();
  const release = join(releasesDir(dir), await writeRelease(dir, tinyContent(50), quiet));
  const file = join(release, 'manifest.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"format": \d+/, '"format": 99'));
  assert.throws(() => readManifest(release), /has format 99.*build it again/);
  assert.ok(existsSync(release));
});
