/** What `situs doctor` makes of figures that it is given. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { App } from '../../src/app.js';
import { diskFinding, nodeFinding, settings } from '../../src/cli/doctor-checks.js';
import { listenerFindings, unreadyFindings } from '../../src/cli/doctor-services.js';
import { type Environment, loadConfig } from '../../src/config.js';
import { SILENT } from '../../src/log.js';
import { newVarDir } from '../support/http-var-dir.js';

test('why a server is not ready is told in words', () => {
  assert.deepEqual(unreadyFindings('it', { reasons: ['draining', 'dataset', 'new'] }), [
    { level: 'note', text: 'it is not ready: the service is being stopped' },
    { level: 'fault', text: 'it is not ready: no dataset is loaded' },
    { level: 'fault', text: 'it is not ready: new' },
  ]);
});

test('what the start refuses is told, each setting by its name, and nothing is made', async (context) => {
  const varDir = newVarDir(context);
  const log = join(varDir, 'requests.log');
  const told = (environment: Environment): readonly string[] =>
    settings({ config: loadConfig(environment) }).map(({ level, text }) => `${level} ${text}`);
  const sound = ['ok every setting can be read'];
  const used = {
    SITUS_METRICS: '127.0.0.1:9464',
    SITUS_PROXIES: '10.0.0.0/8',
    SITUS_CORS_ORIGINS: 'https://shop.example',
    SITUS_REQUEST_LOG: log,
  };
  assert.deepEqual(told(used), sound);
  assert.deepEqual(readdirSync(varDir), ['datasets']);
  writeFileSync(log, 'a line\n');
  for (const path of [log, '-', '']) assert.deepEqual(told({ SITUS_REQUEST_LOG: path }), sound);
  assert.equal(readFileSync(log, 'utf8'), 'a line\n');
  const refused: Environment = {
    SITUS_METRICS: 'foo:bar',
    SITUS_CORS_ORIGINS: 'shop.example',
    SITUS_PROXIES: 'abc',
    SITUS_REQUIRE_SIGNATURE: '/nonexistent/key.pem',
    SITUS_REQUEST_LOG: '/nonexistent/x',
  };
  const faults = Object.entries(refused).map(([name, value]) => {
    const [fault = ''] = told({ [name]: value });
    assert.ok(fault.startsWith('fault ') && fault.includes(name), fault);
    return fault;
  });
  assert.deepEqual(told(refused), faults, 'all at once');
  for (const fault of faults) {
    const [name = ''] = /SITUS_\w+/.exec(fault) ?? [];
    const config = loadConfig({ PORT: '0', SITUS_VAR: varDir, ...used, [name]: refused[name] });
    await assert.rejects(App.start({ config, log: SILENT }), { message: fault.slice(6) });
  }
  assert.match(told({ SITUS_REQUEST_LOG: varDir }).join(), /^fault SITUS_REQUEST_LOG .*EISDIR/);
});

test('versions of Node.js and free space are judged', () => {
  assert.deepEqual(
    ['18.20.0', '20.10.9', '20.11.0', '22.0.0'].map((version) => nodeFinding(version)[0]!.level),
    ['fault', 'fault', 'ok', 'ok'],
  );
  const mib = 1024 ** 2;
  assert.deepEqual(
    [0, 63 * mib, 64 * mib, 1_023 * mib, 1_024 * mib].map((free) => diskFinding(free)[0]!.level),
    ['fault', 'fault', 'warning', 'warning', 'ok'],
  );
});

test('listeners are told of, and what a replacement of them needs of the kernel', (context) => {
  const path = join(newVarDir(context), 'tcp_migrate_req');
  assert.deepEqual(listenerFindings({ listeners: 1, supervised: false }, path), [
    { level: 'ok', text: 'one server, without a supervisor' },
  ]);
  const told = (): string =>
    listenerFindings({ listeners: 2, supervised: true }, path)
      .map(({ level, text }) => `${level} ${text}`)
      .join();
  assert.match(told(), /^note 2 listeners .* net\.ipv4\.tcp_migrate_req is 1/);
  writeFileSync(path, '1\n');
  assert.equal(told(), 'ok 2 listeners with a supervisor');
});
