/** Damaged releases: neither activated, nor served, nor the end of a server. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { currentRelease, previousRelease, releasesDir } from '../../src/dataset/release.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import type { Ran } from '../support/run-command.js';
import { startServer } from '../support/server-process.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { tinyContent } from '../support/tiny-release.js';
import { cut, flip, health, KEY, LOOKUP, served, start } from './torn-release.js';

const commands = new CommandProcess();
let built: Built;
let other: string;

before(async () => {
  built = buildRecipe('fixture');
  other = await writeRelease(built.varDir, tinyContent(50), () => undefined);
});

after(() => commands.end());
after(() => built.remove());

interface Place {
  readonly varDir: string;
  file(name: string, release?: string): string;
}

/** A copy of both releases with the first one active. */
function place(context: TestContext): Place {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-torn-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  cpSync(releasesDir(built.varDir), releasesDir(varDir), { recursive: true });
  return {
    varDir,
    file: (name, release = other) => join(releasesDir(varDir), release, name),
  };
}

/** Runs `situs WORDS`. */
const command = (varDir: string, ...words: readonly string[]): Promise<Ran> =>
  commands.run(words, { SITUS_VAR: varDir });

const DAMAGES: readonly (readonly [what: string, damage: (at: Place) => void, told: RegExp])[] = [
  ['cut', ({ file }) => cut(file('data.mdb')), /not sound: the data file was cut/],
  ['empty', ({ file }) => truncateSync(file('data.mdb')), /no readable beginning/],
  [
    'with a flipped bit',
    ({ file }) => {
      flip(file('data.mdb'), statSync(file('data.mdb')).size - 500);
    },
    /data differ/,
  ],
  ['without its data', ({ file }) => rmSync(file('data.mdb')), /has no data\.mdb/],
  [
    'with another release’s data',
    ({ file }) => {
      for (const name of ['data.mdb', 'data.sha256']) cpSync(file(name, built.name), file(name));
    },
    /data differ/,
  ],
  [
    'with another manifest',
    ({ file }) => {
      cpSync(file('manifest.json', built.name), file('manifest.json'));
    },
    /does not bear its name/,
  ],
];

for (const [what, damage, told] of DAMAGES) {
  test(`a release ${what} is not activated`, async (context) => {
    const here = place(context);
    damage(here);
    const { code, err } = await command(here.varDir, 'dataset', 'activate', other);
    assert.equal(code, 1);
    assert.match(err, told);
    assert.equal(currentRelease(here.varDir), built.name);
  });
}

test('a sound release is activated, stamped and protected; rollback checks too', async (context) => {
  const { varDir, file } = place(context);
  assert.equal((await command(varDir, 'dataset', 'activate', other)).code, 0);
  assert.ok(existsSync(file('verified.json')));
  assert.equal(statSync(file('data.mdb')).mode & 0o777, 0o444);
  flip(file('data.mdb', built.name), 20_000);
  const back = await command(varDir, 'dataset', 'rollback');
  assert.equal(back.code, 1);
  assert.match(back.err, /data differ/);
  assert.deepEqual([currentRelease(varDir), previousRelease(varDir)], [other, built.name]);
});

test('a release that was stamped and changed since is read anew', async (context) => {
  const { varDir, file } = place(context);
  const data = file('data.mdb', built.name);
  const { mtime } = statSync(data);
  flip(data, 20_000);
  // As a copy does that keeps times: neither size nor time tells.
  spawnSync('touch', ['-m', '-d', mtime.toISOString(), data]);
  const { code, err } = await command(varDir, 'dataset', 'activate', built.name);
  assert.equal(code, 1);
  assert.match(err, /data differ/);
});

test('a server on a cut release ends with a sentence and a damaged stamp is none', (context) => {
  const { varDir, file } = place(context);
  writeFileSync(file('verified.json', built.name), 'nonsense');
  cut(file('data.mdb', built.name));
  const { status, signal, stderr } = served(varDir);
  assert.deepEqual([status, signal], [1, null]);
  assert.match(stderr, /situs: dataset \S+ is not sound: the data file was cut/);
});

test('a server without a stamp checks by itself and leaves one', async (context) => {
  const { varDir, file } = place(context);
  rmSync(file('verified.json', built.name));
  const { port } = await start(context, varDir);
  assert.equal((await ask(port, LOOKUP, { 'X-API-KEY': KEY })).status, 200);
  assert.ok(existsSync(file('verified.json', built.name)));
});

test('a named release that is damaged is refused, told, and answers once repaired', async (context) => {
  const { varDir, file } = place(context);
  const { app, port, lines } = await start(context, varDir);
  const sound = readFileSync(file('data.mdb'));
  cut(file('data.mdb'));
  writeFileSync(join(releasesDir(varDir), 'CURRENT'), `${other}\n`);
  await eventually(() => app.live.refusal !== null);
  const told = await health(port);
  assert.equal(told['status'], 'ok');
  assert.equal(told['dataset'], built.name);
  assert.deepEqual(told['refused'], {
    dataset: other,
    reason: 'the dataset is not sound; the log says why',
  });
  assert.ok(lines.some((line) => line.includes('dataset refused') && line.includes('was cut')));
  const answer = await ask(port, LOOKUP, { 'X-API-KEY': KEY });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers.get('x-situs-dataset')), new RegExp(built.name));

  writeFileSync(file('data.mdb'), sound);
  assert.equal((await command(varDir, 'dataset', 'activate', other)).code, 0);
  await eventually(() => app.live.release?.id === other);
  assert.equal(app.live.release?.id, other);
  assert.equal((await health(port))['refused'], undefined);
});

