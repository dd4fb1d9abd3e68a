/** The Debian package: made, installed below a folder, started from there, replaced and removed. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import { debianPackage, lighter, scratchIn } from '../support/debian-package.js';
import { eventually } from '../support/http-eventually.js';
import { InstalledService, KEY } from '../support/installed-service.js';
import { skipForWantOf } from '../support/wanting.js';

const BYTES_MAX = 40_000_000;
/** Scripts of the package run outside of the folder, and are told of it; no machine that fails is tested. */
const DPKG =
  '--force-depends --force-script-chrootless --force-confold --force-unsafe-io --no-triggers';

const missing = ['dpkg-deb', 'systemd-sysusers'].filter(
  (name) => spawnSync(name, ['--version']).error !== undefined,
);
const isRoot = process.getuid?.() === 0;
const able = isRoot && missing.length === 0;

let dir: string;
let root: string;
let deb: string;
/** The package that is installed over another: see `lighter`. */
let next: string;

before(() => {
  dir = mkdtempSync(join(scratchIn(), 'situs-deb-'));
  if (!able) return;
  deb = debianPackage(dir);
  root = join(dir, 'root');
  mkdirSync(join(root, 'var/lib/dpkg/info'), { recursive: true });
  mkdirSync(join(root, 'var/lib/dpkg/updates'));
  writeFileSync(join(root, 'var/lib/dpkg/status'), '');
  dpkg('--install', deb);
  next = lighter(deb, root, dir);
});

after(async () => {
  await (await booted)?.machine.end();
  rmSync(dir, { recursive: true, force: true });
});

function skip(context: TestContext): void {
  if (!isRoot) return context.skip('only root installs packages');
  skipForWantOf(context, `there is no ${missing.join(' and no ')}`);
}

