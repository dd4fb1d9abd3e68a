/** `situs dataset update` from publishers that a server on the loopback plays. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readManifest, type Manifest } from '../../src/dataset/manifest.js';
import { currentFile, releasesDir } from '../../src/dataset/release.js';
import { partsDir } from '../../src/ingest/part-cache.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { BY_HAND, LISTING, MORE_DOORS, rateFile, UpdateWorld } from '../support/update-world.js';

const world = new UpdateWorld();
const { publishers, varDir, sources } = world;

before(() => world.start());
after(() => world.stop());

function manifestOf(name: string | null): Manifest {
  return readManifest(join(releasesDir(varDir), name ?? ''));
}

/** What builds leave that did not end. */
function leftovers(): readonly string[] {
  return readdirSync(releasesDir(varDir)).filter((name) => name.startsWith('.build'));
}

/** Parts of sources as they were read. */
function partsRead(): readonly string[] {
  return readdirSync(partsDir(varDir))
    .filter((name) => name.startsWith('source-'))
    .sort();
}

/** The last line that names a release. */
function named(out: string): string {
  return /\d{4}-\d\d-\d\d-[0-9a-f]{12}(?= answers| is built)/.exec(out)?.[0] ?? '';
}

test('the first update does all of it; what no program gets is told', async () => {
  const { code, out, err } = await world.run(world.words('--yes'));
  assert.equal(code, 0, err);
  for (const line of [
    'fetched   sst-rates/MNR2026Q4AUG18.zip',
    'fetched   tx-rates/taxrates.txt',
    'fetched   il-rates/ordmache-current.txt',
  ])
    assert.ok(out.includes(`${line}\n`), out);
  assert.match(out, /^by hand {3}openaddresses: .* and put it into .*sources\/openaddresses$/m);
  assert.equal(world.active, named(out));
  const { files, sources: origins, asOf, coverage } = manifestOf(world.active);
  assert.deepEqual(
    files.filter(({ path }) => !/^(?:facts|datasets)\//.test(path)).map(({ path }) => path),
    ['il-rates/ordmache-current.txt', 'sst-rates/MNR2026Q4AUG18.zip', 'tx-rates/taxrates.txt'],
  );
  assert.equal(asOf, '2026-08-18');
  assert.equal(origins.find(({ name }) => name === 'sst-rates/MN')?.asOf, 20260818);
  const county = coverage
    .find(({ state }) => state === 'QA')
    ?.levels.find(({ level }) => level === 'county');
  assert.deepEqual(
    [county?.source, county?.asOf, county?.until],
    ['sst-rates/MN', '2026-08-18', '2026-12-31'],
  );
  assert.deepEqual(leftovers(), []);
});

test('without a change nothing is done, also where a file has a new name', async () => {
  publishers.asked = [];
  const answering = world.active;
  publishers.list(LISTING, 'MNR2026Q4SEP02.zip');
  publishers.put(`${LISTING}MNR2026Q4SEP02.zip`, rateFile('0.02', '0.0125'));
  const { code, out, err } = await world.run(world.words('--yes'));
  assert.deepEqual([code, /nothing has changed: (\S+)/.exec(out)?.[1]], [0, answering], err);
  assert.match(out, /^same {6}sst-rates\/MNR2026Q4AUG18\.zip \(.* MNR2026Q4SEP02\.zip now\)$/m);
  assert.ok(!err.includes('overlay'), 'nothing is built');
  assert.ok(publishers.asked.includes('/moved/doors.txt conditional'));
});

test('what was built before a kill is activated, and not built again', async () => {
  const answering = world.active;
  rmSync(currentFile(varDir));
  const { code, out, err } = await world.run(world.words('--yes'));
  assert.equal(code, 0, err);
  assert.ok(!err.includes('overlay') && out.endsWith(`${answering} answers\n`), out);
});

test('what changed alone is read again; it waits for a word, and is not built twice', async () => {
  const [answering, parts] = [world.active, partsRead()];
  world.putDoors(3);
  publishers.put(`${LISTING}MNR2026Q4SEP02.zip`, rateFile('0.03', '0.0125'));
  const waits = await world.run(world.words());
  assert.equal(waits.code, 4, waits.err);
  assert.equal(world.active, answering);
  const built = named(waits.out);
  assert.ok(waits.out.includes(`npx situs dataset activate ${built}`), waits.out);
  assert.ok(waits.out.includes(`${answering} -> ${built}`));
  assert.match(waits.out, /files that differ: 3\n {2}gone sst-rates\/MNR2026Q4AUG18\.zip\n/);
  assert.match(waits.out, /QA county ASH \(001\): 0\.02 -> 0\.03/);
  assert.match(waits.out, /QA doors: \d+ -> \d+/);
  const now = partsRead();
  assert.deepEqual(
    parts.filter((name) => !now.includes(name)),
    [],
    'both releases are there',
  );
  assert.equal(now.length, parts.length + 1);
  const yes = await world.run(world.words('--yes'));
  assert.equal(yes.code, 0, yes.err);
  assert.ok(!yes.err.includes('overlay'), 'it was built already');
  assert.equal(world.active, built);
  // Nothing kept and one thread: the same files give the same bytes.
  const alone = join(world.dir, 'alone');
  mkdirSync(alone);
  const plain = await world.run(
    [
      'dataset',
      'build',
      '--recipe',
      world.recipe,
      '--sources',
      sources,
      '--workers',
      '1',
      '--quiet',
    ],
    alone,
  );
  assert.equal(plain.out.trim(), built, plain.err);
  const bytes = (of: string): Buffer => readFileSync(join(releasesDir(of), built, 'data.mdb'));
  assert.ok(bytes(alone).equals(bytes(varDir)));
});

test('refusals and torn archives are told, and the rest goes on with what is held', async () => {
  const answering = world.active;
  publishers.files.set(MORE_DOORS, 403);
  publishers.list(LISTING, 'MNR2027Q1NOV19.zip');
  publishers.put(`${LISTING}MNR2027Q1NOV19.zip`, rateFile('0.04', '0.01').subarray(0, 90));
  mkdirSync(join(sources, BY_HAND), { recursive: true });
  writeFileSync(
    join(sources, BY_HAND, 'qa.csv'),
    'LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE\n' +
      '-29.25,10.1998,9,NEW ST,,BIRCHWOOD,,QA,91020\n',
  );
  const { code, out, err } = await world.run(world.words('--yes', '--quiet'));
  assert.equal(code, 3, err);
  assert.match(err, /il-rates: .*: the publisher answers 403; visit https:/);
  assert.match(err, /sst-rates\/MN: .*: its archive is torn/);
  assert.match(out, /^held {6}openaddresses$/m);
  assert.notEqual(world.active, answering);
  const paths = manifestOf(world.active).files.map(({ path }) => path);
  for (const path of [
    'openaddresses/qa.csv',
    'il-rates/ordmache-current.txt',
    'sst-rates/MNR2026Q4SEP02.zip',
  ])
    assert.ok(paths.includes(path), path);
  assert.ok(!existsSync(join(sources, 'sst-rates/MNR2027Q1NOV19.zip')));
});

test('a file that is broken inside ends the update, and the release before goes on', async () => {
  const answering = world.active;
  publishers.put('/moved/doors.txt', 'LON,LAT\n1,2\n');
  const { code, err } = await world.run(world.words('--yes', '--quiet'));
  assert.equal(code, 1);
  assert.match(err, /tx-rates\/taxrates\.txt has no column/);
  assert.equal(world.active, answering);
  assert.deepEqual(leftovers(), []);
});

test('a file that lost most of its rows is built, and answers only when a person says so', async () => {
  // A release with a layer that the next one lacks: the one before it can be compared with.
  const [plain, layer] = [world.active, join(sources, 'mild.csv')];
  const row = 'QA,city,Elmton,,1.5,2020-01-01,invented,2026-01-01';
  writeFileSync(layer, `state,level,name,county,rate,from,source,as_of\n${row}\n`);
  world.putDoors(3);
  const layered = await world.run(world.words('--yes', '--quiet', '--layer', layer));
  rmSync(layer);
  const answering = world.active;
  assert.notEqual(answering, plain, layered.err);
  const few = readFileSync(join(sources, BY_HAND, 'qa.csv'), 'utf8');
  publishers.put('/moved/doors.txt', few);
  publishers.put(MORE_DOORS, few);
  const { code, out, err } = await world.run(world.words('--yes', '--quiet'));
  assert.equal(code, 4, err);
  assert.match(err, /^error list-shrunk: QA doors: \d+ where there were \d+/m);
  assert.match(err, /what it says cannot be right/);
  assert.equal(world.active, answering);
  assert.ok(out.includes(`npx situs dataset activate ${named(out)}`), out);
  // Nothing is built again: what was found is found again.
  const again = await world.run(world.words('--yes', '--quiet'));
  assert.deepEqual([again.code, world.active], [4, answering], again.err);
});

test('what a release says that cannot be right is told once', async () => {
  const layer = join(sources, 'steep.csv');
  writeFileSync(
    layer,
    'state,level,name,county,rate,from,source,as_of\n' +
      'QA,city,Elmton,,22,2020-01-01,invented,2026-01-01\n',
  );
  const { code, err } = await world.run(world.words('--yes', '--quiet', '--layer', layer));
  rmSync(layer);
  assert.equal(code, 4, err);
  assert.match(err, /^error total-out-of-bounds/m);
  assert.equal(err.match(/ errors, \d+ warnings/g)?.length, 1, err);
});

test('what can be compared with neither release before waits, and is told why', async () => {
  const layer = join(sources, 'mild.csv');
  const row = 'QA,city,Elmton,,1.5,2020-01-01,invented,2026-01-01';
  writeFileSync(layer, `state,level,name,county,rate,from,source,as_of\n${row}\n`);
  // All doors again, and more than the active release has; the archive of before stays torn (3).
  publishers.put(MORE_DOORS, readFileSync(join(datasetsDir(), 'fixture', 'points.csv'), 'utf8'));
  world.putDoors(4);
  const before = world.active;
  const layered = await world.run(world.words('--yes', '--quiet', '--layer', layer));
  rmSync(layer);
  const answering = world.active;
  assert.equal(layered.code, 3, layered.out + layered.err);
  assert.notEqual(answering, before, 'with the layer, as the release before');
  const { code, out, err } = await world.run(world.words('--yes', '--quiet'));
  assert.equal(code, 4, out + err);
  assert.match(err, new RegExp(`cannot be told: ${answering} and the release before it have`));
  assert.equal(world.active, answering);
});

test("a folder of files is one command's at a time, until that is gone", async () => {
  const hold = join(sources, '.getting');
  writeFileSync(hold, `${hostname()} ${process.pid}\n`);
  const answering = world.active;
  const { code, err } = await world.run(world.words('--yes', '--quiet'));
  assert.equal(code, 1, err);
  assert.match(err, new RegExp(`process ${process.pid} on .* gets files into ${sources}`));
  assert.equal(world.active, answering);
  const { pid: gone } = spawnSync(process.execPath, ['-e', '0']);
  writeFileSync(hold, `${hostname()} ${gone}\n`);
  assert.equal((await world.run(world.words('--yes', '--quiet'))).code, 4);
  assert.ok(!existsSync(hold));
});

test('misuse is told', async () => {
  const told = async (...more: readonly string[]): Promise<string> =>
    (await world.run(['dataset', 'update', ...more])).err;
  assert.match(await told('xx', '--recipe', 'default'), /no source of "XX"/);
  assert.match(await told(), /by the recipe "update-test", .* --recipe PATH\.json/);
  const { code, err } = await world.run(['dataset', 'update', '--recipe', 'nation']);
  assert.equal(code, 2);
  assert.match(err, /no recipe "nation"/);
});
