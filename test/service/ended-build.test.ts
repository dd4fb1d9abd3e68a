/** A build that the system ends, or whose disk is full, says so. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withRoom } from '../../src/ingest/release-writer.js';
import { newVarDir } from '../support/http-var-dir.js';
import { CLI } from '../support/program.js';

/** Ends the process that builds, and not the one that watches it. */
const ENDS = (signal: string): string =>
  'data:text/javascript,' +
  encodeURIComponent(
    `if (process.argv.includes('--in-this-process')) process.kill(process.pid, '${signal}');`,
  );

test('a build that the system ends is told in a sentence, and leaves nothing', (context) => {
  const varDir = newVarDir(context);
  const told = { SIGKILL: 'SIGKILL, as systems do where memory runs out', SIGBUS: 'SIGBUS' };
  for (const [signal, words] of Object.entries(told)) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', ENDS(signal), CLI, 'dataset', 'build', '--recipe', 'fixture', '--quiet'],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], SITUS_VAR: varDir } },
    );
    assert.deepEqual(
      [status, stdout, stderr],
      [1, '', `situs: the build was ended by ${words}\n`],
      signal,
    );
  }
  assert.deepEqual(readdirSync(join(varDir, 'datasets')), []);
});

test('a fault of a build tells what its disk has left where that is little', (context) => {
  const temporary = mkdtempSync(join(tmpdir(), 'situs-room-'));
  context.after(() => rmSync(temporary, { recursive: true, force: true }));
  const fault = new Error('Input/output error');
  assert.equal(withRoom(fault, temporary, 0), fault);
  const told = withRoom(fault, temporary, Infinity);
  assert.ok(told instanceof Error && told.cause === fault);
  assert.match(told.message, /^Input\/output error; the disk of .* has \d+ MiB left$/);
  rmSync(temporary, { recursive: true });
  assert.equal(withRoom(fault, temporary, Infinity), fault);
});
