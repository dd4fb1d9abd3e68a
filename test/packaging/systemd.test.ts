/** The unit of systemd: sound, closed against what the service does not need, open for what it does. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { skipForWantOf } from '../support/wanting.js';

const UNIT = readFileSync(join(packageRoot(), 'packaging', 'situs.service'), 'utf8');
/** In tenths, of 100: that of a service without any of it is 96. */
const EXPOSURE_MAX = 15;
/** What `App.stop` gives requests that are under way. */
const FINISH_SECONDS = 4;

function settings(): ReadonlyMap<string, string> {
  return new Map([...UNIT.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

/** A copy with the node that runs this, which is not everywhere /usr/bin/node. */
function copyHere(context: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'situs-unit-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'situs.service');
  writeFileSync(path, UNIT.replace('ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `));
  return path;
}

function analyze(
  args: readonly string[],
): { readonly status: number; readonly told: string } | null {
  const { error, status, stdout, stderr } = spawnSync('systemd-analyze', args, {
    encoding: 'utf8',
  });
  if (error !== undefined) return null;
  return { status: status ?? -1, told: stdout + stderr };
}

test('systemd finds nothing wrong with the unit', (context) => {
  const result = analyze(['verify', '--man=no', copyHere(context)]);
  if (result === null) return skipForWantOf(context, 'there is no systemd-analyze');
  assert.equal(
    result.told
      .split('\n')
      .filter((line) => line.includes('situs.service'))
      .join('\n'),
    '',
  );
  assert.equal(result.status, 0, result.told);
});

test(`the exposure that systemd reckons is ${EXPOSURE_MAX / 10} at most`, (context) => {
  const result = analyze([
    'security',
    '--no-pager',
    '--offline=true',
    `--threshold=${EXPOSURE_MAX}`,
    copyHere(context),
  ]);
  if (result === null) return skipForWantOf(context, 'there is no systemd-analyze');
  context.diagnostic(/Overall exposure level.*: [\d.]+/.exec(result.told)?.[0] ?? result.told);
  assert.equal(result.status, 0, result.told);
});

test('the unit gives the service what it needs, and time to finish', () => {
  const unit = settings();
  assert.equal(unit.get('MemoryDenyWriteExecute'), 'no', 'node compiles as it runs');
  assert.equal(unit.get('LimitCORE'), '0');
  assert.equal(unit.get('NoNewPrivileges'), 'yes');
  assert.equal(unit.get('ProtectSystem'), 'strict');
  assert.equal(unit.get('StateDirectory'), 'situs');
  assert.equal(unit.get('Restart'), 'on-failure');
  assert.notEqual(unit.get('User'), 'root');
  assert.match(unit.get('Environment') ?? '', /\bSITUS_VAR=\/var\/lib\/situs\b/);
  const drain = Number(/SITUS_DRAIN_SECONDS=(\d+)/.exec(unit.get('Environment') ?? '')?.[1]);
  assert.ok(Number(unit.get('TimeoutStopSec')) >= drain + FINISH_SECONDS + 5);
  const [, path] =
    /^\S+ (?:--\S+ )*\/usr\/lib\/situs\/(\S+)$/.exec(unit.get('ExecStart') ?? '') ?? [];
  assert.equal(path, 'dist/src/main.js');
});
