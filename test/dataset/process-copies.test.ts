/** Processes that answer beside a server from the same folder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { keepings } from '../../src/dataset/keeping.js';
import { openLive } from '../../src/dataset/open-live.js';
import { openProcessCopies } from '../../src/dataset/process-copies.js';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { SILENT } from '../../src/log.js';
import { tinyContent } from '../support/tiny-release.js';

test('none takes the copies of another, and none leaves its own', async (context) => {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-beside-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  const old = await writeRelease(varDir, tinyContent(50), () => undefined);
  const active = await writeRelease(varDir, tinyContent(60), () => undefined);
  activateRelease(varDir, active);
  const server = await openLive(varDir, SILENT, []);
  context.after(() => server.close());
  const asked = await server.ask(old);
  assert.ok(asked !== null && existsSync(asked.dir));
  const beside = await openLive(varDir, SILENT, [], { beside: true });
  const borrowed = await beside.borrow(old);
  assert.ok(borrowed !== null && borrowed.dir !== asked.dir);
  assert.ok(existsSync(asked.dir), 'a worker of the server may open it at any time');
  server.unpin(asked);
  assert.deepEqual(
    keepings(varDir, { days: 0, count: 0 }, new Set(), Date.now()).map(({ reason }) => reason),
    [
      ['a server has it open', 'active'],
      ['active', 'a server has it open'],
    ][old < active ? 0 : 1],
  );
  beside.close();
  assert.ok(server.release !== null && existsSync(server.release.dir));
  assert.deepEqual(readdirSync(join(varDir, 'open-beside')), []);
  assert.equal(readdirSync(releasesDir(varDir)).length, 3);
});

test('a second server of a folder leaves the first one its copies', async (context) => {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-servers-'));
  const old = await writeRelease(varDir, tinyContent(50), () => undefined);
  activateRelease(varDir, await writeRelease(varDir, tinyContent(60), () => undefined));
  const start = (): Promise<App> =>
    App.start({
      config: loadConfig({ HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir }),
      log: SILENT,
    });
  const first = await start();
  context.after(async () => {
    await first.stop();
    rmSync(varDir, { recursive: true, force: true });
  });
  const asked = await first.live.ask(old);
  assert.ok(asked !== null && first.live.release !== null);
  const second = await start();
  const copies = [asked.dir, first.live.release.dir];
  assert.ok(
    copies.every((dir) => existsSync(dir)),
    'its workers may open them at any time',
  );
  assert.ok(second.live.release !== null && !copies.includes(second.live.release.dir));
  await second.stop();
  assert.ok(copies.every((dir) => existsSync(dir)));
  first.live.unpin(asked);
});

test('what killed processes have left goes, and nothing of one that may live', (context) => {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-left-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  const { pid: gone } = spawnSync(process.execPath, ['-e', '0']);
  const [ours, theirs] = [`${hostname()}-${process.pid}-aa`, `${hostname()}-${process.ppid}-aa`];
  const names = [`${hostname()}-${gone}-aa`, ours, theirs, 'away-1-aa', 'elsewhere-2-aa'];
  for (const name of names)
    mkdirSync(join(varDir, 'open-beside', name, 'copy-1'), { recursive: true });
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(join(varDir, 'open-beside', 'away-1-aa'), longAgo, longAgo);
  const copies = [openProcessCopies(varDir), openProcessCopies(varDir)];
  assert.deepEqual(
    readdirSync(join(varDir, 'open-beside')).sort(),
    ['elsewhere-2-aa', theirs, ...copies.map(({ folder }) => basename(folder))].sort(),
  );
  for (const each of copies) each.close();
  assert.deepEqual(
    readdirSync(join(varDir, 'open-beside')).sort(),
    ['elsewhere-2-aa', theirs].sort(),
  );
});