function dpkg(...args: readonly string[]): string {
  return execFileSync('dpkg', [`--root=${root}`, ...DPKG.split(' '), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString('utf8');
}

test('the package names what it needs, and its settings as kept by hand', (context) => {
  if (!able) return skip(context);
  const field = (name: string): string =>
    execFileSync('dpkg-deb', ['--field', deb, name]).toString('utf8').trim();
  const { version, engines } = JSON.parse(
    readFileSync(join(packageRoot(), 'package.json'), 'utf8'),
  ) as { readonly version: string; readonly engines: { readonly node: string } };
  assert.equal(field('Version'), version);
  const node = engines.node.replace(/^>=/, '');
  assert.ok(field('Depends').startsWith(`nodejs (>= ${node})`));
  assert.match(field('Installed-Size'), /^\d+$/);
  const { size } = statSync(deb);
  context.diagnostic(`${size} bytes, ${field('Installed-Size')} KiB installed`);
  assert.ok(size <= BYTES_MAX, `${size} bytes`);
  const conffiles = execFileSync('dpkg-deb', ['--info', deb, 'conffiles']).toString();
  assert.match(conffiles, /^\/etc\/default\/situs$/m);
});

test('installed it has its user, its unit and settings that only root reads', (context) => {
  if (!able) return skip(context);
  assert.match(dpkg('--status', 'situs'), /^Status: install ok installed$/m);
  assert.match(
    readFileSync(join(root, 'etc/passwd'), 'utf8'),
    /^situs:[^:]*:\d+:\d+:Situs:\/var\/lib\/situs:.*nologin$/m,
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
    PATH: process.env['PATH'],
    SITUS_VAR: built.varDir,
    PORT: '0',
    SITUS_BOOTSTRAP_KEY: KEY,
    NODE_ENV: 'production',
  };
  const server = spawn(process.execPath, [join(root, 'usr/lib/situs/dist/src/main.js')], {
    cwd: built.varDir,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  context.after(() => server.kill('SIGKILL'));
  let url: string | undefined;
  for await (const line of createInterface({ input: server.stdout })) {
    url = /^Situs answers on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  const response = await fetch(`${url}/request/v60?postalcode=91010`, {
    headers: { 'X-API-KEY': KEY },
  });
  assert.equal(((await response.json()) as { rCode: number }).rCode, 100);
  const listed = execFileSync(join(root, 'usr/bin/situs'), ['key', 'list', '--json'], { env });
  assert.match(listed.toString('utf8'), /"account":"default"/);
  server.kill('SIGTERM');
  const [code] =
    server.exitCode === null ? ((await once(server, 'exit')) as [number]) : [server.exitCode];
  assert.equal(code, 0);
});

test('an upgrade keeps the settings, a removal too, and a purge takes them', (context) => {
  if (!able) return skip(context);
  const settings = join(root, 'etc/default/situs');
  appendFileSync(settings, 'PORT=3100\n');
  dpkg('--install', next);
  assert.match(readFileSync(settings, 'utf8'), /^PORT=3100$/m);
  dpkg('--remove', 'situs');
  assert.ok(existsSync(settings));
  assert.ok(!existsSync(join(root, 'usr/lib/situs')));
  dpkg('--purge', 'situs');
  assert.ok(!existsSync(settings));
});

let booted: Promise<InstalledService | null> | undefined;

/** The machine of all tests: to boot, to install and to start take longest. */
async function serviceOf(context: TestContext): Promise<InstalledService | null> {
  booted ??= InstalledService.boot(next);
  const service = await booted;
  if (service === null) skipForWantOf(context, 'systemd cannot be started in namespaces');
  return service;
}

test('under systemd an upgrade replaces the server that runs without a failed request', async (context) => {
  if (!able) return skip(context);
  const service = await serviceOf(context);
  if (service === null) return;
  const { machine } = service;
  assert.equal(service.told('UnitFileState'), 'enabled');
  const state = service.told('ActiveState');
  assert.equal(state, 'inactive', 'the first start is left to who installed it');
  await service.start();
  const [main, before] = [service.told('MainPID'), service.listeners()];
  assert.equal(before.length, 1);
  let [over, answered] = [false, 0];
  const failures: unknown[] = [];
  const asking = (async () => {
    while (!over) {
      const status = await service.status().catch((error: unknown) => String(error));
      if (status === 200) answered += 1;
      else failures.push(status);
    }
  })();
  service.install();
  await eventually(() => {
    const now = service.listeners(main);
    return now.length === 1 && now[0] !== before[0];
  });
  over = true;
  await asking;
  assert.deepEqual([failures, service.told('MainPID')], [[], main]);
  assert.ok(answered > 0);

  // One that is stopping is neither reloaded nor started again.
  machine.run('systemctl', 'stop', '--no-block', 'situs');
  assert.equal(service.told('ActiveState'), 'deactivating');
  service.install();
  await eventually(() => service.told('ActiveState') === 'inactive');

  // Without a supervisor there is nothing to reload.
  appendFileSync(machine.file('/etc/default/situs'), 'SITUS_SUPERVISED=0\n');
  await service.start();
  const alone = service.told('MainPID');
  service.install();
  assert.notEqual(service.told('MainPID'), alone);
  await eventually(async () => (await service.status().catch(() => 0)) === 200);
});

/** Lines that a shell would take otherwise than systemd does, or refuse. */
const SETTINGS = [
  '# TRIED_A=1',
  '; TRIED_B=2',
  'TRIED_STORE=postgres://situs:pa$$word@db/situs',
  'TRIED_URL=https://x/y?a=1&b=(2);c',
  'TRIED_FROM=Situs <a@b.c>',
  'TRIED_IN="https://x/`id`"',
  String.raw`TRIED_DOUBLE="smtp://u:a\"b\\c\$d\e@h"`,
  String.raw`TRIED_SINGLE='a"$b\c'`,
  '  TRIED_BLANKS=  a  b  ',
  'TRIED_ALL=*',
  String.raw`TRIED_ESCAPED=a\ b\\c`,
  'TRIED_EMPTY=',
  'not a setting=1',
].join('\n');

test('the command reads the settings as systemd does', async (context) => {
  if (!able) return skip(context);
  const service = await serviceOf(context);
  if (service === null) return;
  const { machine } = service;
  const settings = machine.file('/etc/default/situs');
  const before = readFileSync(settings);
  appendFileSync(settings, SETTINGS);
  const tried = (out: string): readonly string[] =>
    out.split('\n').filter((line) => line.startsWith('TRIED_'));
  const unit = `[Service]
Type=oneshot
EnvironmentFile=/etc/default/situs
ExecStart=/bin/sh -c 'env > /root/held'
`;
  writeFileSync(machine.file('/etc/systemd/system/tried.service'), unit);
  const started = machine.run('systemctl', 'start', 'tried');
  assert.equal(started.code, 0, started.out);
  const held = tried(readFileSync(machine.file('/root/held'), 'utf8'));
  assert.equal(held.length, 10, held.join('\n'));
  mkdirSync(machine.file('/root/bin'));
  writeFileSync(machine.file('/root/bin/node'), '#!/bin/sh\nenv\n', { mode: 0o755 });
  const path = 'PATH=/root/bin:/usr/bin:/bin';
  const { out } = machine.run('env', '-i', path, 'SITUS_VAR=/root', '/usr/bin/situs');
  assert.deepEqual(tried(out).toSorted(), held.toSorted());
  writeFileSync(settings, before);
});

test('whether the service is enabled outlives its removal, and ends with its purge', async (context) => {
  if (!able) return skip(context);
  const service = await serviceOf(context);
  if (service === null) return;
  const { machine } = service;
  await service.start();
  const dpkgs = (action: string): void => {
    const { code, out } = machine.run('dpkg', action, 'situs');
    assert.equal(code, 0, out);
  };
  dpkgs('--remove');
  assert.equal(service.told('ActiveState'), 'inactive');
  service.install();
  assert.equal(service.told('UnitFileState'), 'enabled');
  machine.run('systemctl', 'disable', 'situs');
  dpkgs('--remove');
  service.install();
  assert.equal(service.told('UnitFileState'), 'disabled', 'as the operator left it');
  machine.run('systemctl', 'enable', 'situs');
  dpkgs('--purge');
  const link = '/etc/systemd/system/multi-user.target.wants/situs.service';
  assert.ok(lstatSync(machine.file(link), { throwIfNoEntry: false }) === undefined);
  assert.ok(existsSync(machine.file('/var/lib/situs/kek')), 'secrets are nowhere else');
});
