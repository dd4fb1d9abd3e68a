/** Which releases are kept, and that no other is removed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { keepings, removeLeft, removeRelease } from '../../src/dataset/keeping.js';
import {
  activateRelease,
  ANSWERED_FILE,
  listReleases,
  releasesDir,
} from '../../src/dataset/release.js';
import { storeJob, type JobRecord } from '../../src/store/jobs.js';
import { Store } from '../../src/store/store.js';
import { doctor } from '../service/diagnosis.js';
import { buildRecipe, situs } from '../support/built-dataset.js';
import { newVarDir, releaseNumber, writeRelease } from '../support/http-var-dir.js';

const DAY_MS = 86_400_000;
const RULE = { days: 100, count: 2 };

/** Releases one to `count`, made so many days ago, none of them active. */
function releases(context: TestContext, count: number, daysAgo: number): string {
  const varDir = newVarDir(context);
  for (let number = 1; number <= count; number += 1) {
    writeRelease(varDir, releaseNumber(number));
    made(varDir, number, daysAgo);
  }
  return varDir;
}

function made(varDir: string, number: number, daysAgo: number, file = 'manifest.json'): void {
  const time = new Date(Date.now() - daysAgo * DAY_MS);
  utimesSync(join(releasesDir(varDir), releaseNumber(number), file), time, time);
}

function reasons(
  varDir: string,
  rule = RULE,
  jobs: readonly string[] = [],
): readonly (string | null)[] {
  return keepings(varDir, rule, new Set(jobs), Date.now()).map(({ reason }) => reason);
}

test('the active one, the one before, young ones and the last ones are kept', (context) => {
  const varDir = releases(context, 6, 200);
  activateRelease(varDir, releaseNumber(1));
  activateRelease(varDir, releaseNumber(2));
  activateRelease(varDir, releaseNumber(3));
  made(varDir, 1, 50, ANSWERED_FILE);
  made(varDir, 4, 99);
  const until = new Date(Date.now() + 50 * DAY_MS).toISOString().slice(0, 10);
  const found = reasons(varDir);
  assert.deepEqual(found.slice(0, 3), [`kept until ${until}`, 'previous', 'active']);
  assert.match(found[3] ?? '', /^kept until /, 'made, and never answered');
  assert.deepEqual(found.slice(4), [null, null]);
  made(varDir, 5, 150);
  // The newest are the active one, the one before it, and then by age.
  assert.equal(reasons(varDir, { days: 0, count: 3 })[0], 'one of the last 3');
  assert.equal(reasons(varDir, { days: 0, count: 5 })[4], 'one of the last 5');
});

test('days count from the last answer, not from when a release was made', (context) => {
  const varDir = releases(context, 4, 900);
  for (const number of [1, 2, 3, 4]) activateRelease(varDir, releaseNumber(number));
  assert.match(reasons(varDir, { days: 10, count: 1 })[0] ?? '', /^kept until /);
  made(varDir, 1, 11, ANSWERED_FILE);
  assert.equal(reasons(varDir, { days: 10, count: 1 })[0], null);
});

test('what a server has open or a job works on is kept', (context) => {
  const varDir = releases(context, 4, 900);
  const rule = { days: 0, count: 1 };
  assert.equal(reasons(varDir, rule).filter((reason) => reason === null).length, 3);
  mkdirSync(join(varDir, 'open', 'copy-1', releaseNumber(1)), { recursive: true });
  assert.equal(reasons(varDir, rule)[0], 'a server has it open');
  assert.equal(reasons(varDir, rule, [releaseNumber(2)])[1], 'a job works on it');
});

test('a removal that was interrupted is finished by the next one', (context) => {
  const varDir = releases(context, 2, 900);
  removeRelease(varDir, releaseNumber(1));
  assert.deepEqual(listReleases(varDir), [releaseNumber(2)]);
  mkdirSync(join(releasesDir(varDir), `.removed-${releaseNumber(1)}`, 'rest'), { recursive: true });
  removeLeft(varDir);
  assert.deepEqual(readdirSync(releasesDir(varDir)), [releaseNumber(2)]);
});