test('files that are cut, changed or removed under a server change no answer', async (context) => {
  const { varDir, file } = place(context);
  const { base, process: child } = await startServer(context, varDir, {
    SITUS_BOOTSTRAP_KEY: KEY,
    SITUS_ANSWER_CACHE_MIB: '0',
  });
  const port = Number(new URL(base).port);
  const first = await ask(port, LOOKUP, { 'X-API-KEY': KEY });
  cut(file('data.mdb', built.name));
  truncateSync(file('data.mdb', built.name));
  rmSync(file('manifest.json', built.name));
  for (let zip = 91_001; zip < 91_100; zip += 1) {
    const { status } = await ask(port, `/request/v60?postalcode=${zip}`, { 'X-API-KEY': KEY });
    assert.equal(status < 500, true);
  }
  const again = await ask(port, LOOKUP, { 'X-API-KEY': KEY });
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  assert.equal(child.exitCode, null);
  assert.equal(child.signalCode, null);
});

test('a worker that cannot open a release fails its lookups and nothing else', async (context) => {
  const { varDir } = place(context);
  const { port, lines } = await start(context, varDir);
  rmSync(join(varDir, 'open'), { recursive: true });
  for (let round = 0; round < 3; round += 1) {
    assert.equal((await ask(port, LOOKUP, { 'X-API-KEY': KEY })).status, 500);
  }
  assert.equal((await ask(port, '/system/health')).status, 200);
  assert.deepEqual(
    lines.filter((line) => line.includes('worker ended')),
    [],
  );
});

/** The copy that servers of a folder open, once it is written down that it may be kept. */
async function keptCopy(varDir: string): Promise<{ dir: string; data: string; facts: string }> {
  const folder = join(varDir, 'open');
  let dir = '';
  await eventually(() =>
    readdirSync(folder).some((name) => {
      dir = join(folder, name);
      return existsSync(join(dir, 'kept.json'));
    }),
  );
  const data = join(dir, built.name, 'data.mdb');
  const { ino, ctimeMs, size } = statSync(data);
  return { dir, data, facts: `${ino} ${ctimeMs} ${size}` };
}

async function startAndStop(context: TestContext, varDir: string): Promise<string> {
  const { app, port } = await start(context, varDir);
  const { body } = await ask(port, LOOKUP, { 'X-API-KEY': KEY });
  await keptCopy(varDir);
  await app.stop();
  return body;
}

test('a second start copies nothing; whatever changed is copied and checked anew', async (context) => {
  const { varDir, file } = place(context);
  const answer = await startAndStop(context, varDir);
  const first = await keptCopy(varDir);
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await startAndStop(context, varDir), answer);
    assert.deepEqual(await keptCopy(varDir), first, 'the very same file');
  }
  // The time that people see is put back, as a copy does that keeps times.
  const flipUnseen = (data: string): void => {
    const { mtime } = statSync(data);
    flip(data, 20_000);
    utimesSync(data, mtime, mtime);
  };
  flipUnseen(first.data);
  assert.equal(await startAndStop(context, varDir), answer);
  const second = await keptCopy(varDir);
  assert.notEqual(second.dir, first.dir, 'a copy that changed is none');
  rmSync(file('verified.json', built.name));
  assert.equal(await startAndStop(context, varDir), answer);
  assert.notEqual((await keptCopy(varDir)).dir, second.dir, 'nor is one without a stamp');
  flipUnseen(file('data.mdb', built.name));
  await assert.rejects(start(context, varDir), /not sound: the data differ/);
});

for (const [what, text] of [
  ['missing', null],
  ['empty', ''],
  ['garbage', 'ÿþ\0\n'],
] as const) {
  test(`a CURRENT that is ${what} beside releases is an error that names the command`, async (context) => {
    const { varDir } = place(context);
    const current = join(releasesDir(varDir), 'CURRENT');
    if (text === null) rmSync(current);
    else writeFileSync(current, text);
    const { status, stderr } = served(varDir);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /CURRENT (is missing|names no dataset), beside 2 datasets; .*npx situs dataset activate/,
    );
    assert.doesNotMatch(stderr, /building the default/);
    if (text === null)
      assert.match((await command(varDir, 'lookup', '91010')).err, /dataset activate/);
    assert.equal((await command(varDir, 'dataset', 'activate', built.name)).code, 0);
    assert.equal(currentRelease(varDir), built.name);
  });
}

test('a command that reads a cut release says so; building again repairs it', async (context) => {
  const { varDir, file } = place(context);
  cut(file('data.mdb', built.name));
  const looked = await command(varDir, 'lookup', '91010');
  assert.equal(looked.code, 1);
  assert.match(looked.err, /was cut/);
  const again = await command(
    varDir,
    'dataset',
    'build',
    '--recipe',
    'fixture',
    '--quiet',
    '--activate',
  );
  assert.equal(again.code, 0, again.err);
  assert.equal((await command(varDir, 'dataset', 'verify')).code, 0);
});
