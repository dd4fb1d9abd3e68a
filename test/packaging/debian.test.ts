/** The Debian package: made, installed below a folder, started from there, replaced and removed. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import { skipForWantOf } from '../support/wanting.js';

const MAKER = fileURLToPath(new URL('../../scripts/debian.js', import.meta.url));
const KEY = 'a-key-for-the-debian-test';
const BYTES_MAX = 40_000_000;
/** Scripts of the package run outside of the folder, and are told of it. */
const DPKG = ['--force-depends', '--force-script-chrootless', '--force-confold', '--no-triggers'];

const missing = ['dpkg-deb', 'systemd-sysusers'].filter((name) =>
  spawnSync(name, ['--version']).error !== undefined);
const isRoot = process.getuid?.() === 0;
const able = isRoot && missing.length === 0;

let dir: string;
let root: string;
let deb: string;

before(() => {
  dir = mkdtempSync(join(tmpdir(), 'situs-deb-'));
  if (!able) return;
  deb = execFileSync(process.execPath, [MAKER, dir], { stdio: ['ignore', 'pipe', 'pipe'] })
    .toString('utf8').trim();
  root = join(dir, 'root');
  mkdirSync(join(root, 'var/lib/dpkg/info'), { recursive: true });
  mkdirSync(join(root, 'var/lib/dpkg/updates'));
  writeFileSync(join(root, 'var/lib/dpkg/status'), '');
  dpkg('--install', deb);
});

after(() => rmSync(dir, { recursive: true, force: true }));

function skip(context: TestContext): void {
  if (!isRoot) return context.skip('only root installs packages');
  skipForWantOf(context, `there is no ${missing.join(' and no ')}`);
}

function dpkg(...args: readonly string[]): string {
  return execFileSync('dpkg', [`--root=${root}`, ...DPKG, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString('utf8');
}

test('the package names what it needs, and its settings as kept by hand', (context) => {
  if (!able) return skip(context);
  const field = (name: string): string =>
    execFileSync('dpkg-deb', ['--field', deb, name]).toString('utf8').trim();
  const { version, engines } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as
    { readonly version: string; readonly engines: { readonly node: string } };
  assert.equal(field('Version'), version);
  const node = engines.node.replace(/^>=/, '');
  assert.ok(field('Depends').startsWith(`nodejs (>= ${node})`));
  assert.match(field('Installed-Size'), /^\d+$/);
  const { size } = statSync(deb);
  context.diagnostic(`${size} bytes, ${field('Installed-Size')} KiB installed`);
  assert.ok(size <= BYTES_MAX, `${size} bytes`);
  assert.match(execFileSync('dpkg-deb', ['--info', deb, 'conffiles']).toString(), /^\/etc\/default\/situs$/m);
});

test('installed it has its user, its unit and settings that only root reads', (context) => {
  if (!able) return skip(context);
  assert.match(dpkg('--status', 'situs'), /^Status: install ok installed$/m);
  assert.match(
    readFileSync(join(root, 'etc/passwd'), 'utf8'), /^situs:[^:]*:\d+:\d+:Situs:\/var\/lib\/situs:.*nologin$/m,
  );
  assert.equal(statSync(join(root, 'etc/default/situs')).mode & 0o777, 0o600);
  const unit = readFileSync(join(root, 'usr/lib/systemd/system/situs.service'), 'utf8');
  const [, program] = /^ExecStart=.* (\/usr\/\S+)$/m.exec(unit) ?? [];
  assert.ok(existsSync(join(root, program!)), program);
  assert.ok(!existsSync(join(root, 'usr/lib/situs/node_modules/typescript')));
});

test('what it installed answers, and its command works on the same folder', async (context) => {
  if (!able) return skip(context);
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const env = {
    PATH: process.env['PATH'], SITUS_VAR: built.varDir, PORT: '0', SITUS_BOOTSTRAP_KEY: KEY,
    NODE_ENV: 'production',
  };
  const server = spawn(process.execPath, [join(root, 'usr/lib/situs/dist/src/main.js')], {
    cwd: built.varDir, env, stdio: ['ignore', 'pipe', 'ignore'],
  });
  context.after(() => server.kill('SIGKILL'));
  let url: string | undefined;
  for await (const line of createInterface({ input: server.stdout })) {
    url = /^Situs answers on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  const response = await fetch(`${url}/request/v60?postalcode=91010`, { headers: { 'X-API-KEY': KEY } });
  assert.equal((await response.json() as { rCode: number }).rCode, 100);
  const listed = execFileSync(join(root, 'usr/bin/situs'), ['key', 'list', '--json'], { env });
  assert.match(listed.toString('utf8'), /"account":"default"/);
  server.kill('SIGTERM');
  const [code] = server.exitCode === null ? await once(server, 'exit') as [number] : [server.exitCode];
  assert.equal(code, 0);
});

test('an upgrade keeps the settings, a removal too, and a purge takes them', (context) => {
  if (!able) return skip(context);
  const settings = join(root, 'etc/default/situs');
  appendFileSync(settings, 'PORT=3100\n');
  dpkg('--install', deb);
  assert.match(readFileSync(settings, 'utf8'), /^PORT=3100$/m);
  dpkg('--remove', 'situs');
  assert.ok(existsSync(settings));
  assert.ok(!existsSync(join(root, 'usr/lib/situs')));
  dpkg('--purge', 'situs');
  assert.ok(!existsSync(settings));
});