test('what builds and pushes that were killed have left goes, and is named until then; what is under way stays', async (context) => {
  const varDir = releases(context, 1, 900);
  const make = (name: string): void => {
    mkdirSync(join(releasesDir(varDir), name, 'rest'), { recursive: true });
  };
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = [`.build-${pid}.tmp`, `.build-${pid}.tmp.damaged`, `.push-${pid}`];
  gone.forEach(make);
  make(`.build-${process.pid}.tmp`);
  const told = `note disk what was killed has left ${gone.join(', ')}; run: situs dataset prune`;
  assert.ok((await doctor(varDir)).lines.includes(told));
  const kept = [`.build-${process.pid}.tmp`, releaseNumber(1)];
  situs(varDir, ['dataset', 'prune']);
  assert.deepEqual(readdirSync(releasesDir(varDir)).sort(), kept);
});

test('the commands list why each is kept, and prune removes no other', async (context) => {
  const varDir = releases(context, 5, 900);
  activateRelease(varDir, releaseNumber(5));
  const store = await Store.open(varDir);
  const job: JobRecord = {
    v: 1,
    id: 'j',
    account: 'a',
    keyId: 'k',
    state: 'queued',
    request: '{}',
    file: null,
    inputBytes: 0,
    inputModifiedMs: 0,
    dataset: releaseNumber(2),
    createdAt: 0,
    startedAt: null,
    endedAt: null,
    checkpoint: null,
    reason: null,
    stopped: null,
    result: null,
  };
  await storeJob(store, job);
  await storeJob(store, { ...job, id: 'ended', dataset: releaseNumber(3), endedAt: 1 });
  await store.close();
  const env = { SITUS_KEEP_DAYS: '30', SITUS_KEEP_DATASETS: '1' };
  const run = (...args: string[]): string => situs(varDir, ['dataset', ...args], env);
  assert.deepEqual(
    run('list')
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/).at(-1)),
    [
      'goes with the next prune',
      'a job works on it',
      'goes with the next prune',
      'goes with the next prune',
      'active',
    ],
  );
  const gone = [1, 3, 4].map((number) => `${releaseNumber(number)}\n`).join('');
  assert.equal(run('prune', '--list'), gone);
  assert.equal(listReleases(varDir).length, 5, 'none went');
  assert.equal(run('prune'), gone);
  assert.deepEqual(listReleases(varDir), [2, 5].map(releaseNumber));
  assert.equal(run('prune'), '');
});

test('a release that cannot be read keeps no command from the others', (context) => {
  const { varDir, name, remove } = buildRecipe('fixture');
  context.after(remove);
  const [other, torn] = [releaseNumber(1), releaseNumber(2)];
  writeRelease(varDir, other);
  writeRelease(varDir, torn);
  const manifest = (of: string): string => join(releasesDir(varDir), of, 'manifest.json');
  writeFileSync(
    manifest(other),
    readFileSync(manifest(other), 'utf8').replace(/"format":\d+/, '"format":1'),
  );
  activateRelease(varDir, torn);
  activateRelease(varDir, name);
  writeFileSync(manifest(torn), '');
  const lines = situs(varDir, ['dataset', 'list']).trim().split('\n');
  const [first, second, third] = [other, torn, name].map((of) =>
    lines.find((line) => line.startsWith(of)),
  );
  assert.match(first ?? '', / has format 1, this version reads .* kept until /);
  assert.match(second ?? '', / no readable dataset in .* previous$/);
  assert.match(third ?? '', / fixture .* active$/);
  const told = JSON.parse(situs(varDir, ['dataset', 'list', '--json'])) as { unread?: string }[];
  assert.deepEqual(told.map(({ unread }) => unread === undefined).sort(), [false, false, true]);
  assert.match(situs(varDir, ['dataset', 'verify']), /: sound$/m);
});
