/** Processes that answer beside a server from the same folder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepings } from '../../src/dataset/keeping.js';
import { openLive } from '../../src/dataset/live.js';
import { openProcessCopies } from '../../src/dataset/process-copies.js';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { writeRelease } from '../../src/ingest/writer.js';
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
  const copies = openProcessCopies(varDir);
  const beside = await openLive(varDir, SILENT, [], { copies: copies.folder });
  const borrowed = await beside.borrow(old);
  assert.ok(borrowed !== null && borrowed.dir !== asked.dir);
  assert.ok(existsSync(asked.dir), 'a worker of the server may open it at any time');
  server.unpin(asked);
  assert.deepEqual(keepings(varDir, { days: 0, count: 0 }, new Set(), Date.now())
    .map(({ reason }) => reason), [['a server has it open', 'active'],
    ['active', 'a server has it open']][old < active ? 0 : 1]);
  beside.close();
  copies.close();
  assert.ok(server.release !== null && existsSync(server.release.dir));
  assert.deepEqual(readdirSync(join(varDir, 'open-streams')), []);
  assert.equal(readdirSync(releasesDir(varDir)).length, 3);
});

test('what killed processes have left goes, and nothing of one that may live', (context) => {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-left-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  const { pid: gone } = spawnSync(process.execPath, ['-e', '0']);
  const names = [`${hostname()}-${gone}`, `${hostname()}-${process.ppid}`, 'away-1', 'elsewhere-2'];
  for (const name of names) mkdirSync(join(varDir, 'open-streams', name, 'copy-1'), { recursive: true });
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(join(varDir, 'open-streams', 'away-1'), longAgo, longAgo);
  const copies = openProcessCopies(varDir);
  context.after(() => copies.close());
  assert.deepEqual(readdirSync(join(varDir, 'open-streams')).sort(), [
    'elsewhere-2', `${hostname()}-${process.pid}`, `${hostname()}-${process.ppid}`,
  ].sort());
});
